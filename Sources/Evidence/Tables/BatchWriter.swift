import Gate
import Preferences

/// Writes what was read. Everything it does is the same done twice: a record that is there already
/// changes nothing and counts nothing.
struct BatchWriter {
  let connection: any SQLConnection

  func write(_ batch: IndexBatch, erased: ErasedUsers, nowMs: Int64) throws(SQLError) {
    var numbers = try Numbers(connection)
    var counts: [CountKey: Int64] = [:]
    for change in batch.changes {
      switch change {
      case .attempt(let record, let facts):
        let isNew = try add(record, isReadable: facts.count != nil, sequence: numbers.attempt)
        if isNew {
          numbers.attempt += 1
          // Counts are of real users: a timer's self-tests would be most of a quiet hour.
          let isNobodys = record.userID.map { SelfTestUser.isReserved($0) } ?? false
          if let key = facts.count, !isNobodys { counts[key, default: 0] += 1 }
        }
        if let dueMs = facts.dueMs { try hold(record, dueMs: dueMs) }
      case .receipt(let record):
        if try add(receipt: record, sequence: numbers.receipt) { numbers.receipt += 1 }
      case .holdEnded(let key):
        try end(key)
      case .erased(let userID, let throughMs):
        try erase(userID, throughMs: throughMs)
        try erased.remember(userID, throughMs: throughMs, nowMs: nowMs, connection)
      }
    }
    for (key, n) in counts { try raise(key, by: n) }
    let sources = SourceTable(connection: connection)
    for end in batch.ends.values { try sources.save(end) }
    if let progress = batch.progress { try save(progress) }
  }

  /// The next number of each table. There is one writer, so nobody else takes it.
  private struct Numbers {
    var attempt: Int64
    var receipt: Int64

    init(_ connection: any SQLConnection) throws(SQLError) {
      attempt = try Self.last(connection, "SELECT max(sequence) FROM attempts") + 1
      receipt = try Self.last(connection, "SELECT max(sequence) FROM receipts") + 1
    }

    private static func last(
      _ connection: any SQLConnection, _ sql: StaticString
    ) throws(SQLError) -> Int64 {
      (try connection.first(sql, []) { $0.optionalInteger(0) } ?? nil) ?? 0
    }
  }

  private func add(
    _ record: IndexedRecord, isReadable: Bool, sequence: Int64
  ) throws(SQLError) -> Bool {
    try connection.run(
      """
      INSERT INTO attempts (sequence, source, kafka_offset, at_ms, user_id, notification_id,
        device_id, is_readable, packing, plain_bytes, record)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
      ON CONFLICT (source, kafka_offset) DO NOTHING
      """,
      [
        .integer(sequence), .integer(record.source), .integer(record.offset),
        .integer(record.atMs), SQLValue(record.userID), SQLValue(record.notificationID),
        SQLValue(record.deviceID), SQLValue(isReadable), .integer(record.record.packing),
        .integer(record.record.plainBytes), .bytes(record.record.bytes),
      ]) > 0
  }

  private func add(receipt record: IndexedRecord, sequence: Int64) throws(SQLError) -> Bool {
    try connection.run(
      """
      INSERT INTO receipts (sequence, source, kafka_offset, at_ms, user_id, notification_id,
        device_id, packing, plain_bytes, record)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      ON CONFLICT (source, kafka_offset) DO NOTHING
      """,
      [
        .integer(sequence), .integer(record.source), .integer(record.offset),
        .integer(record.atMs), SQLValue(record.userID), SQLValue(record.notificationID),
        SQLValue(record.deviceID), .integer(record.record.packing),
        .integer(record.record.plainBytes), .bytes(record.record.bytes),
      ]) > 0
  }

  private func hold(_ record: IndexedRecord, dueMs: Int64) throws(SQLError) {
    guard let user = record.userID, let notification = record.notificationID,
      let device = record.deviceID
    else { return }
    try connection.run(
      """
      INSERT INTO holds_open (user_id, notification_id, device_id, source, at_ms, due_ms)
      VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (user_id, notification_id, device_id) DO UPDATE SET source = excluded.source,
        at_ms = excluded.at_ms, due_ms = excluded.due_ms
      """,
      [
        .text(user), .text(notification), .text(device), .integer(record.source),
        .integer(record.atMs), .integer(dueMs),
      ])
  }

  private func end(_ key: HoldKey) throws(SQLError) {
    try connection.run(
      "DELETE FROM holds_open WHERE user_id = $1 AND notification_id = $2 AND device_id = $3",
      [.text(key.userID), .text(key.notificationID), .text(key.deviceID)])
  }

  /// Everything dated up to an instant: a user may have come back since. Counts name nobody and stay.
  private func erase(_ user: String, throughMs: Int64) throws(SQLError) {
    let values: [SQLValue] = [.text(user), .integer(throughMs)]
    try connection.run("DELETE FROM attempts WHERE user_id = $1 AND at_ms <= $2", values)
    try connection.run("DELETE FROM receipts WHERE user_id = $1 AND at_ms <= $2", values)
    try connection.run("DELETE FROM holds_open WHERE user_id = $1 AND at_ms <= $2", values)
  }

  private func raise(_ key: CountKey, by n: Int64) throws(SQLError) {
    try connection.run(
      """
      INSERT INTO counts (hour_ms, outcome, category, reason, n) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (hour_ms, outcome, category, reason) DO UPDATE SET n = counts.n + excluded.n
      """,
      [
        .integer(key.hourMs), .text(key.outcome), .text(key.category), .text(key.reason),
        .integer(n),
      ])
  }

  /// What was indexed up to an instant stays so: a reader that began anew and has not come to the end
  /// yet does not know, and takes nothing back.
  private func save(_ progress: EvidenceLag) throws(SQLError) {
    try connection.run(
      """
      UPDATE progress SET fresh_at_ms = COALESCE($1, fresh_at_ms), records_behind = $2, newest_ms = CASE
        WHEN newest_ms IS NULL OR newest_ms < $3 THEN $3 ELSE newest_ms END WHERE id = 1
      """,
      [
        SQLValue(progress.freshAtMs), SQLValue(progress.recordsBehind),
        SQLValue(progress.newestMs),
      ])
  }
}
