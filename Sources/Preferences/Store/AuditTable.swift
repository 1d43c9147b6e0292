import Gate

/// The append-only log of transitions (requirements C5). Rows go with their user's erasure and in no
/// other way.
struct AuditTable {
  let connection: any SQLConnection

  /// Gives each row its sequence. `key` finds the key of the user a row is about.
  func append(
    _ rows: [AuditRow], key: (Identifier) -> Int64?
  ) throws(SQLError) -> [AuditRow] {
    guard !rows.isEmpty else { return [] }
    let first = try Sequences(connection: connection).next(.audit, count: rows.count)
    var numbered = rows
    for index in numbered.indices {
      numbered[index].sequence = first + Int64(index)
      let row = numbered[index]
      try connection.run(
        """
        INSERT INTO audit (sequence, user_key, device_id, kind, category, subject, value_before,
          value_after, at_ms, recorded_at_ms, source, event_id, outcome, reason)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
        """,
        [
          .integer(row.sequence), SQLValue(row.userID.flatMap(key)), SQLValue(row.scope),
          SQLValue(row.kind, in: Stored.kinds), SQLValue(row.category, in: Stored.categories),
          SQLValue(row.subject), SQLValue(row.before), SQLValue(row.after), .integer(row.atMs),
          .integer(row.recordedAtMs), SQLValue(row.source, in: Stored.sources),
          SQLValue(row.eventID), SQLValue(row.outcome, in: Stored.outcomes), SQLValue(row.reason),
        ])
    }
    return numbered
  }

  /// A user's rows in the order they were recorded, behind `sequence`; at most `limit` of them.
  func rows(
    of user: Identifier, key: Int64, after sequence: Int64, limit: Int
  ) throws(SQLError) -> [AuditRow] {
    try connection.all(
      """
      SELECT sequence, device_id, kind, category, subject, value_before, value_after, at_ms,
        recorded_at_ms, source, event_id, outcome, reason
      FROM audit WHERE user_key = $1 AND sequence > $2 ORDER BY sequence LIMIT $3
      """, [.integer(key), .integer(sequence), .integer(Int64(limit))]
    ) { row throws(SQLError) in try Self.auditRow(row, user: user) }
  }

  /// A user's rows that were recorded in `fromMs ..< toMs`, newest first.
  func recentRows(
    of user: Identifier, key: Int64, recordedFromMs fromMs: Int64, toMs: Int64, limit: Int
  ) throws(SQLError) -> [AuditRow] {
    try connection.all(
      """
      SELECT sequence, device_id, kind, category, subject, value_before, value_after, at_ms,
        recorded_at_ms, source, event_id, outcome, reason
      FROM audit WHERE user_key = $1 AND recorded_at_ms >= $2 AND recorded_at_ms < $3
      ORDER BY sequence DESC LIMIT $4
      """, [.integer(key), .integer(fromMs), .integer(toMs), .integer(Int64(limit))]
    ) { row throws(SQLError) in try Self.auditRow(row, user: user) }
  }

  /// A user's rows that say what was chosen of a category, or, without one, of SMS.
  func choiceRows(
    of user: Identifier, key: Int64, category: Category?
  ) throws(SQLError) -> [AuditRow] {
    try connection.all(
      """
      SELECT sequence, device_id, kind, category, subject, value_before, value_after, at_ms,
        recorded_at_ms, source, event_id, outcome, reason
      FROM audit WHERE user_key = $1 AND ((category = $2 AND kind IN ('choice', 'link_mute'))
        OR ($2 = '' AND kind = 'sms_consent')) ORDER BY sequence
      """,
      [.integer(key), .text(category.map { Stored.categories.text($0) } ?? "")]
    ) { row throws(SQLError) in try Self.auditRow(row, user: user) }
  }

  /// Rows that concern nobody: changes of defaults, and what could not be read.
  func rowsOfNobody(after sequence: Int64, limit: Int) throws(SQLError) -> [AuditRow] {
    try connection.all(
      """
      SELECT sequence, device_id, kind, category, subject, value_before, value_after, at_ms,
        recorded_at_ms, source, event_id, outcome, reason
      FROM audit WHERE user_key IS NULL AND sequence > $1 ORDER BY sequence LIMIT $2
      """, [.integer(sequence), .integer(Int64(limit))]
    ) { row throws(SQLError) in try Self.auditRow(row, user: nil) }
  }

  private static func auditRow(
    _ row: any SQLRow, user: Identifier?
  ) throws(SQLError) -> AuditRow {
    var made = AuditRow(
      userID: user, scope: row.scope(1), kind: try row.value(2, of: Stored.kinds),
      category: try row.optionalValue(3, of: Stored.categories),
      subject: row.optionalIdentifier(4), before: row.optionalText(5), after: row.optionalText(6),
      atMs: row.integer(7), recordedAtMs: row.integer(8),
      source: try row.optionalValue(9, of: Stored.sources), eventID: row.identifier(10),
      outcome: try row.value(11, of: Stored.outcomes), reason: row.optionalText(12))
    made.sequence = row.integer(0)
    return made
  }
}
