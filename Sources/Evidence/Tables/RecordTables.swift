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

  func ofNotification(_ id: String, limit: Int) throws(SQLError) -> [ReceiptRow] {
    try connection.all(
      """
      SELECT r.sequence, s.topic, s.partition_number, r.kafka_offset, r.at_ms, r.user_id,
        r.notification_id, r.device_id, r.packing, r.plain_bytes, r.record
      FROM receipts r JOIN sources s ON s.source = r.source
      WHERE r.notification_id = $1 ORDER BY r.at_ms, r.sequence LIMIT $2
      """, [.text(id), .integer(Int64(limit))]
    ) { row throws(SQLError) in try ReceiptRow(row) }
  }

  func ofNotification(
    _ id: String, device: String, limit: Int
  ) throws(SQLError) -> [ReceiptRow] {
    try connection.all(
      """
      SELECT r.sequence, s.topic, s.partition_number, r.kafka_offset, r.at_ms, r.user_id,
        r.notification_id, r.device_id, r.packing, r.plain_bytes, r.record
      FROM receipts r JOIN sources s ON s.source = r.source
      WHERE r.notification_id = $1 AND r.device_id = $2 ORDER BY r.at_ms, r.sequence LIMIT $3
      """, [.text(id), .text(device), .integer(Int64(limit))]
    ) { row throws(SQLError) in try ReceiptRow(row) }
  }
}
