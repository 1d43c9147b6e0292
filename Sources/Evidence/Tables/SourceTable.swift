import Preferences

/// A partition of a topic as it was made once. Made anew, its offsets begin anew and mean other
/// records, so that it is another source.
struct IndexSource: Sendable, Equatable {
  /// A record by which a partition is known again.
  struct Mark: Sendable, Equatable {
    var offset: Int64
    var digest: Int64
  }

  var id: Int64
  /// Below 0: from the first record there is.
  var nextOffset: Int64
  /// The last record that was read; nil: none was.
  var last: Mark?
}

/// Where each partition was read to; written with what was read.
struct SourceTable {
  let connection: any SQLConnection

  /// The source that a partition is, as far as is known; a new one where it was never read, or its
  /// topic's name stood for other records then.
  func open(_ topic: EvidenceTopic, _ partition: Int32) throws(SQLError) -> IndexSource {
    let known = try connection.first(
      """
      SELECT source, content, next_offset, last_offset, last_digest FROM sources
      WHERE topic = $1 AND partition_number = $2 ORDER BY incarnation DESC LIMIT 1
      """, [.text(topic.name), .integer(Int64(partition))]
    ) { row throws(SQLError) in
      var source = IndexSource(id: row.integer(0), nextOffset: row.integer(2))
      if let offset = row.optionalInteger(3), let digest = row.optionalInteger(4) {
        source.last = IndexSource.Mark(offset: offset, digest: digest)
      }
      return (source, row.text(1))
    }
    if let known, known.1 == topic.content.rawValue { return known.0 }
    return try renew(topic, partition)
  }

  /// The partition was made anew: it is read from its first record. What was held in it before is gone.
  func renew(_ topic: EvidenceTopic, _ partition: Int32) throws(SQLError) -> IndexSource {
    let values: [SQLValue] = [.text(topic.name), .integer(Int64(partition))]
    try connection.run(
      """
      DELETE FROM holds_open WHERE source IN
        (SELECT source FROM sources WHERE topic = $1 AND partition_number = $2)
      """, values)
    let id = try next("SELECT max(source) FROM sources", [])
    let incarnation = try next(
      "SELECT max(incarnation) FROM sources WHERE topic = $1 AND partition_number = $2", values)
    try connection.run(
      """
      INSERT INTO sources (source, topic, content, partition_number, incarnation, next_offset)
      VALUES ($1, $2, $3, $4, $5, -1)
      """,
      [
        .integer(id), .text(topic.name), .text(topic.content.rawValue),
        .integer(Int64(partition)), .integer(incarnation),
      ])
    return IndexSource(id: id, nextOffset: -1)
  }

  func save(_ end: SourceEnd) throws(SQLError) {
    try connection.run(
      "UPDATE sources SET next_offset = $2, last_offset = $3, last_digest = $4 WHERE source = $1",
      [
        .integer(end.source), .integer(end.nextOffset), .integer(end.lastOffset),
        .integer(end.lastDigest),
      ])
  }

  private func next(_ sql: StaticString, _ values: [SQLValue]) throws(SQLError) -> Int64 {
    ((try connection.first(sql, values) { $0.optionalInteger(0) } ?? nil) ?? 0) + 1
  }
}
