import Preferences

/// A row of `attempts`, its record unpacked.
struct AttemptRow: Sendable {
  var sequence: Int64
  var place: EvidencePlace
  var content: EvidenceTopic.Content
  var atMs: Int64
  var userID: String?
  var notificationID: String?
  var deviceID: String?
  var isReadable: Bool
  var record: [UInt8]

  var outcome: EvidenceAttempt.Outcome {
    switch content {
    case .deferred: .deferred
    case .dropped: .dropped
    default: .approved
    }
  }

  /// Columns in the order of every query of `AttemptTable`.
  fileprivate init(_ row: any SQLRow) throws(SQLError) {
    sequence = row.integer(0)
    place = EvidencePlace(
      topic: row.text(1), partition: Int32(row.integer(2)), offset: row.integer(3))
    content = try EvidenceTopic.Content(stored: row.text(4))
    atMs = row.integer(5)
    userID = row.optionalText(6)
    notificationID = row.optionalText(7)
    deviceID = row.optionalText(8)
    isReadable = row.flag(9)
    record = try unpacked(row, at: 10)
  }
}

extension EvidenceTopic.Content {
  fileprivate init(stored text: String) throws(SQLError) {
    guard let content = Self(rawValue: text) else {
      throw SQLError(
        .notOurs, operation: "read a row", place: "sources.content", code: text,
        reason: "it is no content that is known")
    }
    self = content
  }
}

/// Of the three columns from `column` on.
private func unpacked(_ row: any SQLRow, at column: Int) throws(SQLError) -> [UInt8] {
  let packed = PackedRecord(
    packing: row.integer(column), plainBytes: row.integer(column + 1),
    bytes: row.bytes(column + 2))
  guard let record = RecordPacker.unpack(packed) else {
    throw SQLError(
      .notOurs, operation: "read a row", place: "record", code: "packing \(packed.packing)",
      reason: "it cannot be unpacked")
  }
  return record
}

/// What was decided, found again.
struct AttemptTable {
  let connection: any SQLConnection

  func ofUser(
    _ id: String, before: EvidenceCursor, limit: Int
  ) throws(SQLError) -> [AttemptRow] {
    try connection.all(
      """
      SELECT a.sequence, s.topic, s.partition_number, a.kafka_offset, s.content, a.at_ms,
        a.user_id, a.notification_id, a.device_id, a.is_readable, a.packing, a.plain_bytes, a.record
      FROM attempts a JOIN sources s ON s.source = a.source
      WHERE a.user_id = $1 AND a.at_ms <= $2 AND (a.at_ms < $2 OR a.sequence < $3)
      ORDER BY a.at_ms DESC, a.sequence DESC LIMIT $4
      """,
      [.text(id), .integer(before.atMs), .integer(before.sequence), .integer(Int64(limit))]
    ) { row throws(SQLError) in try AttemptRow(row) }
  }

  func ofDevice(
    _ id: String, before: EvidenceCursor, limit: Int
  ) throws(SQLError) -> [AttemptRow] {
    try connection.all(
      """
      SELECT a.sequence, s.topic, s.partition_number, a.kafka_offset, s.content, a.at_ms,
        a.user_id, a.notification_id, a.device_id, a.is_readable, a.packing, a.plain_bytes, a.record
      FROM attempts a JOIN sources s ON s.source = a.source
      WHERE a.device_id = $1 AND a.at_ms <= $2 AND (a.at_ms < $2 OR a.sequence < $3)
      ORDER BY a.at_ms DESC, a.sequence DESC LIMIT $4
      """,
      [.text(id), .integer(before.atMs), .integer(before.sequence), .integer(Int64(limit))]
    ) { row throws(SQLError) in try AttemptRow(row) }
  }

  func ofNotification(_ id: String, limit: Int) throws(SQLError) -> [AttemptRow] {
    try connection.all(
      """
      SELECT a.sequence, s.topic, s.partition_number, a.kafka_offset, s.content, a.at_ms,
        a.user_id, a.notification_id, a.device_id, a.is_readable, a.packing, a.plain_bytes, a.record
      FROM attempts a JOIN sources s ON s.source = a.source
      WHERE a.notification_id = $1 ORDER BY a.at_ms, a.sequence LIMIT $2
      """, [.text(id), .integer(Int64(limit))]
    ) { row throws(SQLError) in try AttemptRow(row) }
  }

  /// The same of one user: an id may stand for a campaign that goes to many.
  func ofNotification(_ id: String, user: String, limit: Int) throws(SQLError) -> [AttemptRow] {
    try connection.all(
      """
      SELECT a.sequence, s.topic, s.partition_number, a.kafka_offset, s.content, a.at_ms,
        a.user_id, a.notification_id, a.device_id, a.is_readable, a.packing, a.plain_bytes, a.record
      FROM attempts a JOIN sources s ON s.source = a.source
      WHERE a.notification_id = $1 AND a.user_id = $2 ORDER BY a.at_ms, a.sequence LIMIT $3
      """, [.text(id), .text(user), .integer(Int64(limit))]
    ) { row throws(SQLError) in try AttemptRow(row) }
  }

  /// What was decided of a notification on one device.
  func ofNotification(
    _ id: String, device: String, limit: Int
  ) throws(SQLError) -> [AttemptRow] {
    try connection.all(
      """
      SELECT a.sequence, s.topic, s.partition_number, a.kafka_offset, s.content, a.at_ms,
        a.user_id, a.notification_id, a.device_id, a.is_readable, a.packing, a.plain_bytes, a.record
      FROM attempts a JOIN sources s ON s.source = a.source
      WHERE a.notification_id = $1 AND a.device_id = $2 ORDER BY a.at_ms, a.sequence LIMIT $3
      """, [.text(id), .text(device), .integer(Int64(limit))]
    ) { row throws(SQLError) in try AttemptRow(row) }
  }

  /// Where an approval stands among those of its notification for this user's device: whether there
  /// is none before it, and when the next was decided; nil: there is none.
  func approvals(
    around atMs: Int64, _ sequence: Int64, of id: String, user: String, device: String
  ) throws(SQLError) -> (isFirst: Bool, nextMs: Int64?) {
    try connection.first(
      """
      SELECT count(CASE WHEN a.at_ms < $4 OR (a.at_ms = $4 AND a.sequence < $5) THEN 1 END),
        min(CASE WHEN a.at_ms > $4 OR (a.at_ms = $4 AND a.sequence > $5) THEN a.at_ms END)
      FROM attempts a JOIN sources s ON s.source = a.source
      WHERE a.notification_id = $1 AND a.device_id = $2 AND a.user_id = $3
        AND s.content IN ('approved', 'selftest')
      """, [.text(id), .text(device), .text(user), .integer(atMs), .integer(sequence)]
    ) { (isFirst: $0.integer(0) == 0, nextMs: $0.optionalInteger(1)) } ?? (true, nil)
  }
}

/// A row of `receipts`, its record unpacked.
struct ReceiptRow: Sendable {
  var sequence: Int64
  var place: EvidencePlace
  var atMs: Int64
  var userID: String?
  var notificationID: String?
  var deviceID: String?
  var record: [UInt8]

  fileprivate init(_ row: any SQLRow) throws(SQLError) {
    sequence = row.integer(0)
    place = EvidencePlace(
      topic: row.text(1), partition: Int32(row.integer(2)), offset: row.integer(3))
    atMs = row.integer(4)
    userID = row.optionalText(5)
    notificationID = row.optionalText(6)
    deviceID = row.optionalText(7)
    record = try unpacked(row, at: 8)
  }
}

struct ReceiptTable {
  let connection: any SQLConnection

  /// By how much a dispatcher's clock may be behind the gate's: a receipt that is dated so little
  /// before the first approval of its notification is of that one all the same.
  static let toleranceMs: Int64 = 60_000

  /// Of the first `limit` receipts of a notification, those that belong to no approval that is
  /// indexed.
  func ofNoApproval(_ id: String, limit: Int) throws(SQLError) -> [ReceiptRow] {
    try connection.all(
      """
      SELECT r.sequence, s.topic, s.partition_number, r.kafka_offset, r.at_ms, r.user_id,
        r.notification_id, r.device_id, r.packing, r.plain_bytes, r.record
      FROM receipts r JOIN sources s ON s.source = r.source
      WHERE r.sequence IN (SELECT sequence FROM receipts WHERE notification_id = $1
          ORDER BY at_ms, sequence LIMIT $2)
        AND NOT EXISTS (SELECT 1 FROM attempts a JOIN sources o ON o.source = a.source
          WHERE a.notification_id = $1 AND a.device_id = r.device_id AND a.user_id = r.user_id
            AND o.content IN ('approved', 'selftest') AND a.at_ms <= r.at_ms + $3)
      ORDER BY r.at_ms, r.sequence
      """, [.text(id), .integer(Int64(limit)), .integer(Self.toleranceMs)]
    ) { row throws(SQLError) in try ReceiptRow(row) }
  }

  /// Of one user's device, those dated in `fromMs ..< toMs`.
  func ofNotification(
    _ id: String, user: String, device: String, fromMs: Int64, toMs: Int64, limit: Int
  ) throws(SQLError) -> [ReceiptRow] {
    try connection.all(
      """
      SELECT r.sequence, s.topic, s.partition_number, r.kafka_offset, r.at_ms, r.user_id,
        r.notification_id, r.device_id, r.packing, r.plain_bytes, r.record
      FROM receipts r JOIN sources s ON s.source = r.source
      WHERE r.notification_id = $1 AND r.device_id = $2 AND r.user_id = $3
        AND r.at_ms >= $4 AND r.at_ms < $5 ORDER BY r.at_ms, r.sequence LIMIT $6
      """,
      [
        .text(id), .text(device), .text(user), .integer(fromMs), .integer(toMs),
        .integer(Int64(limit)),
      ]
    ) { row throws(SQLError) in try ReceiptRow(row) }
  }
}
