/// Who was erased and when, under a keyed hash: what was on its way when a user was erased must not
/// bring the user back.
struct ErasedUsers {
  let connection: any SQLConnection
  let key: [UInt8]

  private func hash(_ user: Identifier) -> SQLValue {
    .bytes(Secrets.authenticate(user.text.utf8, key: key))
  }

  func erasedAtMs(_ user: Identifier) throws(SQLError) -> Int64? {
    try connection.first(
      "SELECT erased_at_ms FROM erased_users WHERE user_hash = $1", [hash(user)]
    ) { $0.integer(0) }
  }

  func remember(_ user: Identifier, erasedAtMs: Int64, nowMs: Int64) throws(SQLError) {
    try connection.run(
      """
      INSERT INTO erased_users (user_hash, erased_at_ms, recorded_at_ms) VALUES ($1, $2, $3)
      ON CONFLICT (user_hash) DO UPDATE SET recorded_at_ms = excluded.recorded_at_ms,
        erased_at_ms = CASE WHEN excluded.erased_at_ms > erased_users.erased_at_ms
          THEN excluded.erased_at_ms ELSE erased_users.erased_at_ms END
      """, [hash(user), .integer(erasedAtMs), .integer(nowMs)])
  }

  func forget(recordedBeforeMs: Int64) throws(SQLError) {
    try connection.run(
      "DELETE FROM erased_users WHERE recorded_at_ms < $1", [.integer(recordedBeforeMs)])
  }
}
