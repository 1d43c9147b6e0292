import Gate

/// What becomes of what is held: it leaves once, in time, or ends for a reason.
extension Ledger {
  func hold(_ decision: Decision, _ input: Input) {
    let key = decision.holdKey
    if holds[key] != nil { fail("hold", "held twice: \(decision.words)") }
    holds[key] = Hold(
      input: input, firstDecidedAtMs: decision.decidedAtMs, decidedAtMs: decision.decidedAtMs,
      deliverAfterMs: decision.deliverAfterMs ?? 0,
      documentOffset: decision.preferenceOffset ?? -1, zones: decision.zones)
  }

  func noteSuperseded(
    by decision: Decision, _ input: Input, _ mustBeSuperseded: inout [HoldKey: String]
  ) {
    // The security lane holds nothing, and knows nothing of what the other one holds.
    guard input.lane == .ordinary, let collapse = input.collapseKey else { return }
    for (key, hold) in holds
    where key.user == input.user && key.device == decision.device && !hold.isEnded
      && hold.input.collapseKey == collapse && key.notification != input.notification
      && mustBeSuperseded[key] == nil
    {
      mustBeSuperseded[key] = input.notification
    }
  }

  func ofHold(
    _ decision: Decision, _ mustBeSuperseded: inout [HoldKey: String]
  ) {
    let key = decision.holdKey
    guard var hold = holds[key], !hold.isEnded else {
      return fail("hold", "there is no such hold, or not any more: \(decision.words)")
    }
    guard hold.firstDecidedAtMs == decision.heldSinceMs, hold.input.number == decision.number
    else { return fail("hold", "linked to another decision: \(decision.words)") }
    if decision.carried != "\(hold.input.partition)-\(hold.input.offset)" {
      fail("hold", "its headers are another's, \(decision.carried): \(decision.words)")
    }
    if decision.reason == "superseded" {
      guard let by = mustBeSuperseded.removeValue(forKey: key), by == decision.supersededBy else {
        return fail("supersede", "nothing takes its place: \(decision.words)")
      }
    } else {
      // A hold that must be superseded was, before anything else.
      if mustBeSuperseded[key] != nil, !wasErased(key) {
        fail("supersede", "decided again: \(decision.words)")
      }
      decideAgain(decision, hold)
    }
    if decision.outcome == "deferred" {
      hold.decidedAtMs = decision.decidedAtMs
      hold.deliverAfterMs = decision.deliverAfterMs ?? 0
      hold.documentOffset = decision.preferenceOffset ?? -1
      hold.zones = decision.zones
    } else {
      hold.isEnded = true
      if decision.outcome == "approved" { countApproval(decision, hold.input) }
    }
    holds[key] = hold
  }

  private func decideAgain(
    _ decision: Decision, _ hold: Hold
  ) {
    guard decision.reason == "expired" else {
      judge(decision, hold.input, heldSinceMs: hold.firstDecidedAtMs)
      return checkNotEarly(decision, hold)
    }
    // Row 4 concerns the candidate: the preferences have no part in it.
    let isExpired = hold.input.expiresAtMs.map { $0 <= decision.decidedAtMs } ?? false
    if !isExpired { fail("decision", "is not expired: \(decision.words)") }
  }

  /// Before its time only by other preferences or zones, or by a clock that stands before the window.
  private func checkNotEarly(_ decision: Decision, _ hold: Hold) {
    guard decision.decidedAtMs < hold.deliverAfterMs, decision.decidedAtMs >= hold.decidedAtMs,
      decision.preferenceOffset == hold.documentOffset, decision.zones == hold.zones
    else { return }
    fail("early release", "was to wait until \(hold.deliverAfterMs): \(decision.words)")
  }

  /// Since the hold was made: it ends without a record then, also where its user is back.
  func wasErased(_ key: HoldKey) -> Bool {
    // Ended already, in the same transaction, as `endHold` lets only those of the erased.
    guard let hold = holds[key] else { return true }
    return (documents[key.user] ?? []).contains {
      $0.document == nil && $0.offset > hold.documentOffset
    }
  }

  func endHold(_ key: [UInt8]) {
    let parts = key.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    guard parts.count == 3 else { return fail("hold", "a null value under no hold's key") }
    let name = HoldKey(user: parts[0], notification: parts[1], device: parts[2])
    guard let hold = holds.removeValue(forKey: name) else {
      return fail("hold", "a null value for \(name), which is not held")
    }
    if hold.isEnded { return }
    // Without a record only where its user was erased.
    let wasErased = (documents[name.user] ?? []).contains { $0.document == nil }
    if !wasErased { fail("hold", "the hold \(name) ended without a record") }
  }
}
