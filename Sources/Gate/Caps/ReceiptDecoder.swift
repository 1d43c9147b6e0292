/// A provider's answer, or that a user saw a notification. Borrowed: its ids are the record's bytes, or
/// the decoder's where an escape had to be read.
struct Receipt {
  var notificationID: Bytes
  var deviceID: Bytes
  var userID: Bytes
  /// Nil where it is no provider's answer.
  var isAccepted: Bool?
}

/// Reads receipts; total: whatever the bytes are, the answer is a receipt or none. What the contract asks
/// for is asked for, `at` and `provider` too, though no count depends on them: the preference service
/// reads the same record, and what one of the two takes for a receipt the other must.
struct ReceiptDecoder: ~Copyable {
  static let recordBytesMax = 65_536

  private let indexer = JSONIndexer(capacity: ReceiptDecoder.recordBytesMax)
  private let names: MemberNames
  private let scratch: UnsafeMutablePointer<UInt8> = .allocate(
    capacity: ReceiptDecoder.recordBytesMax)

  private struct Members {
    var notificationID: Bytes?
    var deviceID: Bytes?
    var userID: Bytes?
    var status: Bytes?
    var event: Bytes?
    var provider: Bytes?
    var atMs: Int64?
  }

  init(seed: UInt64) { names = MemberNames(seed: seed) }

  deinit { scratch.deallocate() }

  /// Nil where it is no receipt. What it returns lives until the next call.
  func decode(_ value: Bytes?) -> Receipt? {
    guard let value, value.count <= Self.recordBytesMax else { return nil }
    var members = Members()
    do throws(JSONFault) {
      var reader = JSONReader(
        value, positions: try indexer.index(value), scratch: scratch, names: names)
      guard reader.peek == UInt8(ascii: "{") else { return nil }
      try reader.readObject { (reader, name) throws(JSONFault) in
        switch name.count {
        case 15 where name.equals("notification_id"):
          members.notificationID = try reader.readString()
        case 9 where name.equals("device_id"): members.deviceID = try reader.readString()
        case 7 where name.equals("user_id"): members.userID = try reader.readString()
        case 6 where name.equals("status"):
          if try !reader.readNull() { members.status = try reader.readString() }
        case 5 where name.equals("event"):
          // Who writes all members writes this one as null.
          if try !reader.readNull() { members.event = try reader.readString() }
        case 8 where name.equals("provider"):
          if try !reader.readNull() { members.provider = try reader.readString() }
        case 2 where name.equals("at"): members.atMs = try Self.instant(&reader)
        default: try reader.skip()
        }
      }
      try reader.finish()
    } catch {
      return nil
    }
    guard let notification = members.notificationID, CandidateDecoder.isID(notification),
      let device = members.deviceID, CandidateDecoder.isID(device),
      let user = members.userID, CandidateDecoder.isID(user), members.atMs != nil
    else { return nil }
    var receipt = Receipt(notificationID: notification, deviceID: device, userID: user)
    if let status = members.status {
      // Either the provider's answer or the app's: of both, nothing can be said.
      guard members.event == nil, let provider = members.provider,
        provider.equals("apns") || provider.equals("fcm")
      else { return nil }
      if status.equals("accepted") {
        receipt.isAccepted = true
      } else if status.equals("rejected") {
        receipt.isAccepted = false
      } else {
        return nil
      }
    } else if members.event == nil || members.provider != nil {
      return nil
    }
    return receipt
  }

  private static func instant(_ reader: inout JSONReader) throws(JSONFault) -> Int64? {
    if reader.peek == UInt8(ascii: "\"") { return Instant.parse(try reader.readString()) }
    return JSONText.integer(try reader.readNumber())
      .flatMap { Instant.readable.contains($0) ? $0 : nil }
  }
}
