import Gate

/// The row of an event that is refused: what it asked for, beside what holds on.
extension MachineStep {
  mutating func addRefusal(_ refusal: Refusal) {
    guard let asked else { return }
    add(
      row(
        asked.kind, of: event.userID, scope: asked.scope, category: asked.category,
        subject: asked.subject, before: asked.before, after: asked.after, outcome: .refused,
        reason: refusal.code))
  }

  private struct Asked {
    var kind: AuditKind
    var scope = PreferenceScope.account
    var category: Category?
    var subject: Identifier?
    var before: String?
    var after: String?
  }

  /// Nil where the event sets nothing of a user.
  private var asked: Asked? {
    switch event.body {
    case .choiceSet(let scope, let category, let state):
      Asked(
        kind: .choice, scope: scope, category: category,
        before: choices(scope)[category]?.inForce.map { "\($0.value.name)" },
        after: "\(state.name)")
    case .linkUndone(let category):
      Asked(kind: .linkMute, category: category, after: AuditText.linkUndone)
    case .subtypeMuteSet(let subtype, let isMuted):
      Asked(
        kind: .subtypeMute, category: subtype.category, subject: subtype.name,
        before: user.account.mutes[subtype].map { AuditText.mute($0.value) },
        after: AuditText.mute(isMuted))
    case .quietHoursSet(let scope, let window):
      Asked(kind: .quietHours, scope: scope, after: AuditText.window(window))
    case .timezoneSet(let zone):
      Asked(
        kind: .timezone, before: user.account.timezone.map { AuditText.zone($0.value) },
        after: AuditText.zone(zone))
    case .smsConsentSet(let state):
      Asked(
        kind: .smsConsent, before: user.account.sms.map { "\($0.value.name)" },
        after: "\(state.name)")
    case .suppressionSet(let scope, let suppression):
      Asked(
        kind: .suppression, scope: scope, subject: Identifier("\(suppression.name)"),
        after: AuditText.suppression(true))
    case .suppressionCleared(let scope, let suppression):
      Asked(
        kind: .suppression, scope: scope, subject: Identifier("\(suppression.name)"),
        after: AuditText.suppression(false))
    case .deviceSeen(let id, let sync, _):
      Asked(
        kind: .deviceSync, scope: .device(id),
        before: user.devices[id]?.sync.map { AuditText.sync($0.value) },
        after: AuditText.sync(sync))
    case .deviceRemoved(let id):
      Asked(kind: .deviceRemoved, scope: .device(id), after: AuditText.removed)
    case .permissionPromptShown(let id, let moment):
      Asked(kind: .promptShown, scope: .device(id), after: moment.text)
    case .tokenFeedback(let id, _, let code):
      Asked(kind: .tokenStatus, scope: .device(id), after: code)
    case .userErased: Asked(kind: .erasure)
    case .userObserved: nil
    }
  }
}
