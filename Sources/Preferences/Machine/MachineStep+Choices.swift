import Gate

/// What users choose.
extension MachineStep {
  mutating func setChoice(_ scope: PreferenceScope, _ category: Category, _ state: Choice) {
    var choice = choices(scope)[category] ?? CategoryChoice()
    let before = choice
    if event.source == .unsubscribeLink {
      let change = choice.link.merge(Stamped(true, atMs: event.atMs, source: event.source))
      note(change, .linkMute, scope, category, before, choice, after: AuditText.linkMuted)
    } else {
      let change = choice.made.merge(Stamped(state, atMs: event.atMs, source: event.source))
      note(change, .choice, scope, category, before, choice, after: "\(state.name)")
    }
    setChoice(choice, scope, category)
  }

  mutating func undoLink(_ category: Category) {
    var choice = user.account.choices[category] ?? CategoryChoice()
    let before = choice
    let change = choice.link.merge(
      Stamped(false, atMs: event.atMs, source: .unsubscribeLink))
    note(change, .linkMute, .account, category, before, choice, after: AuditText.linkUndone)
    setChoice(choice, .account, category)
  }

  /// The outcome is judged by what is in force: what a later mute covers has come late.
  private mutating func note(
    _ change: FieldChange, _ kind: AuditKind, _ scope: PreferenceScope, _ category: Category,
    _ before: CategoryChoice, _ choice: CategoryChoice, after: String
  ) {
    var outcome = EventOutcome.applied
    var reason = absenceNote(scope)
    if choice.inForce == before.inForce {
      outcome = change == .unchanged ? .unchanged : .late
      if change == .applied || change == .confirmed, after == AuditText.linkUndone {
        // Recorded all the same: a mute dated before it that is still on its way is undone too.
        outcome = .unchanged
        reason = AuditText.nothingToUndo
      }
    } else if choice.state == before.state, before.inForce != nil {
      outcome = .confirmed
    }
    note(
      outcome, kind, scope: scope, category: category,
      before: before.inForce.map { "\($0.value.name)" }, after: after, reason: reason,
      isRecorded: change != .unchanged)
  }

  mutating func setMute(_ subtype: Subtype, _ isMuted: Bool) {
    let before = user.account.mutes[subtype]
    let change = user.account.mutes[subtype]
      .merge(Stamped(isMuted, atMs: event.atMs, source: event.source))
    note(
      change.outcome, .subtypeMute, category: subtype.category, subject: subtype.name,
      before: before.map { AuditText.mute($0.value) }, after: AuditText.mute(isMuted),
      isRecorded: change != .unchanged)
  }

  mutating func setQuietHours(_ scope: PreferenceScope, _ window: WindowSetting) {
    let new = Stamped(window, atMs: event.atMs, source: event.source)
    let before: Stamped<WindowSetting>?
    let change: FieldChange
    switch scope {
    case .account:
      before = user.account.quietHours
      change = user.account.quietHours.merge(new)
    case .device(let id):
      before = user.devices[id]?.quietHours
      change = user.devices[id, default: DevicePreferences()].quietHours.merge(new)
    }
    note(
      change.outcome, .quietHours, scope: scope, before: before.map { AuditText.window($0.value) },
      after: AuditText.window(window), reason: absenceNote(scope),
      isRecorded: change != .unchanged)
  }

  mutating func setTimezone(_ zone: ZoneSetting) {
    let before = user.account.timezone
    let change = user.account.timezone.merge(
      Stamped(zone, atMs: event.atMs, source: event.source))
    note(
      change.outcome, .timezone, before: before.map { AuditText.zone($0.value) },
      after: AuditText.zone(zone), isRecorded: change != .unchanged)
  }

  mutating func setSMS(_ state: Choice) {
    let before = user.account.sms
    let change = user.account.sms.merge(Stamped(state, atMs: event.atMs, source: event.source))
    note(
      change.outcome, .smsConsent, before: before.map { "\($0.value.name)" },
      after: "\(state.name)", isRecorded: change != .unchanged)
  }

  mutating func setSuppression(
    _ scope: PreferenceScope, _ suppression: Suppression, _ isSet: Bool, reason: String? = nil
  ) {
    let new = Stamped(isSet, atMs: event.atMs, source: event.source)
    let before: Stamped<Bool>?
    let change: FieldChange
    switch scope {
    case .account:
      before = user.account.suppressions[suppression]
      change = user.account.suppressions[suppression].merge(new)
    case .device(let id):
      before = user.devices[id]?.suppressions[suppression]
      change = user.devices[id, default: DevicePreferences()].suppressions[suppression].merge(new)
    }
    note(
      change.outcome, .suppression, scope: scope, subject: Identifier("\(suppression.name)"),
      before: before.map { AuditText.suppression($0.value) },
      after: AuditText.suppression(isSet), reason: reason ?? absenceNote(scope),
      isRecorded: change != .unchanged)
  }

  // MARK: Scopes

  func choices(_ scope: PreferenceScope) -> [Category: CategoryChoice] {
    switch scope {
    case .account: user.account.choices
    case .device(let id): user.devices[id]?.choices ?? [:]
    }
  }

  private mutating func setChoice(
    _ choice: CategoryChoice, _ scope: PreferenceScope, _ category: Category
  ) {
    switch scope {
    case .account: user.account.choices[category] = choice
    case .device(let id):
      user.devices[id, default: DevicePreferences()].choices[category] = choice
    }
  }

  /// What is chosen on a device that is not (yet, or any more) the user's is kept for when it is: an
  /// opt-out must not be lost because a registration came after it.
  private func absenceNote(_ scope: PreferenceScope) -> String? {
    guard case .device(let id) = scope, user.devices[id]?.isPresent != true else { return nil }
    return AuditText.deviceAbsent
  }
}
