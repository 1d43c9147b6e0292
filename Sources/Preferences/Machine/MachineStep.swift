import Gate

/// One allowed event on its way through the machine: the states as they become, and the rows.
struct MachineStep {
  let event: PreferenceEvent
  let known: KnownState
  let nowMs: Int64

  var user: UserPreferences
  var holder: UserPreferences?
  var device: SharedDevice?
  var releasedDevices: [Identifier] = []
  private(set) var rows: [AuditRow] = []
  private var changes: [EventOutcome] = []

  init(event: PreferenceEvent, known: KnownState, nowMs: Int64) {
    self.event = event
    self.known = known
    self.nowMs = nowMs
    user = known.user ?? UserPreferences(userID: event.userID)
    holder = known.holder
    device = known.device
  }

  mutating func run(promptMoments: [String]) {
    switch event.body {
    case .choiceSet(let scope, let category, let state): setChoice(scope, category, state)
    case .linkUndone(let category): undoLink(category)
    case .subtypeMuteSet(let subtype, let isMuted): setMute(subtype, isMuted)
    case .quietHoursSet(let scope, let window): setQuietHours(scope, window)
    case .timezoneSet(let zone): setTimezone(zone)
    case .smsConsentSet(let state): setSMS(state)
    case .suppressionSet(let scope, let suppression): setSuppression(scope, suppression, true)
    case .suppressionCleared(let scope, let suppression): setSuppression(scope, suppression, false)
    case .deviceSeen(let id, let sync, let token): seeDevice(id, sync, token)
    case .deviceRemoved(let id): removeDevice(id)
    case .permissionPromptShown(let id, let moment): showPrompt(id, moment, promptMoments)
    case .tokenFeedback(let id, let provider, let code): takeFeedback(id, provider, code)
    case .userObserved, .userErased: break
    }
    makeRoom()
  }

  // MARK: Rows

  /// Whether something happened to a field, and the row of it. A field that already holds exactly
  /// that has no row.
  mutating func note(
    _ outcome: EventOutcome, _ kind: AuditKind, scope: PreferenceScope = .account,
    category: Category? = nil, subject: Identifier? = nil, before: String?, after: String?,
    reason: String? = nil, isRecorded: Bool = true
  ) {
    changes.append(outcome)
    guard isRecorded else { return }
    add(
      row(
        kind, of: event.userID, scope: scope, category: category, subject: subject, before: before,
        after: after, outcome: outcome, reason: reason))
  }

  mutating func add(_ row: AuditRow) { rows.append(row) }

  func row(
    _ kind: AuditKind, of user: Identifier, scope: PreferenceScope, category: Category? = nil,
    subject: Identifier? = nil, before: String?, after: String?, outcome: EventOutcome,
    reason: String? = nil
  ) -> AuditRow {
    AuditRow(
      userID: user, scope: scope, kind: kind, category: category, subject: subject, before: before,
      after: after, atMs: event.atMs, recordedAtMs: nowMs, source: event.source,
      eventID: event.eventID, outcome: outcome, reason: reason)
  }

  // MARK: What comes of it

  func finish() -> Transition {
    var transition = Transition(outcome: outcome)
    transition.rows = rows
    if case .userObserved(let notification, let device, let via) = event.body {
      transition.observed = ObservedReceipt(
        userID: event.userID, deviceID: device, notificationID: notification, via: via,
        atMs: event.atMs)
    }
    (transition.user, transition.userDocument) = Self.saved(user, before: known.user)
    (transition.holder, transition.holderDocument) = Self.saved(holder, before: known.holder)
    if device != known.device { transition.device = device }
    transition.releasedDevices = releasedDevices
    return transition
  }

  /// What happened to the event as a whole: the most that happened to any field.
  private var outcome: EventOutcome {
    let order: [EventOutcome] = [.applied, .late, .confirmed]
    return order.first(where: changes.contains) ?? .unchanged
  }

  /// The state to save and the document to publish; nil where they are as before.
  static func saved(
    _ after: UserPreferences?, before: UserPreferences?
  ) -> (UserPreferences?, document: String?) {
    guard var after, after != before else { return (nil, nil) }
    // Version 0: a user of whom only refusals are on record has no document yet.
    if let before, before.version > 0,
      PreferenceDocument.facts(before) == PreferenceDocument.facts(after)
    {
      return (after, nil)
    }
    after.version += 1
    return (after, PreferenceDocument.text(after))
  }
}

extension FieldChange {
  var outcome: EventOutcome {
    switch self {
    case .applied: .applied
    case .confirmed: .confirmed
    case .unchanged: .unchanged
    case .late: .late
    }
  }
}
