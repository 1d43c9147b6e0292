import Gate

/// Writes what is different of a user. In the transaction that read the user before.
struct UserWriter {
  let connection: any SQLConnection

  /// A user of whom nothing is kept yet, and nothing is written yet but the user's own row.
  func add(_ id: Identifier, nowMs: Int64) throws(SQLError) -> StoredUser {
    let key = try Sequences(connection: connection).next(.userKey)
    let secret = Secrets.random()
    try connection.run(
      """
      INSERT INTO users (user_key, user_id, version, secret, created_at_ms)
      VALUES ($1, $2, 0, $3, $4)
      """, [.integer(key), SQLValue(id), .bytes(secret), .integer(nowMs)])
    return StoredUser(key: key, secret: secret, preferences: UserPreferences(userID: id))
  }

  /// - Parameter before: what the tables hold.
  func save(
    _ new: UserPreferences, over before: UserPreferences, key: Int64
  ) throws(SQLError) {
    if new.version != before.version || new.account.timezone != before.account.timezone {
      let zone = new.account.timezone
      try connection.run(
        """
        UPDATE users SET version = $2, zone = $3, zone_at_ms = $4, zone_source = $5
        WHERE user_key = $1
        """,
        [
          .integer(key), .integer(new.version), SQLValue(zone?.value.zone), SQLValue(zone?.atMs),
          SQLValue(zone?.source, in: Stored.sources),
        ])
    }
    if let sms = new.account.sms, sms != before.account.sms {
      try connection.run(
        """
        INSERT INTO sms_consents (user_key, state, at_ms, source) VALUES ($1, $2, $3, $4)
        ON CONFLICT (user_key) DO UPDATE SET state = excluded.state, at_ms = excluded.at_ms,
          source = excluded.source
        """,
        [.integer(key), SQLValue(sms.value, in: Stored.choices)] + stamp(sms))
    }
    try saveScope(
      .account, key, ScopeFields(new.account), over: ScopeFields(before.account))
    for (subtype, mute) in new.account.mutes where mute != before.account.mutes[subtype] {
      try connection.run(
        """
        INSERT INTO mutes (user_key, category, subtype, is_muted, at_ms, source)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (user_key, category, subtype) DO UPDATE SET is_muted = excluded.is_muted,
          at_ms = excluded.at_ms, source = excluded.source
        """,
        [
          .integer(key), SQLValue(subtype.category, in: Stored.categories), SQLValue(subtype.name),
          SQLValue(mute.value),
        ] + stamp(mute))
    }
    for id in before.devices.keys where new.devices[id] == nil { try forget(id, key) }
    for (id, device) in new.devices {
      let was = before.devices[id]
      guard device != was else { continue }
      try save(device, id, key)
      try saveScope(
        .device(id), key, ScopeFields(device), over: ScopeFields(was ?? DevicePreferences()))
    }
  }

  private func forget(_ device: Identifier, _ key: Int64) throws(SQLError) {
    let which = [.integer(key), SQLValue(device)]
    try connection.run("DELETE FROM devices WHERE user_key = $1 AND device_id = $2", which)
    try connection.run("DELETE FROM choices WHERE user_key = $1 AND device_id = $2", which)
    try connection.run("DELETE FROM suppressions WHERE user_key = $1 AND device_id = $2", which)
    try connection.run("DELETE FROM quiet_hours WHERE user_key = $1 AND device_id = $2", which)
  }

  func save(_ device: SharedDevice, holderKey: Int64?) throws(SQLError) {
    try connection.run(
      """
      INSERT INTO shared_devices (device_id, holder_key, claimed_at_ms, prompt_at_ms, prompt_moment)
      VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (device_id) DO UPDATE SET holder_key = excluded.holder_key,
        claimed_at_ms = excluded.claimed_at_ms, prompt_at_ms = excluded.prompt_at_ms,
        prompt_moment = excluded.prompt_moment
      """,
      [
        SQLValue(device.deviceID), SQLValue(holderKey), SQLValue(device.claimedAtMs),
        SQLValue(device.prompt?.atMs), SQLValue(device.prompt?.moment),
      ])
  }

  private func stamp<Value>(_ stamped: Stamped<Value>) -> [SQLValue] {
    [.integer(stamped.atMs), SQLValue(stamped.source, in: Stored.sources)]
  }

  private func save(_ device: DevicePreferences, _ id: Identifier, _ key: Int64) throws(SQLError) {
    let sync = device.sync
    let token = device.token
    try connection.run(
      """
      INSERT INTO devices (user_key, device_id, platform, os_permission, zone, region, sync_at_ms,
        sync_source, token_status, token_at_ms, token_source, first_seen_ms, last_seen_ms,
        removed_ms, is_held)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
      ON CONFLICT (user_key, device_id) DO UPDATE SET platform = excluded.platform,
        os_permission = excluded.os_permission, zone = excluded.zone, region = excluded.region,
        sync_at_ms = excluded.sync_at_ms, sync_source = excluded.sync_source,
        token_status = excluded.token_status, token_at_ms = excluded.token_at_ms,
        token_source = excluded.token_source, first_seen_ms = excluded.first_seen_ms,
        last_seen_ms = excluded.last_seen_ms, removed_ms = excluded.removed_ms,
        is_held = excluded.is_held
      """,
      [
        .integer(key), SQLValue(id), SQLValue(sync?.value.platform, in: Stored.platforms),
        SQLValue(sync?.value.osPermission, in: Stored.permissions),
        SQLValue(sync?.value.timezone), SQLValue(sync?.value.region), SQLValue(sync?.atMs),
        SQLValue(sync?.source, in: Stored.sources), SQLValue(token?.value, in: Stored.tokens),
        SQLValue(token?.atMs), SQLValue(token?.source, in: Stored.sources),
        SQLValue(device.firstSeenMs), SQLValue(device.lastSeenMs), SQLValue(device.removedMs),
        SQLValue(device.isHeld),
      ])
  }

  /// What account and devices have alike. Fields are never taken away again, only set anew, or with their
  /// device.
  private struct ScopeFields {
    var choices: [Category: CategoryChoice]
    var suppressions: [Suppression: Stamped<Bool>]
    var quietHours: Stamped<WindowSetting>?

    init(_ account: AccountPreferences) {
      choices = account.choices
      suppressions = account.suppressions
      quietHours = account.quietHours
    }

    init(_ device: DevicePreferences) {
      choices = device.choices
      suppressions = device.suppressions
      quietHours = device.quietHours
    }
  }

  private func saveScope(
    _ scope: PreferenceScope, _ key: Int64, _ new: ScopeFields, over old: ScopeFields
  ) throws(SQLError) {
    for (category, choice) in new.choices where choice != old.choices[category] {
      let made = choice.made
      let link = choice.link
      try connection.run(
        """
        INSERT INTO choices (user_key, device_id, category, made_state, made_at_ms, made_source,
          is_link_muted, link_at_ms, link_source)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (user_key, device_id, category) DO UPDATE SET made_state = excluded.made_state,
          made_at_ms = excluded.made_at_ms, made_source = excluded.made_source,
          is_link_muted = excluded.is_link_muted, link_at_ms = excluded.link_at_ms,
          link_source = excluded.link_source
        """,
        [
          .integer(key), SQLValue(scope), SQLValue(category, in: Stored.categories),
          SQLValue(made?.value, in: Stored.choices), SQLValue(made?.atMs),
          SQLValue(made?.source, in: Stored.sources), link.map { SQLValue($0.value) } ?? .null,
          SQLValue(link?.atMs), SQLValue(link?.source, in: Stored.sources),
        ])
    }
    for (suppression, value) in new.suppressions where value != old.suppressions[suppression] {
      try connection.run(
        """
        INSERT INTO suppressions (user_key, device_id, suppression, is_set, at_ms, source)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (user_key, device_id, suppression) DO UPDATE SET is_set = excluded.is_set,
          at_ms = excluded.at_ms, source = excluded.source
        """,
        [
          .integer(key), SQLValue(scope), SQLValue(suppression, in: Stored.suppressions),
          SQLValue(value.value),
        ] + stamp(value))
    }
    if let hours = new.quietHours, hours != old.quietHours {
      try saveQuietHours(hours, scope, key)
    }
  }

  private func saveQuietHours(
    _ hours: Stamped<WindowSetting>, _ scope: PreferenceScope, _ key: Int64
  ) throws(SQLError) {
    let (kind, numbers): (StoredWindow, [SQLValue]) =
      switch hours.value {
      case .inherited: (.inherited, [.null, .null, .null])
      case .none: (.none, [.null, .null, .null])
      case .window(let start, let end, let days):
        (.window, [.integer(Int64(start)), .integer(Int64(end)), .integer(Int64(days))])
      }
    try connection.run(
      """
      INSERT INTO quiet_hours (user_key, device_id, kind, start_minute, end_minute, days, at_ms,
        source)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      ON CONFLICT (user_key, device_id) DO UPDATE SET kind = excluded.kind,
        start_minute = excluded.start_minute, end_minute = excluded.end_minute,
        days = excluded.days, at_ms = excluded.at_ms, source = excluded.source
      """,
      [.integer(key), SQLValue(scope), SQLValue(kind, in: StoredWindow.kinds)] + numbers
        + stamp(hours))
  }
}
