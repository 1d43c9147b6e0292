import Testing

@testable import Gate

/// Counted notifications on the state topic, as they are written and as others may write them.
@Suite struct CapRecordTests {
  static func value(_ text: String) -> (CapRecord.Value, [CapDevice])? {
    var devices: [CapDevice] = []
    return withBytes(text) { CapRecord.value($0, &devices) }.map { ($0, devices) }
  }

  static let at = #""at":"2026-03-09T22:30:00.000Z""#

  @Test(arguments: [
    (#"{\#(at),"state":"accepted"}"#, CapEntry.State.accepted, [] as [CapDevice]),
    (#"{\#(at),"state":"refunded"}"#, .refunded, []),
    (#"{\#(at),"state":"recounted"}"#, .recounted, []),
    (#"{"state":"recounted","at":1773095400000,"x":[]}"#, .recounted, []),
    (
      #"{\#(at),"state":"open","waiting":["00000000000000ff"],"rejected":[]}"#, .open,
      [CapDevice(hash: 255)]
    ),
    (
      #"{\#(at),"state":"open","waiting":["0123456789abcdef","ffffffffffffffff"],"rejected":["00000000000000ff"]}"#,
      .open,
      [
        CapDevice(hash: 0x0123_4567_89ab_cdef), CapDevice(hash: .max),
        CapDevice(hash: 255, isRejected: true),
      ]
    ),
    (
      #"{ "rejected": ["00000000000000ff"], "waiting": ["0000000000000001"], "state": "open", "at":"2026-03-09T23:30:00+01:00" }"#,
      .open, [CapDevice(hash: 1), CapDevice(hash: 255, isRejected: true)]
    ),
  ]) func isRead(_ text: String, _ state: CapEntry.State, _ devices: [CapDevice]) throws {
    let (value, found) = try #require(Self.value(text))
    #expect(value == CapRecord.Value(atMs: 1_773_095_400_000, state: state))
    #expect(found == devices)
  }

  @Test(arguments: [
    "", "{}", "null", "[]", #"{\#(at)}"#, #"{"state":"accepted"}"#, #"{\#(at),"state":"new"}"#,
    #"{\#(at),"state":"open"}"#, #"{\#(at),"state":"open","waiting":[],"rejected":[]}"#,
    #"{\#(at),"state":"open","waiting":[],"rejected":["00000000000000ff"]}"#,
    #"{\#(at),"state":"open","waiting":["ff"],"rejected":[]}"#,
    #"{\#(at),"state":"open","waiting":["00000000000000FF"],"rejected":[]}"#,
    #"{\#(at),"state":"open","waiting":["00000000000000ff"]}"#,
    #"{\#(at),"state":"open","waiting":["00000000000000ff"],"rejected":[]}}"#,
    #"{"at":5,"state":"accepted"}"#, #"{"at":"2026-13-09T22:30:00.000Z","state":"accepted"}"#,
  ]) func isRefused(_ text: String) { #expect(Self.value(text) == nil, "\(text)") }

  @Test func atMostSixtyFourDevices() {
    for count in [64, 65] {
      let list = (0..<count).map { "\"00000000000000\($0 + 10)\"" }.joined(separator: ",")
      let text = #"{\#(Self.at),"state":"open","waiting":[\#(list)],"rejected":[]}"#
      #expect(Self.value(text)?.1.count == (count == 64 ? 64 : nil))
    }
  }

  @Test(
    arguments: [
      ("u\0c\0social\0n", Category.social), ("u\0c\0marketing\0n", .marketing),
      ("u\0c\0social\0", nil), ("u\0c\0social", nil), ("u\0c\0games\0n", nil),
      ("u\0c\0social\0n\0d", nil), ("\0c\0social\0n", nil), ("u\0d\0n\0p", nil), ("u\0c\0", nil),
      ("u", nil), ("", nil), ("u\0cc\0social\0n", nil),
    ] as [(String, Gate.Category?)]) func keys(_ key: String, _ category: Gate.Category?)
  {
    let found = withBytes(key) { bytes in
      CapRecord.key(bytes).map {
        (
          $0.category, String(decoding: $0.user, as: UTF8.self),
          String(decoding: $0.notification, as: UTF8.self)
        )
      }
    }
    #expect(found?.0 == category, "\(key)")
    if let found { #expect(found.1 == "u" && found.2 == "n") }
  }
}
