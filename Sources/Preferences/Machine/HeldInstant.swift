import Gate

/// Events whose sender named no instant.
extension KnownState {
  /// The event as it counts. One of now comes behind what it is to take the place of: else what a fast
  /// clock dated some minutes ahead would hold on, and the event be late without anybody hearing it.
  func dated(_ event: PreferenceEvent) -> PreferenceEvent {
    guard event.isOfNow, let heldAtMs = newest(heldAtMs(event.body), userErasedAtMs) else {
      return event
    }
    var event = event
    // One behind: at the same instant the stricter stays, and a mute would outlive its undoing.
    event.atMs = max(event.atMs, heldAtMs + 1)
    return event
  }

  /// The newest instant of what stands in the way; nil where nothing does.
  private func heldAtMs(_ body: EventBody) -> Int64? {
    let account = user?.account
    switch body {
    case .choiceSet(let scope, let category, _):
      let choices = scope.deviceID.map { device($0).choices } ?? account?.choices
      let choice = choices?[category]
      return newest(choice?.made?.atMs, choice?.link?.atMs)
    case .linkUndone(let category): return account?.choices[category]?.link?.atMs
    case .subtypeMuteSet(let subtype, _): return account?.mutes[subtype]?.atMs
    case .quietHoursSet(let scope, _):
      return (scope.deviceID.map { device($0).quietHours } ?? account?.quietHours)?.atMs
    case .timezoneSet: return account?.timezone?.atMs
    case .smsConsentSet: return account?.sms?.atMs
    case .suppressionSet(let scope, let suppression),
      .suppressionCleared(let scope, let suppression):
      let all = scope.deviceID.map { device($0).suppressions } ?? account?.suppressions
      return all?[suppression]?.atMs
    case .deviceSeen(let id, _, _):
      // Also what takes it away: a removal, and the claim of whoever had it before.
      let own = device(id)
      return newest(own.sync?.atMs, own.token?.atMs, own.removedMs, device?.claimedAtMs)
    case .deviceRemoved(let id): return device(id).lastSeenMs
    case .permissionPromptShown, .tokenFeedback, .userErased, .userObserved: return nil
    }
  }

  private func device(_ id: Identifier) -> DevicePreferences {
    user?.devices[id] ?? DevicePreferences()
  }

  private func newest(_ instants: Int64?...) -> Int64? { instants.compactMap { $0 }.max() }
}
