import Gate

/// From a record's bytes to what is searched of it. Total: whatever the bytes are, the record is kept.
/// One thread makes every call.
struct RecordDecoder: ~Copyable {
  private var members = StringMembers(bytesMax: RecordDecoder.recordBytesMax)
  private var packer = RecordPacker()

  /// A longer one is kept and not looked into; the gate writes none.
  static let recordBytesMax = 2 << 20
  /// Of an id that is searched by; a longer one is in the record alone.
  private static let idBytesMax = 128
  private static let hourMs: Int64 = 3_600_000
  static let dayMs: Int64 = 86_400_000
  private static let categories = Set(Category.allCases.map { "\($0.name)" })
  private static let reasons = Set(Reason.allCases.map { "\($0.name)" })

  /// When what is decoded is read: nothing was decided or written more than a day later.
  var nowMs: Int64

  init(nowMs: Int64) { self.nowMs = nowMs }

  /// What the members say that are looked at.
  private struct Facts {
    var outcome: String?
    var reason: String?
    var category: String?
    var userID: String?
    var notificationID: String?
    var deviceID: String?
    /// `decided_at` of a decision, `at` of a receipt.
    var atMs: Int64?
    var deliverAfterMs: Int64?
    var isReceipt = false
  }

  /// A record of an output topic.
  mutating func attempt(
    _ content: EvidenceTopic.Content, source: Int64, offset: Int64, timestampMs: Int64,
    key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?
  ) -> (record: IndexedRecord, facts: AttemptFacts) {
    var facts = read(value)
    let outcome = content == .selfTest ? "approved" : content.rawValue
    // Nobody but a gate writes all of these, and each to the topic of its outcome.
    let isReadable =
      facts.outcome == outcome && facts.reason != nil && facts.atMs != nil
      && (outcome != "deferred" || facts.deliverAfterMs != nil)
    if !isReadable || facts.userID == nil { addIDs(&facts, from: key, content) }
    let record = make(facts, source, offset, timestampMs, value)
    guard isReadable else { return (record, AttemptFacts()) }
    let category = facts.category.flatMap { Self.categories.contains($0) ? $0 : nil } ?? "other"
    let count = CountKey(
      hourMs: record.atMs / Self.hourMs * Self.hourMs, outcome: outcome, category: category,
      // A gate may be of a newer release.
      reason: Self.reasons.contains(facts.reason!) ? facts.reason! : "other")
    return (record, AttemptFacts(count: count, dueMs: facts.deliverAfterMs))
  }

  /// A record of the receipts topic; `isReadable` where it has what a receipt must have.
  mutating func receipt(
    source: Int64, offset: Int64, timestampMs: Int64, key: UnsafeRawBufferPointer?,
    value: UnsafeRawBufferPointer?
  ) -> (record: IndexedRecord, isReadable: Bool) {
    var facts = read(value)
    let isReadable = facts.isReceipt && facts.notificationID != nil && facts.userID != nil
    if facts.userID == nil { facts.userID = key.flatMap(Self.id) }
    return (make(facts, source, offset, timestampMs, value), isReadable)
  }

  /// The parts of a deferred record's key; nil where it is no hold's.
  static func hold(_ key: UnsafeRawBufferPointer?) -> HoldKey? {
    guard let parts = key?.split(separator: 0, omittingEmptySubsequences: false), parts.count == 3,
      let user = id(UnsafeRawBufferPointer(rebasing: parts[0])),
      let notification = id(UnsafeRawBufferPointer(rebasing: parts[1])),
      let device = id(UnsafeRawBufferPointer(rebasing: parts[2]))
    else { return nil }
    return HoldKey(userID: user, notificationID: notification, deviceID: device)
  }

  /// Nil where nothing can be searched by it.
  static func id(_ bytes: UnsafeRawBufferPointer) -> String? {
    guard (1...idBytesMax).contains(bytes.count), !bytes.contains(0) else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  private mutating func read(_ value: UnsafeRawBufferPointer?) -> Facts {
    var facts = Facts()
    guard let value else { return facts }
    let isRead = members.read(value) { name, text in
      switch name.count {
      case 2 where name.elementsEqual("at".utf8): facts.atMs = Instant.parse(text)
      case 5 where name.elementsEqual("event".utf8): facts.isReceipt = true
      case 6 where name.elementsEqual("reason".utf8):
        facts.reason = String(decoding: text, as: UTF8.self)
      case 6 where name.elementsEqual("status".utf8): facts.isReceipt = true
      case 7 where name.elementsEqual("outcome".utf8):
        facts.outcome = String(decoding: text, as: UTF8.self)
      case 7 where name.elementsEqual("user_id".utf8): facts.userID = Self.id(text)
      case 8 where name.elementsEqual("category".utf8):
        facts.category = String(decoding: text, as: UTF8.self)
      case 9 where name.elementsEqual("device_id".utf8): facts.deviceID = Self.id(text)
      case 10 where name.elementsEqual("decided_at".utf8): facts.atMs = Instant.parse(text)
      case 13 where name.elementsEqual("deliver_after".utf8):
        facts.deliverAfterMs = Instant.parse(text)
      case 15 where name.elementsEqual("notification_id".utf8):
        facts.notificationID = Self.id(text)
      default: break
      }
    }
    return isRead ? facts : Facts()
  }

  /// So that an erasure finds what cannot be read, too.
  private func addIDs(
    _ facts: inout Facts, from key: UnsafeRawBufferPointer?, _ content: EvidenceTopic.Content
  ) {
    if content == .deferred, let hold = Self.hold(key) {
      facts.userID = facts.userID ?? hold.userID
      facts.notificationID = facts.notificationID ?? hold.notificationID
      facts.deviceID = facts.deviceID ?? hold.deviceID
    } else {
      facts.userID = facts.userID ?? key.flatMap(Self.id)
    }
  }

  private mutating func make(
    _ facts: Facts, _ source: Int64, _ offset: Int64, _ timestampMs: Int64,
    _ value: UnsafeRawBufferPointer?
  ) -> IndexedRecord {
    return IndexedRecord(
      source: source, offset: offset, atMs: instant(facts.atMs, timestampMs: timestampMs),
      userID: facts.userID, notificationID: facts.notificationID, deviceID: facts.deviceID,
      record: packer.pack(value ?? UnsafeRawBufferPointer(start: nil, count: 0)))
  }

  /// A Kafka timestamp as far as it is believed: a producer sets what it likes.
  func believed(timestampMs: Int64) -> Int64 {
    timestampMs > nowMs + Self.dayMs ? nowMs : max(0, timestampMs)
  }

  /// An instant far ahead of the record's own Kafka timestamp is a clock that was wrong: kept as it is
  /// written, it would never grow old.
  private func instant(_ ms: Int64?, timestampMs: Int64) -> Int64 {
    let written = believed(timestampMs: timestampMs)
    guard let ms else { return written }
    let latest = written > 0 ? written : nowMs
    return ms > latest + Self.dayMs ? latest : ms
  }
}
