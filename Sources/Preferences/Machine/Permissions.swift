import Gate

/// Who may set what.
extension PreferenceMachine {
  /// Nil where the event is allowed.
  func refusal(_ event: PreferenceEvent, _ known: KnownState) -> Refusal? {
    let isLink = event.source == .unsubscribeLink
    switch event.body {
    case .choiceSet(let scope, let category, let state):
      if category == .security, state == .userOff, event.source != .adminOverride {
        return .securityNeedsAdmin
      }
      if isLink, scope != .account || state != .userOff || !category.carriesLink {
        return .linkOnlyMutes
      }
    case .linkUndone(let category):
      if !category.carriesLink { return .linkOnlyMutes }
    case .subtypeMuteSet(let subtype, let isMuted):
      if subtype.category == .security { return .securityNeverMuted }
      if isLink { return .linkOnlyMutes }
      // What was muted under an earlier policy can still be unmuted.
      if isMuted, !isMutable(subtype) { return .subtypeNotMutable }
    case .quietHoursSet, .smsConsentSet:
      if isLink { return .linkOnlyMutes }
    case .timezoneSet(let setting):
      if isLink { return .linkOnlyMutes }
      if let refusal = refusal(ofZone: setting.zone) { return refusal }
    case .deviceSeen(_, let sync, _):
      if let refusal = refusal(ofZone: sync.timezone) { return refusal }
    case .deviceRemoved, .suppressionSet, .suppressionCleared, .permissionPromptShown,
      .tokenFeedback, .userErased, .userObserved:
      break
    }
    return nil
  }

  private func isMutable(_ subtype: Subtype) -> Bool {
    policy.mutableSubtypes(subtype.category).contains { Identifier($0) == subtype.name }
  }

  private func refusal(ofZone zone: Identifier?) -> Refusal? {
    guard let zone, !zones.isKnown(zone.text) else { return nil }
    return .unknownZone(closeMatches: zones.suggestions(for: zone.text))
  }
}
