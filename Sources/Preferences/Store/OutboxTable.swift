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

  /// - Parameters:
  ///   - userKey: whom it names; nil where an erasure does not concern it, as a pseudonym.
  ///   - atMs: the instant it tells of, where an erasure goes by that.
  func append(
    _ topic: OutboxTopic, key: String, value: String?, userKey: Int64?, atMs: Int64? = nil,
    nowMs: Int64
  ) throws(SQLError) {
    // Compaction makes one record of all that have no key.
    precondition(!key.isEmpty, "a record without a key cannot be published")
    let sequence = try Sequences(connection: connection).next(.outbox)
    try connection.run(
      """
      INSERT INTO outbox (sequence, topic, user_key, record_key, record_value, created_at_ms, at_ms)
      VALUES ($1, $2, $3, $4, $5, $6, $7)
      """,
      [
        .integer(sequence), SQLValue(topic, in: OutboxTopic.names), SQLValue(userKey), .text(key),
        SQLValue(value), .integer(nowMs), SQLValue(atMs),
      ])
    try count(topic, 1)
  }

  /// A topic's next rows behind `sequence`, in order.
  func rows(
    of topic: OutboxTopic, after sequence: Int64, limit: Int
  ) throws(SQLError) -> [Row] {
    try connection.all(
      """
      SELECT sequence, topic, record_key, record_value, created_at_ms
      FROM outbox WHERE topic = $1 AND sequence > $2 ORDER BY sequence LIMIT $3
      """, [SQLValue(topic, in: OutboxTopic.names), .integer(sequence), .integer(Int64(limit))],
      Self.row)
  }

  private static func row(_ row: any SQLRow) throws(SQLError) -> Row {
    Row(
      sequence: row.integer(0), topic: try row.value(1, of: OutboxTopic.names), key: row.text(2),
      value: row.optionalText(3), createdAtMs: row.integer(4))
  }

  /// Of a topic's rows those in the ranges, which are on Kafka. Returns how many there were.
  func remove(of topic: OutboxTopic, _ ranges: [ClosedRange<Int64>]) throws(SQLError) -> Int {
    var removed = 0
    for range in ranges {
      removed += try connection.run(
        "DELETE FROM outbox WHERE topic = $1 AND sequence BETWEEN $2 AND $3",
        [
          SQLValue(topic, in: OutboxTopic.names), .integer(range.lowerBound),
          .integer(range.upperBound),
        ])
    }
    try count(topic, -removed)
    return removed
  }

  /// Documents and receipts of a user that nobody has to see any more: all but those that tell of an
  /// instant after `ms`.
  func removeRecords(ofUser key: Int64, through ms: Int64) throws(SQLError) {
    for topic in OutboxTopic.allCases {
      let removed = try connection.run(
        """
        DELETE FROM outbox
        WHERE user_key = $1 AND topic = $2 AND (at_ms IS NULL OR at_ms <= $3)
        """, [.integer(key), SQLValue(topic, in: OutboxTopic.names), .integer(ms)])
      try count(topic, -removed)
    }
  }

  /// Counting what waits would go through all of it, and is asked for at every probe.
  private func count(_ topic: OutboxTopic, _ change: Int) throws(SQLError) {
    guard change != 0 else { return }
    try connection.run(
      "UPDATE outbox_counts SET waiting = waiting + $2 WHERE topic = $1",
      [SQLValue(topic, in: OutboxTopic.names), .integer(Int64(change))])
  }

  /// How many of a topic wait, and since when the first does.
  func backlog(_ topic: OutboxTopic) throws(SQLError) -> OutboxBacklog {
    let name = [SQLValue(topic, in: OutboxTopic.names)]
    let waiting = try connection.first(
      "SELECT waiting FROM outbox_counts WHERE topic = $1", name, { $0.integer(0) })
    let oldest = try connection.first(
      "SELECT created_at_ms FROM outbox WHERE topic = $1 ORDER BY sequence LIMIT 1", name,
      { $0.integer(0) })
    return OutboxBacklog(rows: waiting ?? 0, oldestMs: oldest)
  }
}

/// What waits to be published to a topic.
public struct OutboxBacklog: Sendable, Equatable {
  public var rows: Int64
  /// When the first of them was written; nil where there is none.
  public var oldestMs: Int64?
}

/// Where an outbox row goes; what the topic is called is the configuration's.
public enum OutboxTopic: String, CaseIterable, Sendable {
  case state, defaults, audit, receipts

  static let names = StoredNames<OutboxTopic> { $0.rawValue }
}
