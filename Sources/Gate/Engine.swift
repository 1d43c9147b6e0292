/// Decode, look up, decide, encode: the whole of a decision for a batch of records, on one thread.
/// Owns its scratch memory; nothing is allocated per record once it is warm.
///
/// Between two calls the caller passes a batch boundary (`Epochs`): what a decision reads of the
/// preferences and zones is held for one call only.
public final class Engine {
  /// The most records one call takes: enough to hide a look-up's cache miss behind its neighbours',
  /// few enough that their bytes stay in cache.
  public static let batchRecordsMax = 64
  /// What the output memory goes back to after a batch far out of the ordinary.
  private static let outputBytes = 1 << 20

  private let lane: Lane
  private let preferences: PreferenceTable
  private let zones: ZonePublisher
  private let partitionCount: Int32
  /// Nil: nothing is remembered, and row 6 never holds.
  private let state: LaneState?
  /// Nil where nothing is held.
  private let holds: (any PendingHolds)?
  private let decider: Decider
  private var encoder: RecordEncoder

  private var decoder: CandidateDecoder
  private var out = JSONWriter(capacity: Engine.outputBytes)
  private let work: UnsafeMutablePointer<Work>
  private var drafts: UnsafeMutablePointer<Draft>
  private var outputs: UnsafeMutablePointer<OutputRecord>
  private var outputCapacity = Engine.batchRecordsMax * 2
  private var outputCount = 0
  private var stateDrafts = StateDrafts()
  /// The candidate being decided, as the caps know it; nil where its category has none.
  private var capAsk: CapAsk?
  /// An approval of it is to be written down.
  private var isNewlyCounted = false
  /// Candidates with an event or subtype that the policy does not know.
  public private(set) var unregisteredNames = 0
  /// Duplicates that say something else than what was let through under their id.
  public private(set) var differingDuplicates = 0
  /// Of the candidate being decided, once it is asked for.
  private var content: UInt16?

  /// One input on its way.
  private struct Work {
    var candidate: Candidate
    var hash: UserHash
    var block: PackedBlock?
    /// Rows 2 to 4, where one holds.
    var rejection: Reason?
  }

  /// An output whose bytes may still move.
  private struct Draft {
    var outcome: Outcome
    var reason: Reason
    var keyStart: Int
    var valueStart: Int
    var valueEnd: Int
    var inputIndex: Int
    var deviceID: Bytes?
    var hold: HoldTimes?
  }

  /// - Parameter partitionCount: of the candidate topic; 0 switches the key and partition checks off
  ///   (`evaluate`, which has no broker).
  /// - Parameter state: what the lane remembers; nil switches rows 6 and 14 off (`evaluate`, whose
  ///   decisions are one by one).
  /// - Parameter holds: what waits to be released, which row 6 counts as let through whatever the horizon.
  /// - Parameter links: what signs the links of approvals; nil: none carries any.
  /// - Parameter seed: against input made to be slow to read; random.
  public init(
    lane: Lane, policy: Policy, preferences: PreferenceTable, zones: ZonePublisher,
    partitionCount: Int32, state: LaneState? = nil, holds: (any PendingHolds)? = nil,
    links: LinkSettings? = nil, seed: UInt64 = UInt64.random(in: 0...UInt64.max)
  ) {
    self.lane = lane
    self.preferences = preferences
    self.zones = zones
    self.partitionCount = partitionCount
    self.state = state
    self.holds = holds
    var fallback = policy.fallbackTimezone
    decider = Decider(
      rules: policy.rules, lane: lane,
      fallbackZone: fallback.withUTF8 { zones.intern(Bytes($0)) })
    encoder = RecordEncoder(policyVersion: policy.rules.version, links: links)
    decoder = CandidateDecoder(batchRecordsMax: Engine.batchRecordsMax, seed: seed)
    work = .allocate(capacity: Engine.batchRecordsMax)
    drafts = .allocate(capacity: outputCapacity)
    outputs = .allocate(capacity: outputCapacity)
  }

  deinit {
    work.deallocate()
    drafts.deallocate()
    outputs.deallocate()
  }

  /// The candidate's own `created_at`; nil where it has none that can be read.
  public func createdAtMs(of value: UnsafeRawBufferPointer) -> Int64? {
    decoder.startBatch()
    return decoder.decode(value, bytesMax: decider.rules.recordBytesMax).createdAtMs
  }

  /// Decides every record at `nowMs`, outputs in input order, devices in document order.
  /// The result lives until the next call.
  public func decide(
    _ records: UnsafeBufferPointer<InputRecord>, nowMs: Int64
  ) -> UnsafeBufferPointer<OutputRecord> {
    precondition(records.count <= Engine.batchRecordsMax, "a batch of at most 64 records")
    decoder.startBatch()
    out.removeAll()
    outputCount = 0
    stateDrafts.removeAll()
    for index in 0..<records.count {
      (work + index).initialize(to: read(records[index], nowMs: nowMs))
    }
    for index in 0..<records.count where isLookedUp(work + index) {
      work[index].block = preferences.find(work[index].hash)
    }
    let defaults = preferences.defaults
    let table = zones.current
    encoder.startBatch(zones: table, nowMs: nowMs)
    for index in 0..<records.count {
      decide(index, records[index], defaults, table, nowMs)
    }
    finish(records)
    return UnsafeBufferPointer(start: outputs, count: outputCount)
  }

  /// What the lane's state topic has to be told of the newest decisions, in order; lives until the
  /// next call of `decide`.
  public var stateRecords: UnsafeBufferPointer<StateRecord> { stateDrafts.records }

  // MARK: Decode and rows 1 to 4

  private func read(_ record: InputRecord, nowMs: Int64) -> Work {
    var work = Work(
      candidate: decoder.decode(record.value, bytesMax: decider.rules.recordBytesMax),
      hash: UserHash(first: 0, second: 0))
    if work.candidate.invalid == nil { work.candidate.invalid = misplaced(work.candidate, record) }
    guard work.candidate.invalid == nil else { return work }
    if decider.hasUnregisteredName(work.candidate) { unregisteredNames += 1 }
    work.rejection = decider.rejection(work.candidate, nowMs: nowMs)
    if work.rejection == nil {
      work.hash = preferences.hash(work.candidate.userID!)
      preferences.prefetch(work.hash)
    }
    return work
  }

  /// The rest of row 1: on the wrong topic, under the wrong key, on the wrong partition. A user
  /// whose key does not lead here has preferences, holds and counters elsewhere (requirements T5).
  private func misplaced(_ candidate: Candidate, _ record: InputRecord) -> InvalidDetail? {
    if lane == .security, candidate.category != .security { return .categoryNotForTopic }
    guard partitionCount > 0 else { return nil }
    guard let key = record.key, key.equals(candidate.userID!) else { return .keyMismatch }
    return Partitioner.partition(forKey: key, count: partitionCount) == record.partition
      ? nil : .partitionMismatch
  }

  @inline(__always)
  private func isLookedUp(_ work: UnsafeMutablePointer<Work>) -> Bool {
    work.pointee.candidate.invalid == nil && work.pointee.rejection == nil
  }

  // MARK: Row 5 and on

  private func decide(
    _ index: Int, _ record: InputRecord, _ defaults: CategoryDefaults, _ table: ZoneTable,
    _ nowMs: Int64
  ) {
    let at = work + index
    if at.pointee.candidate.invalid != nil {
      let start = out.count
      encoder.writeInvalid(
        at.pointee.candidate, zones: table, original: record.value, to: &out)
      add(.dropped, .invalidCandidate, keyStart: start, valueStart: start, index)
      return
    }
    if let reason = at.pointee.rejection {
      drop(reason, index, record, preferences: nil, table)
      return
    }
    guard let block = at.pointee.block, preferences.confirm(block, at.pointee.hash) else {
      drop(.unknownUser, index, record, preferences: nil, table)
      return
    }
    let position = RecordEncoder.PreferencePosition(version: block.version, offset: block.offset)
    capAsk = state?.capAsk(at.pointee.candidate)
    content = nil
    if block.isUnreadable {
      drop(.preferencesUnreadable, index, record, preferences: position, table)
    } else if let deviceID = at.pointee.candidate.deviceID {
      if let device = block.find(deviceID) {
        decideDevice(device, index, record, block, position, defaults, table, nowMs)
      } else {
        drop(.unknownDevice, index, record, preferences: position, table)
      }
    } else if block.deviceCount == 0 {
      drop(.noDevices, index, record, preferences: position, table)
    } else {
      for device in 0..<block.deviceCount {
        decideDevice(device, index, record, block, position, defaults, table, nowMs)
      }
    }
    if isNewlyCounted { writeCounted(at.pointee.candidate, record.partition, nowMs) }
  }

  private func decideDevice(
    _ device: Int, _ index: Int, _ record: InputRecord, _ block: PackedBlock,
    _ position: RecordEncoder.PreferencePosition, _ defaults: CategoryDefaults,
    _ table: ZoneTable, _ nowMs: Int64
  ) {
    let at = work + index
    let deviceID = block.deviceID(block.device(device))
    let stateStart = out.count
    let hash = writeStateKey(at.pointee.candidate, deviceID)
    #if PlantedBugs
      if PlantedBug.is(.duplicatesRenewed), let hash, let state,
        state.seen(record.partition).firstSeenMs(hash, nowMs: nowMs) != nil
      {
        state.seen(record.partition).insert(hash, atMs: nowMs, isDeferred: false)
      }
    #endif
    let decision = decider.decide(
      at.pointee.candidate, at.pointee.candidate.category!, block: block, deviceIndex: device,
      isDuplicate: isSeen(hash, at, record.partition, nowMs)
        || isHeld(at.pointee, deviceID, record.partition), defaults: defaults, zones: table,
      nowMs: nowMs, caps: capAsk.map { state!.capView(record.partition, $0, nowMs: nowMs) })
    if decision.outcome == .dropped {
      out.removeLast(to: stateStart)
    } else if let hash {
      remember(hash, decision.outcome, at, record.partition, keyStart: stateStart, nowMs)
    }
    if decision.outcome == .approved, let capAsk,
      state!.countApproval(record.partition, capAsk, device: deviceID, nowMs: nowMs)
    {
      isNewlyCounted = true
    }
    let keyStart = out.count
    if decision.outcome == .deferred { writeHoldKey(at.pointee.candidate, deviceID) }
    let valueStart = out.count
    encoder.write(
      decision, at.pointee.candidate, deviceID: deviceID, preferences: position, zones: table,
      original: record.value!, to: &out)
    add(
      decision.outcome, decision.reason, keyStart: keyStart, valueStart: valueStart, index,
      deviceID: deviceID, hold: HoldTimes(decision, at.pointee.candidate))
  }

  private func drop(
    _ reason: Reason, _ index: Int, _ record: InputRecord,
    preferences: RecordEncoder.PreferencePosition?, _ table: ZoneTable
  ) {
    let start = out.count
    encoder.write(
      .drop(reason), work[index].candidate, deviceID: work[index].candidate.deviceID,
      preferences: preferences, zones: table, original: record.value!, to: &out)
    add(.dropped, reason, keyStart: start, valueStart: start, index)
  }

  // MARK: Row 6

  /// Writes the key under which the state topic would know this notification on this device, and
  /// hashes it.
  @inline(__always)
  private func writeStateKey(_ candidate: Candidate, _ deviceID: Bytes) -> SeenHash? {
    guard let state else { return nil }
    out.reserve(SeenRecord.keyBytesMax + SeenRecord.valueBytesMax)
    let start = out.count
    SeenRecord.writeKey(
      user: candidate.userID!, notification: candidate.notificationID!, device: deviceID, to: &out)
    return state.hash(Bytes(start: out.base + start, count: out.count - start))
  }

  @inline(__always)
  private func isSeen(
    _ hash: SeenHash?, _ at: UnsafeMutablePointer<Work>, _ partition: Int32, _ nowMs: Int64
  ) -> Bool {
    guard let hash, let first = state?.seen(partition).firstSeen(hash, nowMs: nowMs) else {
      return false
    }
    if first.content != ContentDigest.unknown, first.content != contentOnce(at) {
      differingDuplicates += 1
    }
    return true
  }

  /// Of the ids that are forgotten, or past the horizon, those whose hold has not ended.
  @inline(__always)
  private func isHeld(_ work: Work, _ deviceID: Bytes, _ partition: Int32) -> Bool {
    guard let holds, holds.hasHolds(of: work.hash.first, in: partition) else { return false }
    #if PlantedBugs
      if PlantedBug.is(.heldNotSeen) { return false }
    #endif
    let start = out.count
    writeHoldKey(work.candidate, deviceID)
    let hold = preferences.hash(Bytes(start: out.base + start, count: out.count - start)).first
    out.removeLast(to: start)
    return holds.isHeld(HoldIdentity(user: work.hash.first, hold: hold), in: partition)
  }

  /// Once for all devices, and not at all for what is dropped.
  private func contentOnce(_ at: UnsafeMutablePointer<Work>) -> UInt16 {
    if let content { return content }
    let digest = ContentDigest.of(at.pointee.candidate)
    content = digest
    return digest
  }

  /// At once: the same id may come again in this very batch.
  private func remember(
    _ hash: SeenHash, _ outcome: Outcome, _ at: UnsafeMutablePointer<Work>, _ partition: Int32,
    keyStart: Int, _ nowMs: Int64
  ) {
    let valueStart = out.count
    let content = contentOnce(at)
    SeenRecord.writeValue(outcome, atMs: nowMs, content: content, to: &out)
    state!.seen(partition).insert(
      hash, atMs: nowMs, isDeferred: outcome == .deferred, content: content)
    stateDrafts.add(
      partition, keyStart: keyStart, valueStart: valueStart, valueEnd: out.count)
  }

  // MARK: Row 14

  /// Once for all devices of a candidate.
  private func writeCounted(_ candidate: Candidate, _ partition: Int32, _ nowMs: Int64) {
    isNewlyCounted = false
    state!.writeCapRecord(
      partition, capAsk!, user: candidate.userID!, category: candidate.category!,
      notification: candidate.notificationID!, nowMs: nowMs, to: &out, &stateDrafts)
  }

  /// A hold's key: ids cannot contain the NUL that joins them.
  private func writeHoldKey(_ candidate: Candidate, _ deviceID: Bytes) {
    out.holdKey(
      user: candidate.userID!, notification: candidate.notificationID!, device: deviceID)
  }

  // MARK: Outputs

  private func add(
    _ outcome: Outcome, _ reason: Reason, keyStart: Int, valueStart: Int, _ index: Int,
    deviceID: Bytes? = nil, hold: HoldTimes? = nil
  ) {
    if outputCount == outputCapacity { growOutputs() }
    (drafts + outputCount).initialize(
      to: Draft(
        outcome: outcome, reason: reason, keyStart: keyStart, valueStart: valueStart,
        valueEnd: out.count, inputIndex: index, deviceID: deviceID, hold: hold))
    outputCount += 1
  }

  private func growOutputs() {
    let larger = UnsafeMutablePointer<Draft>.allocate(capacity: outputCapacity * 2)
    larger.moveInitialize(from: drafts, count: outputCount)
    drafts.deallocate()
    drafts = larger
    outputs.deallocate()
    outputCapacity *= 2
    outputs = .allocate(capacity: outputCapacity)
  }

  /// The key of an input whose user could not be read, where it may be a user's: a record is never
  /// refused for the size of a key that somebody made up.
  private static func userKey(_ key: UnsafeRawBufferPointer?) -> UnsafeRawBufferPointer? {
    guard let key, 1...CandidateDecoder.idBytesMax ~= key.count else { return nil }
    return key
  }

  /// Nothing moves any more: turns positions into pointers.
  private func finish(_ records: UnsafeBufferPointer<InputRecord>) {
    if outputCount < Engine.batchRecordsMax * 2 { out.shrink(to: Engine.outputBytes) }
    for i in 0..<outputCount {
      let draft = drafts[i]
      let candidate = work[draft.inputIndex].candidate
      let hold = Bytes(start: out.base + draft.keyStart, count: draft.valueStart - draft.keyStart)
      (outputs + i).initialize(
        to: OutputRecord(
          outcome: draft.outcome, reason: draft.reason, category: candidate.category,
          inputIndex: draft.inputIndex,
          key: hold.count > 0
            ? hold : candidate.userID ?? Self.userKey(records[draft.inputIndex].key),
          value: Bytes(
            start: out.base + draft.valueStart, count: draft.valueEnd - draft.valueStart),
          notificationID: candidate.notificationID, deviceID: draft.deviceID,
          collapseKey: candidate.collapseKey, hold: draft.hold,
          user: work[draft.inputIndex].hash.first,
          preferenceOffset: draft.outcome == .approved
            ? work[draft.inputIndex].block!.offset : -1))
    }
    stateDrafts.finish(out.base)
  }
}
