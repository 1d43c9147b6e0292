/// The second entry to the decision: a stored hold is decided again, on the preferences, policy, zones
/// and instant of now, by the rules of `Decider` (requirements X2). Beside `Engine`, with memory of
/// its own, so that what a batch of candidates has given lives on while their older holds are ended.
///
/// Rows 1 and 6 are not asked again: the one is of input, the other would find the hold itself. Once
/// the bound is reached (the first decision's instant plus `hold_hours_max`) no window counts.
/// Security is never held, so there is one lane only.
public final class Releaser {
  /// The most holds one call takes.
  public static let batchHoldsMax = Engine.batchRecordsMax
  private static let outputBytes = 1 << 20

  let preferences: PreferenceTable
  let zones: ZonePublisher
  /// What approvals are counted in; nil: row 14 never holds.
  private let state: LaneState?
  let decider: Decider
  private var encoder: RecordEncoder
  var decoder: HeldRecordDecoder
  var out = JSONWriter(capacity: Releaser.outputBytes)
  private var stateDrafts = StateDrafts()
  private let work: UnsafeMutablePointer<Work>
  private let results: UnsafeMutablePointer<ReleasedHold>

  /// One hold on its way.
  private struct Work {
    var held: HeldRecord?
    var hash = UserHash(first: 0, second: 0)
    var block: PackedBlock?
    // An output whose bytes may still move.
    var fate = ReleasedHold.Fate.unreadable
    var outcome = Outcome.dropped
    var reason = Reason.unknownUser
    var provider = Provider.apns
    var hold: HoldTimes?
    var keyStart = 0
    var valueStart = 0
    var valueEnd = 0
  }

  /// - Parameters:
  ///   - state: of the same lane; nil where nothing is counted.
  ///   - links: what signs the links of approvals; nil: none carries any.
  ///   - seed: against input made to be slow to read; random.
  public init(
    policy: Policy, preferences: PreferenceTable, zones: ZonePublisher, state: LaneState? = nil,
    links: LinkSettings? = nil, seed: UInt64 = UInt64.random(in: 0...UInt64.max)
  ) {
    self.preferences = preferences
    self.zones = zones
    self.state = state
    var fallback = policy.fallbackTimezone
    decider = Decider(
      rules: policy.rules, lane: .ordinary,
      fallbackZone: fallback.withUTF8 { zones.intern(Bytes($0)) })
    encoder = RecordEncoder(policyVersion: policy.rules.version, links: links)
    decoder = HeldRecordDecoder(batchRecordsMax: Self.batchHoldsMax, seed: seed)
    work = .allocate(capacity: Self.batchHoldsMax)
    results = .allocate(capacity: Self.batchHoldsMax)
  }

  deinit {
    work.deallocate()
    results.deallocate()
  }

  // MARK: Release

  /// Decides holds again, as their records stand on `notifications.deferred`; one answer each, in
  /// their order. The answers live until the next call.
  /// - Parameter erasedOnly: of holds that no erasure has ended it decides nothing, and counts nothing:
  ///   their answer is `heldOn` without a record.
  public func release(
    _ holds: UnsafeBufferPointer<InputRecord>, nowMs: Int64, erasedOnly: Bool = false
  ) -> UnsafeBufferPointer<ReleasedHold> {
    read(holds)
    let defaults = preferences.defaults
    let table = zones.current
    encoder.startBatch(zones: table, nowMs: nowMs)
    for index in 0..<holds.count where work[index].held != nil {
      // Who is back is there, and what was held before the erasure ends all the same.
      if erasedOnly, let block = confirmed(work + index),
        !block.isErased(since: work[index].held!.preferenceOffset)
      {
        work[index].fate = .heldOn
      } else {
        decide(work + index, holds[index].partition, defaults, table, nowMs)
      }
    }
    return finish(holds.count)
  }

  /// What the lane's state topic has to be told of the newest releases, in order; lives until the next
  /// call.
  public var stateRecords: UnsafeBufferPointer<StateRecord> { stateDrafts.records }

  /// Ends holds whose place newer notifications take: `superseded`, naming the newer one. `newer[i]`
  /// is the approval or deferral that hold `i` gives way to; its bytes must stay as they are during
  /// the call. A hold that is another device's, has another `collapse_key`, or is the very
  /// notification, stays: its answer is `heldOn` without a record. One that is older than its user's
  /// erasure is `erased`.
  public func supersede(
    _ holds: UnsafeBufferPointer<InputRecord>, by newer: UnsafeBufferPointer<OutputRecord>,
    nowMs: Int64
  ) -> UnsafeBufferPointer<ReleasedHold> {
    precondition(holds.count == newer.count, "one newer record for each hold")
    read(holds)
    let defaults = preferences.defaults
    let table = zones.current
    encoder.startBatch(zones: table, nowMs: nowMs)
    for index in 0..<holds.count {
      let at = work + index
      guard let held = at.pointee.held else { continue }
      if gives(held, wayTo: newer[index]) {
        at.pointee.block = confirmed(at)
        if at.pointee.block?.isErased(since: held.preferenceOffset) ?? false {
          endErased(at, held)
          continue
        }
        end(
          at, held, .superseded, evidence: evidence(at, held, defaults, table, nowMs),
          supersededBy: newer[index].notificationID, table)
      } else {
        at.pointee.fate = .heldOn
      }
    }
    return finish(holds.count)
  }

  private func gives(_ held: HeldRecord, wayTo newer: OutputRecord) -> Bool {
    guard newer.outcome != .dropped, let collapseKey = newer.collapseKey,
      let deviceID = newer.deviceID, let notificationID = newer.notificationID,
      let own = held.candidate.collapseKey
    else { return false }
    return own.equals(collapseKey) && held.deviceID.equals(deviceID)
      && !held.candidate.notificationID!.equals(notificationID)
  }

  // MARK: One hold

  private func read(_ holds: UnsafeBufferPointer<InputRecord>) {
    precondition(holds.count <= Self.batchHoldsMax, "a batch of at most 64 holds")
    decoder.startBatch()
    out.removeAll()
    stateDrafts.removeAll()
    for index in 0..<holds.count {
      (work + index).initialize(to: Work())
      guard let held = decoder.decode(holds[index].value) else { continue }
      work[index].held = held
      work[index].hash = preferences.hash(held.candidate.userID!)
      preferences.prefetch(work[index].hash)
    }
    for index in 0..<holds.count where work[index].held != nil {
      work[index].block = preferences.find(work[index].hash)
    }
  }

  private func confirmed(_ at: UnsafeMutablePointer<Work>) -> PackedBlock? {
    guard let block = at.pointee.block, preferences.confirm(block, at.pointee.hash) else {
      return nil
    }
    return block
  }

  private func decide(
    _ at: UnsafeMutablePointer<Work>, _ partition: Int32, _ defaults: CategoryDefaults,
    _ table: ZoneTable, _ nowMs: Int64
  ) {
    let held = at.pointee.held!
    at.pointee.block = confirmed(at)
    // Whatever came after the erasure is another beginning: it does not decide what was held before.
    guard let block = at.pointee.block, !block.isErased(since: held.preferenceOffset) else {
      return endErased(at, held)
    }
    if let reason = decider.rejection(held.candidate, nowMs: nowMs) {
      // As for a candidate: the preferences had no part in it.
      at.pointee.block = nil
      return end(at, held, reason, evidence: nil, supersededBy: nil, table)
    }
    if block.isUnreadable {
      return end(
        at, held, .preferencesUnreadable, evidence: nil, supersededBy: nil, table)
    }
    guard let device = block.find(held.deviceID) else {
      return end(at, held, .unknownDevice, evidence: nil, supersededBy: nil, table)
    }
    let ask = state?.capAsk(held.candidate)
    let decision = decider.decide(
      held.candidate, held.candidate.category!, block: block, deviceIndex: device,
      isDuplicate: false, defaults: defaults, zones: table, nowMs: nowMs,
      caps: ask.map { state!.capView(partition, $0, nowMs: nowMs) },
      heldSinceMs: held.firstDecidedAtMs)
    #if PlantedBugs
      let isCounting = !PlantedBug.is(.capNotCountedAtRelease)
      if isCounting, decision.outcome == .approved, let ask { count(held, ask, partition, nowMs) }
    #else
      if decision.outcome == .approved, let ask { count(held, ask, partition, nowMs) }
    #endif
    at.pointee.provider = Provider(block.device(device).platform)
    write(decision, at, held, supersededBy: nil, table)
  }

  /// No record says so: it would be a trace of somebody who asked to leave none.
  private func endErased(_ at: UnsafeMutablePointer<Work>, _ held: HeldRecord) {
    at.pointee.fate = .erased
    at.pointee.keyStart = out.count
    writeKey(held)
    at.pointee.valueStart = out.count
  }

  /// Row 14: an approval counts when it goes out, however long it was held.
  private func count(_ held: HeldRecord, _ ask: CapAsk, _ partition: Int32, _ nowMs: Int64) {
    guard state!.countApproval(partition, ask, device: held.deviceID, nowMs: nowMs) else { return }
    state!.writeCapRecord(
      partition, ask, user: held.candidate.userID!, category: held.candidate.category!,
      notification: held.candidate.notificationID!, nowMs: nowMs, to: &out, &stateDrafts)
  }

  private func evidence(
    _ at: UnsafeMutablePointer<Work>, _ held: HeldRecord, _ defaults: CategoryDefaults,
    _ table: ZoneTable, _ nowMs: Int64
  ) -> DeviceEvidence? {
    guard let block = at.pointee.block, !block.isUnreadable,
      let device = block.find(held.deviceID)
    else { return nil }
    return decider.decide(
      held.candidate, held.candidate.category!, block: block, deviceIndex: device,
      isDuplicate: false, defaults: defaults, zones: table, nowMs: nowMs,
      heldSinceMs: held.firstDecidedAtMs
    ).device
  }

  /// Dropped for this one reason.
  private func end(
    _ at: UnsafeMutablePointer<Work>, _ held: HeldRecord, _ reason: Reason,
    evidence: DeviceEvidence?, supersededBy: Bytes?, _ table: ZoneTable
  ) {
    var decision = Decision.drop(reason)
    decision.device = evidence
    write(decision, at, held, supersededBy: supersededBy, table)
  }

  private func write(
    _ decision: Decision, _ at: UnsafeMutablePointer<Work>, _ held: HeldRecord,
    supersededBy: Bytes?, _ table: ZoneTable
  ) {
    at.pointee.fate = decision.outcome == .deferred ? .heldOn : .ended
    at.pointee.outcome = decision.outcome
    at.pointee.reason = decision.reason
    at.pointee.hold = HoldTimes(decision, held.candidate)
    at.pointee.keyStart = out.count
    writeKey(held)
    at.pointee.valueStart = out.count
    let position = at.pointee.block.map {
      RecordEncoder.PreferencePosition(version: $0.version, offset: $0.offset)
    }
    encoder.write(
      decision, held.candidate, deviceID: held.deviceID, preferences: position, zones: table,
      hold: RecordEncoder.Hold(
        decidedAtMs: held.firstDecidedAtMs, deliverAfterMs: held.firstDeliverAfterMs,
        supersededBy: supersededBy),
      original: held.notification, to: &out)
    at.pointee.valueEnd = out.count
  }

  func writeKey(_ held: HeldRecord) {
    out.holdKey(
      user: held.candidate.userID!, notification: held.candidate.notificationID!,
      device: held.deviceID)
  }

  /// Nothing moves any more: turns positions into pointers.
  private func finish(_ count: Int) -> UnsafeBufferPointer<ReleasedHold> {
    for index in 0..<count {
      let at = work[index]
      var result = ReleasedHold(fate: at.fate, key: nil, record: nil, provider: at.provider)
      if at.valueStart > at.keyStart {
        let key = bytes(at.keyStart, at.valueStart)
        result.key = key
        if at.valueEnd > 0 { result.record = record(at, index, key) }
      }
      (results + index).initialize(to: result)
    }
    stateDrafts.finish(out.base)
    return UnsafeBufferPointer(start: results, count: count)
  }

  private func record(_ at: Work, _ index: Int, _ key: Bytes) -> OutputRecord {
    let held = at.held!
    return OutputRecord(
      outcome: at.outcome, reason: at.reason, category: held.candidate.category,
      inputIndex: index, key: at.fate == .heldOn ? key : held.candidate.userID,
      value: bytes(at.valueStart, at.valueEnd), notificationID: held.candidate.notificationID,
      deviceID: held.deviceID, collapseKey: held.candidate.collapseKey, hold: at.hold,
      user: at.hash.first, preferenceOffset: at.block?.offset ?? -1)
  }

  private func bytes(_ start: Int, _ end: Int) -> Bytes {
    Bytes(start: out.base + start, count: end - start)
  }
}
