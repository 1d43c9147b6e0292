/// What a gate promises without transactions: nothing is lost, nothing is let through against the rules. How
/// often, and in which order, is not promised, so duplicates, caps and supersede are not held against it.
extension Ledger {
  func applyLoosely(_ steps: [(order: Int64, step: CommittedStep)]) {
    countTransaction()
    for (_, step) in steps.sorted(by: { $0.order < $1.order }) {
      switch step {
      case .decision(let decision): take(decision)
      case .holdEnd(let key): endLoosely(key)
      case .receipt: break
      }
    }
  }

  /// Whether a candidate that was committed past has what it must have.
  func isDecided(_ input: Input) -> Bool {
    guard let devices = decided[input.number] else { return false }
    guard !scenario.isExact, !endedWhole.contains(input.number) else { return true }
    // A duplicate of what is on no topic is a candidate that was lost.
    for device in onlyDuplicates[input.number] ?? [] {
      let key = HoldKey(user: input.user, notification: input.notification, device: device)
      if seen[SeenKey(lane: input.lane, hold: key)] == nil { return false }
    }
    // Which devices there were depends on who decided last, where they come and go.
    let all = expected[input.number] ?? []
    return scenario.losesDevices || all == [""] || devices.isSuperset(of: all)
  }

  private func take(_ decision: Decision) {
    guard inputs.indices.contains(decision.number) else {
      return fail("at least once", "decided what was never issued: \(decision.words)")
    }
    let input = inputs[decision.number]
    guard input.lane == decision.lane, input.partition == decision.partition,
      input.user == decision.user, input.notification == decision.notification
    else { return fail("at least once", "decided otherwise: \(decision.words)") }
    judgeLoosely(decision, input)
    count(decision)
    let key = decision.holdKey
    switch (decision.outcome, decision.heldSinceMs) {
    case ("deferred", _): holdLoosely(decision, input)
    case (_, .some): holds[key]?.isEnded = true
    default: break
    }
    if decision.outcome != "deferred", decision.reason != "duplicate" {
      everEnded.insert(key)
      if decision.device.isEmpty { endedWhole.insert(decision.number) }
    }
    if decision.outcome != "dropped" {
      seen[SeenKey(lane: input.lane, hold: key)] = decision.decidedAtMs
    }
    guard decision.heldSinceMs == nil else { return }
    let isNew = decided[input.number, default: []].insert(decision.device).inserted
    if decision.reason != "duplicate" {
      onlyDuplicates[input.number]?.remove(decision.device)
    } else if isNew {
      onlyDuplicates[input.number, default: []].insert(decision.device)
    }
  }

  private func judgeLoosely(_ decision: Decision, _ input: Input) {
    switch (decision.reason, decision.heldSinceMs) {
    case ("superseded", .some): break
    case ("expired", _), ("unknown_user", nil), ("unknown_device", nil), ("no_devices", nil):
      if decision.heldSinceMs == nil { expected[input.number] = [input.device ?? ""] }
      checkCandidateItself(decision, input)
    default: judge(decision, input, heldSinceMs: decision.heldSinceMs)
    }
  }

  private func holdLoosely(_ decision: Decision, _ input: Input) {
    holds[decision.holdKey] = Hold(
      input: input, firstDecidedAtMs: decision.heldSinceMs ?? decision.decidedAtMs,
      decidedAtMs: decision.decidedAtMs, deliverAfterMs: decision.deliverAfterMs ?? 0,
      documentOffset: decision.preferenceOffset ?? -1, zones: decision.zones)
  }

  private func endLoosely(_ key: [UInt8]) {
    let parts = key.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    guard parts.count == 3 else { return fail("hold", "a null value under no hold's key") }
    let name = HoldKey(user: parts[0], notification: parts[1], device: parts[2])
    guard holds.removeValue(forKey: name) != nil, !everEnded.contains(name) else { return }
    let wasErased = (documents[name.user] ?? []).contains { $0.document == nil }
    if !wasErased { fail("hold", "the hold \(name) ended without a record") }
  }

  /// Held by what the topic says, and not ended in any other way: what must leave in the end. What was
  /// written before the offsets were refused stays on the topic, and may be decided otherwise the second
  /// time; it is ended when the partition is next read back.
  var mustLeave: [HoldKey: Hold] {
    guard !scenario.isExact else { return holds }
    return holds.filter {
      !everEnded.contains($0.key) && !endedWhole.contains($0.value.input.number)
    }
  }
}
