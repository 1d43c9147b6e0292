import Gate

/// What devices and providers say, and whose a device is.
extension MachineStep {
  /// Registration and foreground sync in one. The latest claim of all users holds the device
  /// (requirements D1), however late an earlier one arrives.
  mutating func seeDevice(_ id: Identifier, _ sync: DeviceSync, _ token: TokenStatus?) {
    var device = user.devices[id] ?? DevicePreferences()
    let before = device
    let source = event.source ?? .osSettingsSync
    let synced = device.sync.merge(Stamped(sync, atMs: event.atMs, source: source))
    device.firstSeenMs = min(device.firstSeenMs ?? event.atMs, event.atMs)
    device.lastSeenMs = max(device.lastSeenMs ?? event.atMs, event.atMs)
    device.isHeld = claim(id)
    user.devices[id] = device

    let presence = AuditText.presence(device)
    if presence != AuditText.presence(before) {
      note(
        device.isPresent ? .applied : .late, .deviceClaimed, scope: .device(id),
        before: AuditText.presence(before), after: AuditText.held)
    }
    note(
      synced.outcome, .deviceSync, scope: .device(id),
      before: before.sync.map { AuditText.sync($0.value) }, after: AuditText.sync(sync),
      isRecorded: synced == .applied || synced == .late)
    if let token { setToken(id, token) }
  }

  /// Whether the device is this user's after the event; takes it from its holder where it becomes so.
  private mutating func claim(_ id: Identifier) -> Bool {
    var shared = device ?? SharedDevice(deviceID: id)
    defer { device = shared }
    if shared.holder == event.userID {
      shared.claimedAtMs = max(shared.claimedAtMs ?? event.atMs, event.atMs)
      return true
    }
    if let claimedAtMs = shared.claimedAtMs {
      guard outranks(claimedAtMs, shared.holder) else { return false }
    }
    if let loser = shared.holder { take(id, from: loser) }
    shared.holder = event.userID
    shared.claimedAtMs = event.atMs
    return true
  }

  /// Two claims of the same instant go by the ids of their users, so that the order of arrival does
  /// not matter; an erased holder's claim stands.
  private func outranks(_ claimedAtMs: Int64, _ holder: Identifier?) -> Bool {
    if event.atMs != claimedAtMs { return event.atMs > claimedAtMs }
    return holder.map { event.userID < $0 } ?? false
  }

  private mutating func take(_ id: Identifier, from loser: Identifier) {
    guard let held = holder, held.userID == loser, let device = held.devices[id] else {
      preconditionFailure("the holder of a device that is claimed must be known")
    }
    var left = device
    left.isHeld = false
    holder!.devices[id] = left
    // Does not say who has it now: that is nobody's business but that user's, nor is the event's id.
    var lost = row(
      .deviceLost, of: loser, scope: .device(id), before: AuditText.presence(device),
      after: AuditText.presence(left), outcome: .applied)
    lost.eventID = Self.anothersEvent
    add(lost)
  }

  /// In place of the id of an event of another user.
  static let anothersEvent = Identifier("of_another_user")

  /// Of more devices than are kept the one goes that has been away for longest; of those that are present
  /// the one last seen longest ago, where none is away. What was chosen on it goes with it.
  mutating func makeRoom() {
    guard user.devices.count > PreferenceMachine.devicesMax else { return }
    let others = user.devices.filter { $0.key != event.deviceID }
    let (id, device) = others.min {
      (
        $0.value.isPresent ? 1 : 0, $0.value.instants.max() ?? 0, $0.key
      ) < ($1.value.isPresent ? 1 : 0, $1.value.instants.max() ?? 0, $1.key)
    }!
    user.devices[id] = nil
    if device.isHeld { releasedDevices.append(id) }
    add(
      row(
        .deviceRemoved, of: event.userID, scope: .device(id), before: AuditText.presence(device),
        after: AuditText.forgotten, outcome: .applied, reason: AuditText.tooManyDevices))
  }

  mutating func removeDevice(_ id: Identifier) {
    var device = user.devices[id] ?? DevicePreferences()
    let before = device
    device.removedMs = max(device.removedMs ?? event.atMs, event.atMs)
    user.devices[id] = device
    let outcome: EventOutcome =
      if device.isPresent != before.isPresent {
        .applied
      } else if device == before, before.removedMs == event.atMs {
        .unchanged
      } else if let lastSeen = device.lastSeenMs, lastSeen > event.atMs || device == before {
        .late
      } else {
        .confirmed
      }
    note(
      outcome, .deviceRemoved, scope: .device(id), before: AuditText.presence(before),
      after: AuditText.removed, isRecorded: outcome != .unchanged)
  }

  private mutating func setToken(_ id: Identifier, _ status: TokenStatus, reason: String? = nil) {
    let before = user.devices[id]?.tokenStatus
    let isFirst = user.devices[id]?.token == nil
    let change = user.devices[id, default: DevicePreferences()].token
      .merge(Stamped(status, atMs: event.atMs, source: event.source))
    // The first word on a token that already counted as that is no transition.
    let outcome: EventOutcome =
      change == .applied && isFirst && before == status ? .confirmed : change.outcome
    note(
      outcome, .tokenStatus, scope: .device(id), before: before.map { "\($0.name)" },
      after: "\(status.name)", reason: reason,
      isRecorded: outcome == .applied || outcome == .late)
  }

  /// A provider's answer (requirements R3). Other codes change nothing.
  mutating func takeFeedback(_ id: Identifier, _ provider: PushProvider, _ code: String) {
    switch ProviderCode.meaning(provider, code) {
    case .tokenExpired: setToken(id, .expired, reason: code)
    case .bounced: setSuppression(.device(id), .bounced, true, reason: code)
    case nil: break
    }
  }

  /// Recorded whether or not it ought to have been shown: that it was is what forbids the next one.
  mutating func showPrompt(_ id: Identifier, _ moment: Identifier, _ moments: [String]) {
    var shared = device ?? SharedDevice(deviceID: id)
    let before = shared.prompt
    let shown = PromptShown(atMs: event.atMs, moment: moment)
    shared.note(shown)
    device = shared
    var reason: String?
    if before != nil {
      reason = "already_prompted"
    } else if !moments.contains(where: { Identifier($0) == moment }) {
      reason = "moment_not_in_policy"
    }
    let outcome: EventOutcome =
      if shared.prompt != before { .applied } else { before == shown ? .unchanged : .late }
    note(
      outcome, .promptShown, scope: .device(id), before: before?.moment.text, after: moment.text,
      reason: reason, isRecorded: outcome != .unchanged)
  }
}

extension SharedDevice {
  /// The first time stays.
  mutating func note(_ shown: PromptShown) {
    guard let held = prompt else {
      prompt = shown
      return
    }
    let isEarlier = (shown.atMs, shown.moment) < (held.atMs, held.moment)
    if isEarlier { prompt = shown }
  }
}

/// What a provider's code says of a token, by the provider's own names.
enum ProviderCode {
  enum Meaning { case tokenExpired, bounced }

  static func meaning(_ provider: PushProvider, _ code: String) -> Meaning? {
    switch (provider, code) {
    case (.apns, "Unregistered"), (.apns, "BadDeviceToken"), (.apns, "DeviceTokenNotForTopic"),
      (.fcm, "UNREGISTERED"):
      .tokenExpired
    case (.fcm, "SENDER_ID_MISMATCH"), (.fcm, "INVALID_ARGUMENT"): .bounced
    default: nil
    }
  }
}
