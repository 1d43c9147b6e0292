import Preferences

/// Takes away what is old enough, a slice at a time, so that nothing waits long behind it.
///
/// Records of one partition are in the order of their instants but for little, so that each is walked
/// from its beginning and left where a whole slice is young: an index of all instants would cost every
/// insert.
struct Retention {
  let connection: any SQLConnection

  enum Table: CaseIterable, Sendable { case attempts, receipts }

  func sources() throws(SQLError) -> [Int64] {
    try connection.all("SELECT source FROM sources ORDER BY source", []) { $0.integer(0) }
  }

  /// Of the `limit` records of a source behind `offset`, takes those dated before. Returns how many
  /// that were and the last one's offset; nil where none of them was old, or there are none.
  func take(
    _ table: Table, of source: Int64, behind offset: Int64, beforeMs: Int64, limit: Int
  ) throws(SQLError) -> (taken: Int, last: Int64)? {
    let slice: [SQLValue] = [.integer(source), .integer(offset), .integer(Int64(limit))]
    let found: (last: Int64?, oldest: Int64?)? =
      switch table {
      case .attempts:
        try connection.first(
          """
          SELECT max(kafka_offset), min(at_ms) FROM (SELECT kafka_offset, at_ms FROM attempts
            WHERE source = $1 AND kafka_offset > $2 ORDER BY kafka_offset LIMIT $3) AS slice
          """, slice
        ) { ($0.optionalInteger(0), $0.optionalInteger(1)) }
      case .receipts:
        try connection.first(
          """
          SELECT max(kafka_offset), min(at_ms) FROM (SELECT kafka_offset, at_ms FROM receipts
            WHERE source = $1 AND kafka_offset > $2 ORDER BY kafka_offset LIMIT $3) AS slice
          """, slice
        ) { ($0.optionalInteger(0), $0.optionalInteger(1)) }
      }
    guard let last = found?.last, let oldest = found?.oldest, oldest < beforeMs else { return nil }
    let old: [SQLValue] = [
      .integer(source), .integer(offset), .integer(last), .integer(beforeMs),
    ]
    let taken =
      switch table {
      case .attempts:
        try connection.run(
          """
          DELETE FROM attempts WHERE source = $1 AND kafka_offset > $2 AND kafka_offset <= $3
            AND at_ms < $4
          """, old)
      case .receipts:
        try connection.run(
          """
          DELETE FROM receipts WHERE source = $1 AND kafka_offset > $2 AND kafka_offset <= $3
            AND at_ms < $4
          """, old)
      }
    return (taken, last)
  }

  /// What is small: holds whose end was never seen, counts, runs of the self-test.
  func takeRest(beforeMs: Int64, countsBeforeMs: Int64) throws(SQLError) {
    try connection.run("DELETE FROM holds_open WHERE due_ms < $1", [.integer(beforeMs)])
    try connection.run("DELETE FROM counts WHERE hour_ms < $1", [.integer(countsBeforeMs)])
    try connection.run("DELETE FROM selftests WHERE at_ms < $1", [.integer(beforeMs)])
  }
}
