import Gate

/// What is to be published, written with what it tells of, in one transaction: neither can be there
/// without the other.
struct OutboxTable {
  /// One record to publish.
  struct Row: Sendable, Equatable {
    var sequence: Int64 = 0
    var topic: OutboxTopic
    var key: String
    /// Nil: a tombstone.
    var value: String?
    var createdAtMs: Int64
  }

  let connection: any SQLConnection

  /// - Parameter userKey: whom it names; nil where an erasure does not concern it, as a pseudonym.
  func append(
    _ topic: OutboxTopic, key: String, value: String?, userKey: Int64?, nowMs: Int64
  ) throws(SQLError) {
    // Compaction makes one record of all that have no key.
    precondition(!key.isEmpty, "a record without a key cannot be published")
    let sequence = try Sequences(connection: connection).next(.outbox)
    try connection.run(
      """
      INSERT INTO outbox (sequence, topic, user_key, record_key, record_value, created_at_ms)
      VALUES ($1, $2, $3, $4, $5, $6)
      """,
      [
        .integer(sequence), SQLValue(topic, in: OutboxTopic.names), SQLValue(userKey), .text(key),
        SQLValue(value), .integer(nowMs),
      ])
  }

  /// The next rows behind `sequence`, in order.
  func rows(after sequence: Int64, limit: Int) throws(SQLError) -> [Row] {
    try connection.all(
      """
      SELECT sequence, topic, record_key, record_value, created_at_ms
      FROM outbox WHERE sequence > $1 ORDER BY sequence LIMIT $2
      """, [.integer(sequence), .integer(Int64(limit))]
    ) { row throws(SQLError) in
      Row(
        sequence: row.integer(0), topic: try row.value(1, of: OutboxTopic.names), key: row.text(2),
        value: row.optionalText(3), createdAtMs: row.integer(4))
    }
  }

  /// Of those up to `sequence`, all of which are on Kafka.
  func remove(through sequence: Int64) throws(SQLError) {
    try connection.run("DELETE FROM outbox WHERE sequence <= $1", [.integer(sequence)])
  }

  /// Documents and receipts of a user that nobody has to see any more.
  func removeRecords(ofUser key: Int64) throws(SQLError) {
    try connection.run("DELETE FROM outbox WHERE user_key = $1", [.integer(key)])
  }

  /// How many wait, and since when the first does.
  func backlog() throws(SQLError) -> (rows: Int64, oldestMs: Int64?) {
    try connection.first("SELECT count(*), min(created_at_ms) FROM outbox", []) {
      ($0.integer(0), $0.optionalInteger(1))
    } ?? (0, nil)
  }
}

/// Where an outbox row goes; what the topic is called is the configuration's.
public enum OutboxTopic: String, CaseIterable, Sendable {
  case state, defaults, audit, receipts

  static let names = StoredNames<OutboxTopic> { $0.rawValue }
}
