import Gate

/// Erasure (requirements L4).
extension PreferenceMachine {
  /// Takes away everything dated up to the event; and everything, where nothing is dated more than
  /// the tolerance for clocks after it: somebody who asks to be erased must not stay because a phone
  /// was four minutes ahead. What is dated later still belongs to a user who came back since.
  /// One without an instant of its own takes everything that is there now, whatever its date.
  func erase(_ event: PreferenceEvent, _ known: KnownState, _ nowMs: Int64) -> Transition {
    // It was done; what is there now came afterwards.
    if let erased = known.userErasedAtMs, event.atMs <= erased, known.user == nil || !event.isOfNow
    {
      return Transition(outcome: .unchanged)
    }
    var transition = Transition(outcome: .applied)
    let latestMs = known.user?.instants.max() ?? event.atMs
    guard let user = known.user, !event.isOfNow, latestMs > event.atMs + Self.aheadMsMax else {
      transition.isErased = true
      transition.erasedAtMs = max(event.atMs, latestMs, known.userErasedAtMs ?? event.atMs)
      transition.releasedDevices = heldDevices(known.user)
      return transition
    }
    transition.erasedAtMs = max(event.atMs, known.userErasedAtMs ?? event.atMs)
    // As what comes later is taken: dated within the tolerance it may be of before.
    let throughMs = transition.erasedAtMs! + Self.aheadMsMax
    transition.erasedThroughMs = throughMs
    var left = user.after(throughMs)
    let released = Set(heldDevices(user)).subtracting(heldDevices(left))
    transition.releasedDevices = released.sorted()
    // Also where it says what the one before said: the tombstone takes that one off the topic, and it
    // may not have been published yet, which the erasure puts an end to.
    left.version += 1
    transition.user = left
    transition.userDocument = PreferenceDocument.text(left)
    return transition
  }

  private func heldDevices(_ user: UserPreferences?) -> [Identifier] {
    (user?.devices ?? [:]).filter(\.value.isHeld).keys.sorted()
  }
}

extension UserPreferences {
  /// The instants of everything kept.
  var instants: [Int64] {
    var all = account.choices.values.flatMap(\.instants) + account.mutes.values.map(\.atMs)
    all += account.suppressions.values.map(\.atMs)
    all += [account.quietHours?.atMs, account.timezone?.atMs, account.sms?.atMs].compactMap { $0 }
    return all + devices.values.flatMap(\.instants)
  }

  /// What is left of it without everything dated up to that instant.
  func after(_ ms: Int64) -> UserPreferences {
    var left = self
    left.account.choices = account.choices.compactMapValues { $0.after(ms) }
    left.account.mutes = account.mutes.filter { $0.value.atMs > ms }
    left.account.suppressions = account.suppressions.filter { $0.value.atMs > ms }
    left.account.quietHours = account.quietHours.after(ms)
    left.account.timezone = account.timezone.after(ms)
    left.account.sms = account.sms.after(ms)
    left.devices = devices.compactMapValues { $0.after(ms) }
    return left
  }
}

extension CategoryChoice {
  fileprivate var instants: [Int64] { [made?.atMs, link?.atMs].compactMap { $0 } }

  fileprivate func after(_ ms: Int64) -> CategoryChoice? {
    let left = CategoryChoice(made: made.after(ms), link: link.after(ms))
    return left == CategoryChoice() ? nil : left
  }
}

extension DevicePreferences {
  var instants: [Int64] {
    choices.values.flatMap(\.instants) + suppressions.values.map(\.atMs)
      + [quietHours?.atMs, sync?.atMs, token?.atMs, lastSeenMs, removedMs].compactMap { $0 }
  }

  /// Nil where nothing is left. The first time it was seen becomes the last: what was before is gone.
  fileprivate func after(_ ms: Int64) -> DevicePreferences? {
    var left = self
    left.choices = choices.compactMapValues { $0.after(ms) }
    left.suppressions = suppressions.filter { $0.value.atMs > ms }
    left.quietHours = quietHours.after(ms)
    left.sync = sync.after(ms)
    left.token = token.after(ms)
    if let first = firstSeenMs, first <= ms {
      left.lastSeenMs = lastSeenMs.flatMap { $0 > ms ? $0 : nil }
      left.firstSeenMs = left.lastSeenMs
    }
    left.removedMs = removedMs.flatMap { $0 > ms ? $0 : nil }
    if left.lastSeenMs == nil { left.isHeld = false }
    return left == DevicePreferences() ? nil : left
  }
}

extension Optional {
  fileprivate func after<Value>(_ ms: Int64) -> Self where Wrapped == Stamped<Value> {
    flatMap { $0.atMs > ms ? $0 : nil }
  }
}
