/// Takes users' rows away (requirements L4).
struct UserEraser {
  let connection: any SQLConnection

  /// Everything of a user: the other tables' rows go by their references, the audit's too.
  func erase(_ user: StoredUser) throws(SQLError) {
    try forgetEvents(user, through: .max)
    try connection.run("DELETE FROM users WHERE user_key = $1", [.integer(user.key)])
  }

  /// Everything dated up to an instant, of a user who came back since. Returns the user as one whose
  /// fields are still to be written, under a new secret: what was published of before is not to be
  /// linked with what comes.
  func erase(_ user: StoredUser, through ms: Int64) throws(SQLError) -> StoredUser {
    try forgetEvents(user, through: ms)
    let key = SQLValue.integer(user.key)
    try connection.run(
      "DELETE FROM audit WHERE user_key = $1 AND at_ms <= $2", [key, .integer(ms)])
    // What a field held before may be of a row that goes: not only in the field's next row, as an undoing
    // leads back and a late row is passed by. What rows that stay have set, they say themselves.
    try connection.run(
      "UPDATE audit SET value_before = NULL WHERE user_key = $1 AND value_before IS NOT NULL", [key]
    )
    try connection.run("DELETE FROM sms_consents WHERE user_key = $1", [key])
    try connection.run("DELETE FROM choices WHERE user_key = $1", [key])
    try connection.run("DELETE FROM mutes WHERE user_key = $1", [key])
    try connection.run("DELETE FROM suppressions WHERE user_key = $1", [key])
    try connection.run("DELETE FROM quiet_hours WHERE user_key = $1", [key])
    try connection.run("DELETE FROM devices WHERE user_key = $1", [key])
    let secret = Secrets.random()
    try connection.run(
      """
      UPDATE users SET secret = $2, zone = NULL, zone_at_ms = NULL, zone_source = NULL
      WHERE user_key = $1
      """, [key, .bytes(secret)])
    let empty = UserPreferences(
      userID: user.preferences.userID, version: user.preferences.version)
    return StoredUser(key: user.key, secret: secret, preferences: empty)
  }

  /// Also what names the user and still waits to be published: nobody has to see it any more.
  private func forgetEvents(_ user: StoredUser, through ms: Int64) throws(SQLError) {
    try connection.run("DELETE FROM event_ids WHERE user_key = $1", [.integer(user.key)])
    try OutboxTable(connection: connection).removeRecords(ofUser: user.key, through: ms)
  }

  /// The device is nobody's; when it was last claimed stays, so that an earlier claim does not come
  /// back.
  func release(_ device: Identifier, of user: StoredUser) throws(SQLError) {
    try connection.run(
      "UPDATE shared_devices SET holder_key = NULL WHERE device_id = $1 AND holder_key = $2",
      [SQLValue(device), .integer(user.key)])
  }
}
