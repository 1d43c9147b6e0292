import Gate

/// A user as the tables have one.
struct StoredUser: Sendable {
  /// What the other tables know the user by.
  var key: Int64
  /// Under which the audit topic knows the user; gone with an erasure.
  var secret: [UInt8]
  var preferences: UserPreferences
}

/// Reads a user's rows. In a transaction, so that they are of one instant.
struct UserReader {
  let connection: any SQLConnection

  func user(_ id: Identifier) throws(SQLError) -> StoredUser? {
    let found = try connection.first(
      """
      SELECT u.user_key, u.secret, u.version, u.zone, u.zone_at_ms, u.zone_source,
        s.state, s.at_ms, s.source
      FROM users u LEFT JOIN sms_consents s ON s.user_key = u.user_key WHERE u.user_id = $1
      """, [SQLValue(id)]
    ) { row throws(SQLError) in
      var user = UserPreferences(userID: id, version: row.integer(2))
      if let atMs = row.optionalInteger(4) {
        user.account.timezone = Stamped(
          ZoneSetting(row.optionalIdentifier(3)), atMs: atMs, source: try source(row, 5))
      }
      if let state = try row.optionalValue(6, of: Stored.choices) {
        user.account.sms = Stamped(state, atMs: row.integer(7), source: try source(row, 8))
      }
      return StoredUser(key: row.integer(0), secret: row.bytes(1), preferences: user)
    }
    guard var user = found else { return nil }
    // Devices first: the others put their values into them.
    try readDevices(user.key, into: &user.preferences)
    try readChoices(user.key, into: &user.preferences)
    try readMutes(user.key, into: &user.preferences)
    try readSuppressions(user.key, into: &user.preferences)
    try readQuietHours(user.key, into: &user.preferences)
    return user
  }

  private func source(_ row: any SQLRow, _ column: Int) throws(SQLError) -> ChoiceSource? {
    try row.optionalValue(column, of: Stored.sources)
  }

  private func readDevices(_ key: Int64, into user: inout UserPreferences) throws(SQLError) {
    try connection.query(
      """
      SELECT device_id, platform, os_permission, zone, region, sync_at_ms, sync_source,
        token_status, token_at_ms, token_source, first_seen_ms, last_seen_ms, removed_ms, is_held
      FROM devices WHERE user_key = $1
      """, [.integer(key)]
    ) { row throws(SQLError) in
      var device = DevicePreferences()
      if let atMs = row.optionalInteger(5) {
        device.sync = Stamped(
          DeviceSync(
            platform: try row.value(1, of: Stored.platforms),
            osPermission: try row.value(2, of: Stored.permissions),
            timezone: row.optionalIdentifier(3), region: row.optionalIdentifier(4)),
          atMs: atMs, source: try source(row, 6))
      }
      if let status = try row.optionalValue(7, of: Stored.tokens) {
        device.token = Stamped(status, atMs: row.integer(8), source: try source(row, 9))
      }
      device.firstSeenMs = row.optionalInteger(10)
      device.lastSeenMs = row.optionalInteger(11)
      device.removedMs = row.optionalInteger(12)
      device.isHeld = row.flag(13)
      user.devices[row.identifier(0)] = device
    }
  }

  private func readChoices(_ key: Int64, into user: inout UserPreferences) throws(SQLError) {
    try connection.query(
      """
      SELECT device_id, category, made_state, made_at_ms, made_source,
        is_link_muted, link_at_ms, link_source
      FROM choices WHERE user_key = $1
      """, [.integer(key)]
    ) { row throws(SQLError) in
      var choice = CategoryChoice()
      if let state = try row.optionalValue(2, of: Stored.choices) {
        choice.made = Stamped(state, atMs: row.integer(3), source: try source(row, 4))
      }
      if row.optionalInteger(5) != nil {
        choice.link = Stamped(row.flag(5), atMs: row.integer(6), source: try source(row, 7))
      }
      let category = try row.value(1, of: Stored.categories)
      switch row.scope(0) {
      case .account: user.account.choices[category] = choice
      case .device(let id):
        user.devices[id, default: DevicePreferences()].choices[category] = choice
      }
    }
  }

  private func readMutes(_ key: Int64, into user: inout UserPreferences) throws(SQLError) {
    try connection.query(
      "SELECT category, subtype, is_muted, at_ms, source FROM mutes WHERE user_key = $1",
      [.integer(key)]
    ) { row throws(SQLError) in
      let subtype = Subtype(try row.value(0, of: Stored.categories), row.identifier(1))
      user.account.mutes[subtype] = Stamped(
        row.flag(2), atMs: row.integer(3), source: try source(row, 4))
    }
  }

  private func readSuppressions(_ key: Int64, into user: inout UserPreferences) throws(SQLError) {
    try connection.query(
      "SELECT device_id, suppression, is_set, at_ms, source FROM suppressions WHERE user_key = $1",
      [.integer(key)]
    ) { row throws(SQLError) in
      let suppression = try row.value(1, of: Stored.suppressions)
      let value = Stamped(row.flag(2), atMs: row.integer(3), source: try source(row, 4))
      switch row.scope(0) {
      case .account: user.account.suppressions[suppression] = value
      case .device(let id):
        user.devices[id, default: DevicePreferences()].suppressions[suppression] = value
      }
    }
  }

  private func readQuietHours(_ key: Int64, into user: inout UserPreferences) throws(SQLError) {
    try connection.query(
      """
      SELECT device_id, kind, start_minute, end_minute, days, at_ms, source
      FROM quiet_hours WHERE user_key = $1
      """, [.integer(key)]
    ) { row throws(SQLError) in
      let setting: WindowSetting =
        switch try row.value(1, of: StoredWindow.kinds) {
        case .inherited: .inherited
        case .none: .none
        case .window:
          .window(
            startMinute: UInt16(row.integer(2)), endMinute: UInt16(row.integer(3)),
            days: UInt8(row.integer(4)))
        }
      let value = Stamped(setting, atMs: row.integer(5), source: try source(row, 6))
      switch row.scope(0) {
      case .account: user.account.quietHours = value
      case .device(let id): user.devices[id, default: DevicePreferences()].quietHours = value
      }
    }
  }

  func device(_ id: Identifier) throws(SQLError) -> SharedDevice? {
    try connection.first(
      """
      SELECT u.user_id, d.claimed_at_ms, d.prompt_at_ms, d.prompt_moment
      FROM shared_devices d LEFT JOIN users u ON u.user_key = d.holder_key WHERE d.device_id = $1
      """, [SQLValue(id)]
    ) { row in
      SharedDevice(
        deviceID: id, holder: row.optionalIdentifier(0), claimedAtMs: row.optionalInteger(1),
        prompt: row.optionalInteger(2).map { PromptShown(atMs: $0, moment: row.identifier(3)) })
    }
  }
}

/// What a window setting is, beside its numbers.
enum StoredWindow: String, CaseIterable, Sendable {
  case inherited, none, window
  static let kinds = StoredNames<StoredWindow> { $0.rawValue }
}
