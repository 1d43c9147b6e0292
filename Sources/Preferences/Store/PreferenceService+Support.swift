import Gate

/// What those ask who look at other people's preferences: support, and charts.
extension PreferenceService {
  /// A user's transitions that were recorded in `fromMs ..< toMs`, newest first; at most `limit`.
  /// None where nothing is kept of the user.
  public func recentAudit(
    of id: Identifier, recordedFromMs fromMs: Int64, toMs: Int64, limit: Int
  ) throws(StoreError) -> [AuditRow] {
    try store.readers.read { connection throws(SQLError) in
      guard let key = try UserReader(connection: connection).user(id)?.key else { return [] }
      return try AuditTable(connection: connection).recentRows(
        of: id, key: key, recordedFromMs: fromMs, toMs: toMs, limit: limit)
    }
  }

  /// Who has a device now; nil where nobody does.
  public func holder(of device: Identifier) throws(StoreError) -> Identifier? {
    try store.readers.read { connection throws(SQLError) in
      try UserReader(connection: connection).device(device)?.holder
    }
  }

  /// Where, and in what window, the devices are of some users who have any.
  ///
  /// - Parameters:
  ///   - key: the users behind this one, as the store numbers them; 0: from the first.
  ///   - limit: look through so many numbers, which are fewer users where some were erased.
  /// - Returns: of each user the devices' places, and the number to go on behind; nil where there
  ///   are no more.
  public func quietPlaces(
    afterKey key: Int64, limit: Int64
  ) throws(StoreError) -> (users: [[QuietPlace]], next: Int64?) {
    try store.readers.read { connection throws(SQLError) in
      let last =
        try connection.first("SELECT MAX(user_key) FROM users", []) { row in
          row.optionalInteger(0)
        } ?? nil
      guard let last, last > key else { return ([], nil) }
      let end = min(last, key + limit)
      let users = try QuietPlaceReader(connection: connection).users(after: key, through: end)
      return (users, end < last ? end : nil)
    }
  }
}

/// What decides when it is quiet on one device.
public struct QuietPlace: Hashable, Sendable {
  public var deviceZone: Identifier?
  public var accountZone: Identifier?
  /// In force there: the device's own, else the account's.
  public var window: WindowSetting
}

private struct QuietPlaceReader {
  let connection: any SQLConnection

  func users(after key: Int64, through last: Int64) throws(SQLError) -> [[QuietPlace]] {
    var users: [[QuietPlace]] = []
    var current: Int64?
    // A device is there under the same conditions as `DevicePreferences.isPresent`.
    try connection.query(
      """
      SELECT u.user_key, d.zone, u.zone, a.kind, a.start_minute, a.end_minute, a.days,
        q.kind, q.start_minute, q.end_minute, q.days
      FROM users u JOIN devices d ON d.user_key = u.user_key
        LEFT JOIN quiet_hours a ON a.user_key = u.user_key AND a.device_id = ''
        LEFT JOIN quiet_hours q ON q.user_key = u.user_key AND q.device_id = d.device_id
      WHERE u.user_key > $1 AND u.user_key <= $2 AND d.is_held <> 0
        AND d.sync_at_ms IS NOT NULL AND d.last_seen_ms IS NOT NULL
        AND (d.removed_ms IS NULL OR d.last_seen_ms > d.removed_ms)
      ORDER BY u.user_key
      """, [.integer(key), .integer(last)]
    ) { row throws(SQLError) in
      let own = try window(row, 7)
      let place = QuietPlace(
        deviceZone: row.optionalIdentifier(1), accountZone: row.optionalIdentifier(2),
        window: own == .inherited ? try window(row, 3) : own)
      if current != row.integer(0) {
        current = row.integer(0)
        users.append([])
      }
      users[users.count - 1].append(place)
    }
    return users
  }

  private func window(_ row: any SQLRow, _ column: Int) throws(SQLError) -> WindowSetting {
    switch try row.optionalValue(column, of: StoredWindow.kinds) {
    case nil, .inherited: .inherited
    case .some(.none): .none
    case .window:
      .window(
        startMinute: UInt16(row.integer(column + 1)), endMinute: UInt16(row.integer(column + 2)),
        days: UInt8(row.integer(column + 3)))
    }
  }
}
