/// A seen id on the state topic. Key: `user_id`, `d`, `notification_id`, `device_id`, joined by NUL
/// bytes, which no id contains. Value: when it was first let through, how, and a digest of what it said.
enum SeenRecord {
  static let keyBytesMax = 3 * (CandidateDecoder.idBytesMax + 1) + 2
  static let valueBytesMax = 96

  struct Value: Equatable {
    var atMs: Int64
    var isDeferred: Bool
    var content = ContentDigest.unknown
  }

  /// Takes up to `keyBytesMax`.
  @inline(__always)
  static func writeKey(
    user: Bytes, notification: Bytes, device: Bytes, to out: inout JSONWriter
  ) {
    out.raw(user)
    out.byte(0)
    out.byte(UInt8(ascii: "d"))
    out.byte(0)
    out.raw(notification)
    out.byte(0)
    out.raw(device)
  }

  /// Takes up to `valueBytesMax`.
  @inline(__always)
  static func writeValue(
    _ outcome: Outcome, atMs: Int64, content: UInt16, to out: inout JSONWriter
  ) {
    out.raw("{\"at\":")
    out.instant(atMs)
    out.raw(",\"outcome\":")
    out.string(outcome.name)
    out.raw(",\"content\":")
    out.integer(Int64(content))
    out.byte(UInt8(ascii: "}"))
  }

  /// Whether a key of the state topic is that of a seen id: `d` is what follows the user.
  static func isKey(_ key: Bytes) -> Bool {
    guard let end = key.firstIndex(of: 0) else { return false }
    return end > 0 && key.count > end + 3 && key[end + 1] == UInt8(ascii: "d") && key[end + 2] == 0
  }

  /// Nil where it cannot be read. Members that are not known are passed over.
  static func value(_ text: Bytes) -> Value? { plainValue(text) ?? anyValue(text) }

  /// As this version writes it: a restore reads millions. Nil of all other texts.
  static func plainValue(_ text: Bytes) -> Value? {
    // {"at":"2026-03-09T22:30:00.000Z","outcome":"approved","content":51966}
    guard text.count >= 66, slice(text, 0, 7).equals("{\"at\":\""),
      slice(text, 31, 44).equals("\",\"outcome\":\""),
      slice(text, 52, 64).equals("\",\"content\":"), text[text.count - 1] == UInt8(ascii: "}"),
      let atMs = Instant.parse(slice(text, 7, 31)),
      let content = number(slice(text, 64, text.count - 1))
    else { return nil }
    let outcome = slice(text, 44, 52)
    let isDeferred = outcome.equals("deferred")
    guard isDeferred || outcome.equals("approved") else { return nil }
    return Value(atMs: atMs, isDeferred: isDeferred, content: content)
  }

  /// Up to five digits.
  private static func number(_ text: Bytes) -> UInt16? {
    guard 1...5 ~= text.count else { return nil }
    var sum: UInt32 = 0
    for byte in text {
      guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
      sum = sum * 10 + UInt32(byte - UInt8(ascii: "0"))
    }
    return UInt16(exactly: sum)
  }

  private static func slice(_ text: Bytes, _ from: Int, _ to: Int) -> Bytes {
    Bytes(rebasing: text[from..<to])
  }

  private static func anyValue(_ text: Bytes) -> Value? {
    guard let tree = try? JSONValue(text), case .object(let members) = tree else { return nil }
    func member(_ name: String) -> JSONValue? { members.first { $0.name == name }?.value }
    guard case .string(let outcome)? = member("outcome") else { return nil }
    let atMs: Int64? =
      switch member("at") {
      case .string(let text)?: Instant.parse(text: text)
      case .number(let digits)?: Int64(digits)
      default: nil
      }
    guard let atMs, Instant.readable.contains(atMs), outcome == "approved" || outcome == "deferred"
    else { return nil }
    // Of older records, or another version's: not known.
    var content = ContentDigest.unknown
    if case .number(let digits)? = member("content") { content = UInt16(digits) ?? content }
    return Value(atMs: atMs, isDeferred: outcome == "deferred", content: content)
  }
}
