/// A stored hold, read back: the candidate as it came, and what the first decision said. Borrowed:
/// its bytes are the record's, or a decoder's where an escape had to be read.
struct HeldRecord {
  var candidate: Candidate
  var deviceID: Bytes
  /// The candidate's own bytes, for the next record.
  var notification: Bytes
  /// Of the first decision, also where the hold has been held on since.
  var firstDecidedAtMs: Int64
  var firstDeliverAfterMs: Int64
  /// Until when it is held now.
  var deliverAfterMs: Int64
  /// Of the document it was last decided by, on the preference topic: what an erasure there is older
  /// or newer than. A record that does not say is older than any.
  var preferenceOffset: Int64
}

/// Reads what the gate wrote to `notifications.deferred`. Whoever else may have written there, the
/// answer is a hold or none.
struct HeldRecordDecoder: ~Copyable {
  /// What stands around a candidate of the largest size, ids with all their escapes included.
  static let recordBytesMax = CandidateDecoder.recordBytesMax + 16_384

  private let indexer = JSONIndexer(capacity: HeldRecordDecoder.recordBytesMax)
  private let names: MemberNames
  /// What the reader unescapes; each text's is overwritten by the next one's.
  private let scratch: UnsafeMutablePointer<UInt8>
  /// The device ids of a batch, out of the next text's way.
  private let ids: UnsafeMutablePointer<UInt8>
  private let idCapacity: Int
  private var idsUsed = 0
  private var candidates: CandidateDecoder

  /// The members read of the record around the candidate.
  private struct Head {
    var deviceID: Bytes?
    var notification: Bytes?
    var decidedAtMs: Int64?
    var deliverAfterMs: Int64?
    var heldDecidedAtMs: Int64?
    var heldDeliverAfterMs: Int64?
    var preferenceOffset: Int64?
    var isHeld = false
  }

  init(batchRecordsMax: Int, seed: UInt64) {
    names = MemberNames(seed: seed)
    scratch = .allocate(capacity: Self.recordBytesMax)
    idCapacity = batchRecordsMax * CandidateDecoder.idBytesMax
    ids = .allocate(capacity: idCapacity)
    candidates = CandidateDecoder(batchRecordsMax: batchRecordsMax, seed: seed)
  }

  deinit {
    scratch.deallocate()
    ids.deallocate()
  }

  /// What was decoded before must no longer be used.
  mutating func startBatch() {
    candidates.startBatch()
    idsUsed = 0
  }

  /// Nil where it is no hold. A candidate is read by the limits of the contract, not by the policy's
  /// `record_bytes_max`: it was let in once, and the first row is asked at the door only.
  mutating func decode(_ value: Bytes?) -> HeldRecord? {
    guard let value, value.count <= Self.recordBytesMax else { return nil }
    var head = Head()
    do throws(JSONFault) {
      // One level more: a candidate as deep as it may be stands inside the record.
      var reader = JSONReader(
        value, positions: try indexer.index(value), scratch: scratch, names: names,
        depthMax: JSONReader.depthMax + 1)
      try reader.readObject { (reader, name) throws(JSONFault) in
        try Self.readMember(name, value, &reader, &head)
      }
      try reader.finish()
    } catch {
      return nil
    }
    guard let notification = head.notification, let device = head.deviceID,
      CandidateDecoder.isID(device), let decidedAtMs = head.decidedAtMs,
      let deliverAfterMs = head.deliverAfterMs
    else { return nil }
    let deviceID = keep(device)
    let candidate = candidates.decode(notification, bytesMax: CandidateDecoder.recordBytesMax)
    guard candidate.invalid == nil, candidate.category != nil else { return nil }
    if head.isHeld, head.heldDecidedAtMs == nil || head.heldDeliverAfterMs == nil { return nil }
    return HeldRecord(
      candidate: candidate, deviceID: deviceID, notification: notification,
      firstDecidedAtMs: head.heldDecidedAtMs ?? decidedAtMs,
      firstDeliverAfterMs: head.heldDeliverAfterMs ?? deliverAfterMs,
      deliverAfterMs: deliverAfterMs, preferenceOffset: head.preferenceOffset ?? -1)
  }

  private mutating func keep(_ id: Bytes) -> Bytes {
    precondition(idsUsed + id.count <= idCapacity, "startBatch was not called")
    let copy = UnsafeMutableRawBufferPointer(start: ids + idsUsed, count: id.count)
    copy.copyMemory(from: id)
    idsUsed += id.count
    return Bytes(copy)
  }

  private static func readMember(
    _ name: Bytes, _ value: Bytes, _ reader: inout JSONReader, _ head: inout Head
  ) throws(JSONFault) {
    switch name.count {
    case 9 where name.equals("device_id"): head.deviceID = try reader.readString()
    case 10 where name.equals("decided_at"): head.decidedAtMs = try readInstant(&reader)
    case 13 where name.equals("deliver_after"): head.deliverAfterMs = try readInstant(&reader)
    case 17 where name.equals("preference_offset") && 0x30...0x39 ~= reader.peek:
      head.preferenceOffset = JSONText.integer(try reader.readNumber())
    case 12 where name.equals("notification"):
      let start = reader.offset
      guard reader.peek == UInt8(ascii: "{") else { throw .wrongType }
      try reader.skipOpaque()
      head.notification = Bytes(rebasing: value[start..<reader.offsetBehindLast])
    case 4 where name.equals("held"):
      head.isHeld = true
      try reader.readObject { (reader, name) throws(JSONFault) in
        if name.equals("decided_at") {
          head.heldDecidedAtMs = try readInstant(&reader)
        } else if name.equals("deliver_after") {
          head.heldDeliverAfterMs = try readInstant(&reader)
        } else {
          try reader.skip()
        }
      }
    // Evidence and the like: carried unread.
    default: try reader.skipOpaque()
    }
  }

  private static func readInstant(_ reader: inout JSONReader) throws(JSONFault) -> Int64? {
    Instant.parse(try reader.readString())
  }
}
