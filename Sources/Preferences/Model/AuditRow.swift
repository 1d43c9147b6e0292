import Gate

/// What a row of the audit is about.
public enum AuditKind: String, CaseIterable, Sendable {
  case choice
  /// A category muted by an unsubscribe link, or that undone.
  case linkMute = "link_mute"
  case subtypeMute = "subtype_mute"
  case quietHours = "quiet_hours"
  case timezone
  /// The SMS ledger's own trail (requirements L3).
  case smsConsent = "sms_consent"
  /// A device came to this user.
  case deviceClaimed = "device_claimed"
  /// A device went from this user to another (requirements D1).
  case deviceLost = "device_lost"
  case deviceRemoved = "device_removed"
  case deviceSync = "device_sync"
  case tokenStatus = "token_status"
  case suppression
  case promptShown = "permission_prompt_shown"
  case defaultSet = "default_set"
  /// An erasure that was refused; one that was not leaves no row.
  case erasure
  /// An event that could not be read, of which the user could.
  case unreadable
}

/// What became of an event.
public enum EventOutcome: String, CaseIterable, Sendable {
  /// A value is another now.
  case applied
  /// Said again what holds already; its time has moved on.
  case confirmed
  /// Nothing is different: the same event again, or one that changes no state.
  case unchanged
  /// Something later holds, or something stricter of the same instant.
  case late
  /// Not allowed; `reason` says why.
  case refused
}

/// One transition of one field, or the refusal of one. Append-only (requirements C5).
public struct AuditRow: Equatable, Sendable {
  /// The store's to give; 0 until then.
  public var sequence: Int64 = 0
  /// Nil for a change of a default, which is nobody's.
  public var userID: Identifier?
  public var scope: PreferenceScope
  public var kind: AuditKind
  public var category: Category?
  /// The subtype or the suppression it is about.
  public var subject: Identifier?
  /// What the field held before; nil: nothing, or an erasure took it.
  public var before: String?
  /// What the event asked for. Where the outcome is `applied` or `confirmed` the field holds it now.
  public var after: String?
  /// The event's own time.
  public var atMs: Int64
  /// When the service recorded it.
  public var recordedAtMs: Int64
  public var source: ChoiceSource?
  public var eventID: Identifier
  public var outcome: EventOutcome
  /// Code of the refusal or the note; nil where there is nothing to add.
  public var reason: String?

  public init(
    userID: Identifier?, scope: PreferenceScope, kind: AuditKind, category: Category? = nil,
    subject: Identifier? = nil, before: String?, after: String?, atMs: Int64, recordedAtMs: Int64,
    source: ChoiceSource?, eventID: Identifier, outcome: EventOutcome, reason: String? = nil
  ) {
    self.userID = userID
    self.scope = scope
    self.kind = kind
    self.category = category
    self.subject = subject
    self.before = before
    self.after = after
    self.atMs = atMs
    self.recordedAtMs = recordedAtMs
    self.source = source
    self.eventID = eventID
    self.outcome = outcome
    self.reason = reason
  }
}

extension AuditRow {
  /// The record of an event that could not be read, of which the user could: a failure leaves a row
  /// like everything else. Nil where the user could not be read either.
  /// - Parameter fallbackID: where it stood, for an event whose own id could not be read.
  public static func unreadable(
    _ fault: EventFault, fallbackID: Identifier, recordedAtMs: Int64
  ) -> AuditRow? {
    guard let user = fault.userID else { return nil }
    return AuditRow(
      userID: user, scope: .account, kind: .unreadable, subject: Identifier(fault.member),
      before: nil, after: nil, atMs: recordedAtMs, recordedAtMs: recordedAtMs, source: nil,
      eventID: fault.eventID ?? fallbackID, outcome: .refused, reason: fault.code.rawValue)
  }
}
