import Preferences

/// Runs of the self-test.
struct SelfTestTable {
  let connection: any SQLConnection

  func add(_ run: SelfTestRun) throws(SQLError) {
    let last =
      (try connection.first("SELECT max(sequence) FROM selftests", []) { $0.optionalInteger(0) }
        ?? nil) ?? 0
    try connection.run(
      """
      INSERT INTO selftests (sequence, at_ms, version, outcome, report)
      VALUES ($1, $2, $3, $4, $5)
      """,
      [
        .integer(last + 1), .integer(run.atMs), .text(run.version), .text(run.outcome.rawValue),
        .text(run.report),
      ])
  }

  /// Newest first, as they were kept.
  func newest(limit: Int) throws(SQLError) -> [SelfTestRun] {
    try connection.all(
      """
      SELECT at_ms, version, outcome, report FROM selftests ORDER BY sequence DESC LIMIT $1
      """, [.integer(Int64(limit))]
    ) { row in
      SelfTestRun(
        atMs: row.integer(0), version: row.text(1),
        outcome: SelfTestRun.Outcome(rawValue: row.text(2)) ?? .failed, report: row.text(3))
    }
  }
}
