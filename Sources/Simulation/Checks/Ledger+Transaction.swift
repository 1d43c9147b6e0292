import Gate

/// What a committed transaction did.
enum CommittedStep {
  case decision(Decision)
  /// A null value on the deferred topic.
  case holdEnd(key: [UInt8])
  case receipt(partition: Int32, offset: Int64)
}

/// The promises, checked at each commit in the order in which the gate did things.
extension Ledger {
  /// Of one transaction, or of several that were committed at the same time.
  func apply(_ steps: [(order: Int64, step: CommittedStep)]) {
    countTransaction()
    var touched: [Int: Decision] = [:]
    var mustBeSuperseded: [HoldKey: String] = [:]
    for (order, step) in steps.sorted(by: { $0.order < $1.order }) {
      switch step {
      case .decision(let decision):
        if decision.heldSinceMs == nil {
          touched[decision.number] = decision
          first(decision, &mustBeSuperseded)
        } else {
          ofHold(decision, &mustBeSuperseded)
        }
        count(decision)
      case .holdEnd(let key): endHold(key)
      case .receipt(let partition, let offset):
        guard let receipt = receipt(partition, offset) else { continue }
        onReceipt(order, receipt)
        caps.answered(
          receipt.user, receipt.notification, receipt.device, isAccepted: receipt.isAccepted,
          latestMs: wall.latestReadMs)
      }
    }
    let stays = mustBeSuperseded.filter { !wasErased($0.key) }
    if let (key, by) = stays.min(by: { $0.key < $1.key }) {
      fail("supersede", "the hold \(key) stays beside \(by), which takes its place")
    }
    if let key = holds.filter({ $0.value.isEnded }).keys.min() {
      fail("hold", "the hold \(key) ended and has no null value: it will be released again")
    }
    for (number, decision) in touched.sorted(by: { $0.key < $1.key })
    where decided[number] != expected[number] {
      fail(
        "exactly once",
        "candidate \(number) was decided for \(decided[number]!.sorted()) and not for "
          + "\(expected[number]!.sorted()): \(decision.words)")
    }
  }

  // MARK: First decisions

  private func first(
    _ decision: Decision, _ mustBeSuperseded: inout [HoldKey: String]
  ) {
    guard inputs.indices.contains(decision.number) else {
      return fail("exactly once", "decided what was never issued: \(decision.words)")
    }
    let input = inputs[decision.number]
    guard input.lane == decision.lane, input.partition == decision.partition,
      input.user == decision.user, input.notification == decision.notification
    else { return fail("exactly once", "decided elsewhere or otherwise: \(decision.words)") }
    guard decided[input.number, default: []].insert(decision.device).inserted else {
      return fail("exactly once", "decided twice: \(decision.words)")
    }
    checkOrder(decision, input)
    if ["expired", "unknown_user", "unknown_device", "no_devices"].contains(decision.reason) {
      expected[input.number] = [input.device ?? ""]
      checkCandidateItself(decision, input)
    } else {
      judge(decision, input, heldSinceMs: nil)
    }
    guard decision.outcome != "dropped" else { return }
    seen[SeenKey(lane: input.lane, hold: decision.holdKey)] = decision.decidedAtMs
    noteSuperseded(by: decision, input, &mustBeSuperseded)
    if decision.outcome == "approved" {
      countApproval(decision, input)
    } else {
      hold(decision, input)
    }
  }

  private func checkOrder(_ decision: Decision, _ input: Input) {
    let key = "\(decision.topic) \(input.lane) \(input.user)"
    if let newest = newestInTopic[key], newest > input.offset {
      fail("order", "came behind the candidate at \(newest): \(decision.words)")
    }
    newestInTopic[key] = input.offset
  }

  /// Rows 4 and 5.
  func checkCandidateItself(
    _ decision: Decision, _ input: Input
  ) {
    let isExpired = input.expiresAtMs.map { $0 <= decision.decidedAtMs } ?? false
    guard (decision.reason == "expired") == isExpired else {
      return fail("decision", "expiry is \(isExpired): \(decision.words)")
    }
    guard !isExpired else { return }
    let entries = documents[input.user] ?? []
    let least = leastIndex(entries, decision)
    guard decision.reason == "unknown_user" else {
      guard let document = document(of: decision, entries) else { return }
      let isThere =
        input.device.map { id in document.devices.contains { $0.id == id } }
        ?? !document.devices.isEmpty
      let isRight = !isThere && (decision.reason == "unknown_device") == (input.device != nil)
      if !isRight { fail("decision", "its devices are \(document.devices): \(decision.words)") }
      return
    }
    let mayBeAbsent = least < 0 || entries[least...].contains { $0.document == nil }
    if !mayBeAbsent { fail("preferences", "its document was there: \(decision.words)") }
  }

  /// Of the user's documents the one that has to be known, at least.
  private func leastIndex(
    _ entries: [DocumentEntry], _ decision: Decision
  ) -> Int {
    // A lane decides when everything was read that was there when the process started, and, where it
    // minds staleness, what was there so long before its turn.
    var knownMs = decision.startedAtMs
    if decision.lane == .ordinary { knownMs = max(knownMs, decision.turnMs - SimTimes.staleMs) }
    return (entries.lastIndex { $0.visibleAtMs < knownMs } ?? -1)
  }

  /// The document that a decision names, which must not be too old.
  private func document(of decision: Decision, _ entries: [DocumentEntry]) -> Document? {
    guard let index = entries.firstIndex(where: { $0.offset == decision.preferenceOffset }),
      let document = entries[index].document
    else {
      fail("preferences", "names no document of its user: \(decision.words)")
      return nil
    }
    if index < leastIndex(entries, decision) {
      fail("preferences", "made by a document that is too old: \(decision.words)")
    }
    return document
  }

  /// Holds a decision against the table, with the document that it names.
  func judge(
    _ decision: Decision, _ input: Input, heldSinceMs: Int64?
  ) {
    guard let document = document(of: decision, documents[input.user] ?? []) else {
      expected[input.number] = decided[input.number]
      return
    }
    if heldSinceMs == nil {
      expected[input.number] = Set(input.device.map { [$0] } ?? document.devices.map(\.id))
    }
    let device = document.devices.first { $0.id == decision.device }
    guard let version = Int(decision.zones.dropFirst(3)), device != nil || heldSinceMs != nil else {
      return fail("decision", "of a device that is not there: \(decision.words)")
    }
    var question = Rules.Question(
      input: input, device: device, document: document, nowMs: decision.decidedAtMs,
      heldSinceMs: heldSinceMs, holdMsMax: scenario.holdHoursMax * 3_600_000,
      zonesVersion: version, isDuplicate: false, isCapped: false)
    var verdicts: [Rules.Verdict] = []
    for isDuplicate in mayBeDuplicate(decision, input) {
      for isCapped in mayBeCapped(decision, input, { Rules.day(document, $0, version) }) {
        (question.isDuplicate, question.isCapped) = (isDuplicate, isCapped)
        verdicts.append(Rules.judge(question))
      }
    }
    let given = Rules.Verdict(
      outcome: decision.outcome, reason: decision.reason,
      deliverAfterMs: decision.deliverAfterMs)
    guard !verdicts.contains(given) else { return }
    fail(
      rule(of: given, verdicts[0]),
      "should be \(verdicts[0].outcome) \(verdicts[0].reason)"
        + "\(verdicts[0].deliverAfterMs.map { " until \($0)" } ?? ""): \(decision.words)"
        + "\(decision.deliverAfterMs.map { " until \($0)" } ?? "")")
  }

  private func rule(of given: Rules.Verdict, _ right: Rules.Verdict) -> String {
    let reasons = [given.reason, right.reason]
    if reasons.contains("duplicate") { return "duplicates" }
    if reasons.contains("frequency_capped") { return "caps" }
    return "decision"
  }

  /// What is held was let through, however long ago. Both where a clock that was ahead may have made the gate forget.
  private func mayBeDuplicate(_ decision: Decision, _ input: Input) -> [Bool] {
    guard scenario.isExact else { return [true, false] }
    if input.lane == .ordinary, let hold = holds[decision.holdKey], !hold.isEnded { return [true] }
    let key = SeenKey(lane: input.lane, hold: decision.holdKey)
    let horizonMs = scenario.horizonHours * 3_600_000
    guard let atMs = seen[key], atMs > decision.decidedAtMs - horizonMs else { return [false] }
    return atMs <= wall.latestReadMs - horizonMs ? [true, false] : [true]
  }

  private func mayBeCapped(
    _ decision: Decision, _ input: Input, _ day: (Int64) -> Int64
  ) -> [Bool] {
    guard scenario.isExact else { return [true, false] }
    let horizonMs = max(scenario.horizonHours * 3_600, scenario.capMemorySeconds) * 1_000
    var answers: [Bool] = []
    for forgottenMs in [.min, wall.latestReadMs - horizonMs] {
      for countsUncertain in [true, false] {
        answers.append(
          caps.isUsedUp(
            input.user, input.category, input.notification, nowMs: decision.decidedAtMs,
            forgottenMs: forgottenMs, countsUncertain: countsUncertain, day: day))
      }
    }
    return answers.allSatisfy { $0 == answers[0] } ? [answers[0]] : [true, false]
  }

  func countApproval(_ decision: Decision, _ input: Input) {
    caps.approved(
      input.user, input.category, input.notification, decision.device,
      atMs: decision.decidedAtMs)
  }
}
