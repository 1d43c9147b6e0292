import Gate

/// What a lane is set to.
public struct LoopSettings: Sendable {
  /// From a transaction's first record to its commit.
  public var commitIntervalMs: Int64
  /// `transaction.timeout.ms` of the sink.
  public var transactionTimeoutMs: Int64
  /// The longest wait for input; also how soon a request to end is heard.
  public var pollMsMax: Int32
  /// How far the preferences may be behind before the lane pauses; nil: however far.
  public var staleMsMax: Int64?
  /// How often it is looked for what can go from the state topic.
  public var sweepIntervalMs: Int64

  public init(
    commitIntervalMs: Int64, transactionTimeoutMs: Int64 = 10_000, pollMsMax: Int32 = 100,
    staleMsMax: Int64?, sweepIntervalMs: Int64 = 60_000
  ) {
    self.commitIntervalMs = commitIntervalMs
    self.transactionTimeoutMs = transactionTimeoutMs
    self.pollMsMax = pollMsMax
    self.staleMsMax = staleMsMax
    self.sweepIntervalMs = sweepIntervalMs
  }
}

/// One lane of the gate: one thread, one consumer, one producer, one transaction at a time
/// (architecture, "Exactly once"). This file is the walk of a record; transactions, rebalances and
/// what is remembered and what is held are in the four beside it.
public final class GateLoop<
  Source: CandidateSource, Sink: DecisionSink, States: StateSource, Clock: LoopClock,
  Deciding: Decider
> {
  let source: Source
  let sink: Sink
  let clock: Clock
  let decider: Deciding
  /// What the decider remembers of the owned partitions, and where it is read from.
  let state: LaneState
  let stateSource: States
  /// Nil in a lane that holds nothing.
  let holds: LaneHolds?
  /// Nil where the policy counts nothing.
  let receipts: ReceiptIntake?
  /// Nil in a lane whose categories nobody opts out of.
  let leaks: LeakMeter?
  let settings: LoopSettings
  let counters: LoopCounters
  let control: LaneControl
  let readiness: PreferenceReadiness
  let epochs: Epochs
  let epochSlot: Int
  let onEvent: (LoopEvent) -> Void

  var owned = OwnedPartitions()
  var transaction: TransactionMachine
  /// Who the open transaction is made as: taken with its first batch.
  var claim: GroupClaim?
  /// The name the owned partitions were given to.
  var memberID = ""
  var isStranger = false
  /// The source is not where the positions are: whatever it brings is dropped until it is.
  var mustSeek = false
  /// Given to us, and not started yet: their offsets are not stable, or the broker does not answer.
  var unstarted: [Int32]?
  var unstartedSinceMs: Int64 = 0
  /// A member knows its generation within milliseconds of being assigned something.
  static var claimMsMax: Int64 { 3_000 }
  /// Owned, and not decided on before what is remembered of them is read back.
  var restore = StateRestore()
  /// Read back, and not started yet.
  var restored: [Int32] = []
  /// The state source does not read yet what it is to read.
  var mustReadState = false
  var settledAskAtMs: Int64 = 0
  var progressAtMs: Int64 = 0
  var unreadableRecords = 0
  var sweep: StateSweep
  /// Null values in the open transaction.
  var sweptRecords = 0
  var isPaused = false
  let tally = DecisionTally()
  var transactionRecords = 0
  var samples = TimestampSamples()
  var lagReadAtMs: Int64 = 0

  /// `onEvent` is called on the lane's thread.
  public init(
    source: Source, sink: Sink, clock: Clock, decider: Deciding, state: LaneState,
    stateSource: States, holds: LaneHolds? = nil, receipts: ReceiptIntake? = nil,
    leaks: LeakMeter? = nil, settings: LoopSettings,
    counters: LoopCounters, control: LaneControl, readiness: PreferenceReadiness, epochs: Epochs,
    onEvent: @escaping (LoopEvent) -> Void
  ) {
    self.source = source
    self.sink = sink
    self.clock = clock
    self.decider = decider
    self.state = state
    self.stateSource = stateSource
    self.holds = holds
    self.receipts = receipts
    self.leaks = leaks
    self.settings = settings
    self.counters = counters
    self.control = control
    self.readiness = readiness
    self.epochs = epochs
    self.onEvent = onEvent
    epochSlot = epochs.register()
    sweep = StateSweep(intervalMs: settings.sweepIntervalMs)
    transaction = TransactionMachine(
      intervalMs: settings.commitIntervalMs, timeoutMs: settings.transactionTimeoutMs)
  }

  /// Runs until asked to end, or until it cannot go on. Leaves the group and closes both ports.
  public func run() -> LaneEnd {
    let end: LaneEnd
    do throws(LaneEnd) {
      try makeProducer()
      while control.request == .none { try turn() }
      try settle()
      end = .drained
    } catch {
      end = error
    }
    epochs.goIdle(epochSlot)
    source.release()
    // The sink first: nothing of this worker may reach a topic once its partitions are others'.
    sink.close()
    source.close()
    stateSource.close()
    receipts?.source.close()
    onEvent(.ended(end))
    return end
  }

  /// One batch, from the poll to the commit.
  private func turn() throws(LaneEnd) {
    let nowMs = clock.monotonicMs()
    let mayDecide = heedPreferences(nowMs: nowMs)
    try seekIfNeeded()
    noteTurn(nowMs: nowMs, mayDecide: mayDecide)

    epochs.goIdle(epochSlot)
    let batch = try poll(timeoutMs: pollTimeoutMs(nowMs: nowMs))
    defer { source.release() }
    try serveRebalances()
    try restoreState()
    // After a rebalance or an abort the source is elsewhere, and during one it may be; what it
    // brought comes again.
    if mayDecide && !mustSeek && unstarted == nil { try decide(batch) }
    if mayDecide && !mustSeek && unstarted == nil { try takeReceipts() }
    try heedChanges()
    if mayDecide { try releaseHolds() }
    try sweepState()
    leaks?.listen()
    // One that is open may hold, or undo, the last approval before it.
    if !transaction.isOpen { leaks?.settle(counters) }
    if transaction.isDue(nowMs: clock.monotonicMs()) { try commit() }
  }

  /// Decides and writes what is this lane's of a batch, in chunks small enough to stay in cache.
  private func decide(_ batch: UnsafeMutableBufferPointer<InputRecord>) throws(LaneEnd) {
    if batch.count > 0, let holds, holds.isNearlyFull(for: batch.count) {
      // What is held leaves all the same, and makes room.
      mustSeek = true
      return try waitOrLeave(
        Failure(.retriable, "a partition has \(HoldStore.holdsMax) holds, nearly: no more fit"))
    }
    let taken = owned.take(batch)
    counters.add(UInt64(batch.count - taken), to: .discarded)
    guard taken > 0, try begin() else { return }
    if counters[.startedAtMs] == 0 {
      counters.set(.startedAtMs, clock.monotonicMs())
      counters.set(.startedProcessMs, clock.processMs())
    }
    epochs.passBoundary(epochSlot)
    let records = UnsafeBufferPointer(rebasing: UnsafeBufferPointer(batch)[..<taken])
    var from = 0
    while from < records.count && !mustSeek {
      let to = min(from + Engine.batchRecordsMax, records.count)
      let chunk = UnsafeBufferPointer(rebasing: records[from..<to])
      let wallMs = clock.wallMs()
      try write(decider.decide(chunk, nowMs: wallMs), of: chunk, nowMs: wallMs)
      samples.note(chunk[0].timestampMs)
      epochs.passBoundary(epochSlot)
      from = to
    }
    guard !mustSeek else { return }
    transactionRecords += records.count
    counters.add(1, to: .batches)
    counters.set(.transactionRecords, Int64(transactionRecords))
    counters.set(.inputAtMs, clock.monotonicMs())
  }

  private func poll(timeoutMs: Int32) throws(LaneEnd) -> UnsafeMutableBufferPointer<InputRecord> {
    do throws(Failure) {
      return try source.poll(timeoutMs: timeoutMs)
    } catch {
      switch error.kind {
      case .offsetOutOfRange:
        throw .offsetOutOfRange(error.message)
      case .fenced: throw .fenced(error.message)
      case .fatal: throw .fatal(error.message)
      case .retriable, .abort, .lostTransaction:
        onEvent(.waiting(error.message))
        return UnsafeMutableBufferPointer(start: nil, count: 0)
      }
    }
  }

  private func pollTimeoutMs(nowMs: Int64) -> Int32 {
    if !restore.reading.isEmpty { return 0 }
    var waitMs = Int64(settings.pollMsMax)
    if transaction.isOpen { waitMs = min(waitMs, transaction.dueInMs(nowMs: nowMs)) }
    if !isPaused { waitMs = min(waitMs, releaseWaitMs(nowMs: nowMs)) }
    return Int32(waitMs)
  }

  /// Pauses while the preferences are not to be relied on, resumes when they are. Paused, the lane
  /// still polls: a consumer that does not is put out of its group.
  private func heedPreferences(nowMs: Int64) -> Bool {
    #if PlantedBugs
      let mayDecide =
        PlantedBug.is(.stalePreferences) && readiness.isReady
        || readiness.mayDecide(nowMs: nowMs, staleMsMax: settings.staleMsMax)
    #else
      let mayDecide = readiness.mayDecide(nowMs: nowMs, staleMsMax: settings.staleMsMax)
    #endif
    guard mayDecide == isPaused else { return mayDecide }
    do throws(Failure) {
      // What is being restored stays paused.
      try source.setPaused(!mayDecide, mayDecide ? owned.started : owned.partitions)
      isPaused = !mayDecide
      counters.set(.isPaused, isPaused ? 1 : 0)
      if isPaused {
        onEvent(
          .paused(behindMs: readiness.behindMs(nowMs: nowMs), isReady: readiness.isReady))
      } else {
        // librdkafka resumes where it thinks it was.
        mustSeek = !owned.isEmpty
        onEvent(.resumed)
      }
    } catch {
      onEvent(.waiting(error.message))
    }
    return mayDecide
  }

  private func noteTurn(nowMs: Int64, mayDecide: Bool) {
    if counters[.firstTurnAtMs] == 0 { counters.set(.firstTurnAtMs, nowMs) }
    counters.set(.turnAtMs, nowMs)
    if !mayDecide || owned.started.isEmpty || !restore.isEmpty { counters.set(.inputAtMs, nowMs) }
    if nowMs - lagReadAtMs >= 1000 {
      lagReadAtMs = nowMs
      counters.set(.lag, source.lag(behind: owned.positions) ?? -1)
      noteState()
      learnOffsets()
    }
  }
}

/// Timestamps of some of the transaction's records, in a fixed space: a latency does not need all.
struct TimestampSamples: ~Copyable {
  private static let max = 4096
  private let base = UnsafeMutablePointer<Int64>.allocate(capacity: TimestampSamples.max)
  private var count = 0

  deinit { base.deallocate() }

  mutating func note(_ timestampMs: Int64) {
    guard count < Self.max && timestampMs >= 0 else { return }
    base[count] = timestampMs
    count += 1
  }

  mutating func drain(_ body: (Int64) -> Void) {
    for i in 0..<count { body(base[i]) }
    count = 0
  }

  mutating func clear() { count = 0 }
}
