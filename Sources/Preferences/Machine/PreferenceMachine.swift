import Gate

/// The rules of the preference service as total functions: the state before and an event give the
/// state after, audit rows and documents, or a refusal. No clock, no I/O; the same events in any
/// order, each once or many times, lead to the same state.
public struct PreferenceMachine: Sendable {
  /// How far ahead of this clock an event may be dated.
  public static let aheadMsMax: Int64 = 5 * 60_000
  /// Kept of one user, with those that went to others or were removed; of more, the one goes that has been
  /// away for longest. The document has at most 64.
  public static let devicesMax = 256

  let policy: Policy
  let zones: any ZoneNames

  public init(policy: Policy, zones: any ZoneNames) {
    self.policy = policy
    self.zones = zones
  }

  /// One event of a user.
  ///
  /// Where the event is about a device that another user holds, that user must be in `known`.
  public func apply(_ event: PreferenceEvent, to known: KnownState, nowMs: Int64) -> Transition {
    var event = event
    // It was dated by this clock, which may have been set back since.
    if event.isOfNow { event.atMs = min(event.atMs, nowMs) }
    if event.atMs > nowMs + Self.aheadMsMax {
      return refuse(event, .aheadOfTime, known, nowMs)
    }
    if event.body == .userErased { return erase(event, known, nowMs) }
    event = known.dated(event)
    // Whoever was erased is not brought back by what comes late, nor by what a fast clock dated a little
    // after; nothing is put on record.
    if !event.isOfNow, let erased = known.userErasedAtMs, event.atMs <= erased + Self.aheadMsMax {
      return passBy(event, .erased, known)
    }
    if known.user == nil, !event.canBegin { return passBy(event, .unknownUser, known) }
    if let refusal = refusal(event, known) { return refuse(event, refusal, known, nowMs) }

    var step = MachineStep(event: event, known: known, nowMs: nowMs)
    step.run(promptMoments: policy.promptMoments)
    return step.finish()
  }

  /// Of somebody who is not there nothing is kept, a refusal neither. That the prompt was shown is the
  /// device's all the same: whoever signs in on it next must not be asked again (requirements P1).
  private func passBy(
    _ event: PreferenceEvent, _ refusal: Refusal, _ known: KnownState
  ) -> Transition {
    var transition = Transition(refusal: refusal)
    if case .permissionPromptShown(let id, let moment) = event.body {
      var device = known.device ?? SharedDevice(deviceID: id)
      device.note(PromptShown(atMs: event.atMs, moment: moment))
      if device != known.device { transition.device = device }
    }
    return transition
  }

  /// What is refused is in the audit all the same (requirements C6); of somebody unknown it begins
  /// one, without a document, where the event would have.
  private func refuse(
    _ event: PreferenceEvent, _ refusal: Refusal, _ known: KnownState, _ nowMs: Int64
  ) -> Transition {
    var transition = Transition(refusal: refusal)
    if known.user == nil {
      guard event.canBegin else { return transition }
      transition.user = UserPreferences(userID: event.userID)
    }
    var step = MachineStep(event: event, known: known, nowMs: nowMs)
    step.addRefusal(refusal)
    transition.rows = step.rows
    return transition
  }
}

extension PreferenceEvent {
  /// Whether a user of whom nothing is kept comes into being by it. What a link, a provider or a late
  /// removal says of somebody who is not there (any more) does not make that somebody.
  var canBegin: Bool {
    guard source != .unsubscribeLink else { return false }
    return switch body {
    case .choiceSet, .subtypeMuteSet, .quietHoursSet, .timezoneSet, .smsConsentSet,
      .deviceSeen, .suppressionSet:
      true
    case .linkUndone, .deviceRemoved, .suppressionCleared, .permissionPromptShown, .tokenFeedback,
      .userErased, .userObserved:
      false
    }
  }
}
