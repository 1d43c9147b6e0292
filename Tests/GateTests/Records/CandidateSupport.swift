@testable import Gate

/// What a decoder made of a value, copied out.
struct Decoded: Equatable {
  var notificationID: [UInt8]?
  var userID: [UInt8]?
  var deviceID: [UInt8]?
  var categoryText: [UInt8]?
  var category: Gate.Category?
  var subtype: [UInt8]?
  var event: [UInt8]?
  var collapseKey: [UInt8]?
  var critical: Bool
  var smsFallback: Bool
  var createdAtMs: Int64?
  var expiresAtMs: Int64?
  var payloadBytes: Int
  var invalid: InvalidDetail?
  var member: CandidateMember?

  init(_ candidate: Candidate) {
    notificationID = candidate.notificationID.map { Array($0) }
    userID = candidate.userID.map { Array($0) }
    deviceID = candidate.deviceID.map { Array($0) }
    categoryText = candidate.categoryText.map { Array($0) }
    category = candidate.category
    subtype = candidate.subtype.map { Array($0) }
    event = candidate.event.map { Array($0) }
    collapseKey = candidate.collapseKey.map { Array($0) }
    critical = candidate.critical
    smsFallback = candidate.smsFallback
    createdAtMs = candidate.createdAtMs
    expiresAtMs = candidate.expiresAtMs
    payloadBytes = candidate.payload?.count ?? 0
    invalid = candidate.invalid
    member = candidate.invalidMember
  }
}

/// A decoder for one thread of tests.
final class TestDecoder {
  private var decoder = CandidateDecoder(batchRecordsMax: 1, seed: 9)

  func decode(_ value: [UInt8]?, bytesMax: Int = CandidateDecoder.recordBytesMax) -> Decoded {
    decoder.startBatch()
    guard let value else { return Decoded(decoder.decode(nil, bytesMax: bytesMax)) }
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: value.count, alignment: 1)
    defer { copy.deallocate() }
    copy.copyBytes(from: value)
    return Decoded(decoder.decode(UnsafeRawBufferPointer(copy), bytesMax: bytesMax))
  }

  func decode(_ value: String) -> Decoded { decode(Array(value.utf8)) }
}

/// A candidate of the members given, in order; those that are required are filled in.
func candidateJSON(_ members: KeyValuePairs<String, String>) -> String {
  var all = [
    ("notification_id", #""n-1""#), ("user_id", #""u-1""#), ("category", #""social""#),
  ].filter { required in !members.contains { $0.key == required.0 } }
  all += members.filter { $0.value != "missing" }.map { ($0.key, $0.value) }
  return "{" + all.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
}
