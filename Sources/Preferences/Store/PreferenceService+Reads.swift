import Gate

extension PreferenceService {
  /// Everything kept of a user but the audit; nil where nothing is.
  public func user(_ id: Identifier) throws(StoreError) -> UserPreferences? {
    try store.readers.read { connection throws(SQLError) in
      try UserReader(connection: connection).user(id)?.preferences
    }
  }

  /// The four toggles of one of the user's devices; nil where the user has no such device.
  public func settings(
    of id: Identifier, device: Identifier
  ) throws(StoreError) -> SettingsView? {
    let now = nowMs()
    return try store.readers.read { connection throws(SQLError) in
      guard let user = try UserReader(connection: connection).user(id)?.preferences else {
        return nil
      }
      return machine.settings(
        user, device: device, defaults: try DefaultsTable(connection: connection).state(),
        links: links, nowMs: now)
    }
  }

  /// The four toggles of an account over all its devices; nil where nothing is kept of the user.
  public func accountSettings(of id: Identifier) throws(StoreError) -> AccountSettings? {
    let now = nowMs()
    return try store.readers.read { connection throws(SQLError) in
      guard let user = try UserReader(connection: connection).user(id)?.preferences else {
        return nil
      }
      return machine.accountSettings(
        user, defaults: try DefaultsTable(connection: connection).state(), links: links, nowMs: now)
    }
  }

  /// Whether the system's permission prompt may be shown on a device at this moment.
  public func mayPrompt(
    _ id: Identifier, device: Identifier, moment: Identifier
  ) throws(StoreError) -> PromptAnswer {
    try store.readers.read { connection throws(SQLError) in
      let reader = UserReader(connection: connection)
      return machine.mayPrompt(
        try reader.user(id)?.preferences.devices[device], shared: try reader.device(device),
        moment: moment)
    }
  }

  /// The defaults that were set, over the policy's.
  public func defaults() throws(StoreError) -> DefaultsState {
    try store.readers.read { connection throws(SQLError) in
      try DefaultsTable(connection: connection).state()
    }
  }

  /// The transitions of a user in the order they were recorded; nil where nothing is kept of one.
  ///
  /// - Parameters:
  ///   - category: those of it alone; nil: all.
  ///   - sequence: those behind it; 0: from the first.
  ///   - limit: at most so many; the last one's sequence is where to go on.
  public func audit(
    of id: Identifier, _ category: Category? = nil, after sequence: Int64 = 0, limit: Int
  ) throws(StoreError) -> [AuditRow]? {
    try store.readers.read { connection throws(SQLError) in
      guard let key = try UserReader(connection: connection).user(id)?.key else { return nil }
      return try AuditTable(connection: connection).rows(
        of: id, key: key, category, after: sequence, limit: limit)
    }
  }

  /// What a user had chosen of a category at an instant, told by the audit alone; nil where nothing is
  /// kept of such a user.
  ///
  /// - Parameters:
  ///   - device: also what was chosen there.
  ///   - recordedByMs: only by what was on record then.
  public func consent(
    of id: Identifier, _ category: Category, device: Identifier? = nil, atMs: Int64,
    recordedByMs: Int64? = nil
  ) throws(StoreError) -> AuditHistory.Consent? {
    try choiceRows(of: id, category).map { rows in
      AuditHistory.consent(
        rows, category, device: device, atMs: atMs, recordedByMs: recordedByMs)
    }
  }

  /// The same of SMS, which has a ledger of its own (requirements L3).
  public func smsConsent(
    of id: Identifier, atMs: Int64, recordedByMs: Int64? = nil
  ) throws(StoreError) -> AuditHistory.Answer? {
    try choiceRows(of: id, nil).map { rows in
      AuditHistory.smsConsent(rows, atMs: atMs, recordedByMs: recordedByMs)
    }
  }

  private func choiceRows(
    of id: Identifier, _ category: Category?
  ) throws(StoreError) -> [AuditRow]? {
    try store.readers.read { connection throws(SQLError) in
      guard let key = try UserReader(connection: connection).user(id)?.key else { return nil }
      return try AuditTable(connection: connection).choiceRows(
        of: id, key: key, category: category)
    }
  }

  /// Everything kept of a user, as one JSON object (requirements L4); nil where nothing is.
  public func export(_ id: Identifier) throws(StoreError) -> String? {
    let now = nowMs()
    return try store.readers.read { connection throws(SQLError) in
      let reader = UserReader(connection: connection)
      guard let user = try reader.user(id) else { return nil }
      var prompts: [Identifier: PromptShown] = [:]
      for (device, own) in user.preferences.devices where own.isHeld {
        prompts[device] = try reader.device(device)?.prompt
      }
      let rows = try AuditTable(connection: connection).rows(
        of: id, key: user.key, after: 0, limit: .max)
      return ExportDocument.text(
        user.preferences, prompts: prompts, audit: rows, exportedAtMs: now)
    }
  }

  /// Changes of defaults, in the order they were recorded.
  public func auditOfDefaults(
    after sequence: Int64 = 0, limit: Int
  ) throws(StoreError) -> [AuditRow] {
    try store.readers.read { connection throws(SQLError) in
      try AuditTable(connection: connection).rowsOfNobody(after: sequence, limit: limit)
    }
  }

  /// What waits to be published, by topic.
  public func outboxBacklog() throws(StoreError) -> [OutboxTopic: OutboxBacklog] {
    try store.readers.read { connection throws(SQLError) in
      var backlog: [OutboxTopic: OutboxBacklog] = [:]
      for topic in OutboxTopic.allCases {
        backlog[topic] = try OutboxTable(connection: connection).backlog(topic)
      }
      return backlog
    }
  }
}
