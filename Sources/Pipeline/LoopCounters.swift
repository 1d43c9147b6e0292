import Gate
import Synchronization

/// A lane's counts and gauges: written by the lane alone, read by whoever shows them. Counts of
/// decisions grow when their transaction commits, so that they add up to what is on the topics.
public final class LoopCounters: Sendable {
  public enum Count: Int, CaseIterable, Sendable {
    /// Records decided and committed.
    case records
    /// Records of partitions not owned, or decided before.
    case discarded
    case batches
    case commits, aborts
    case rebalances
    case producersReplaced
    /// Candidates with an event or subtype that the policy does not know, redone ones included.
    case unregisteredNames
    case differingDuplicates
    /// Read back from the state topic, and answered there with null values.
    case stateRecordsRestored, stateRecordsForgotten
    /// Receipts read, and those of them that cannot be, or stand under another key than their user's
    /// or where that does not lead; notifications refunded by them.
    case receipts, receiptsUnreadable, receiptsMisplaced, refunds
    /// Opt-outs, by user and category: all, those behind which something was still approved, those
    /// behind which it was for longer than the objective, and those of which that is not known.
    case optOuts, optOutLeaks, optOutLeaksLate, optOutsUnmeasured
  }

  public enum Gauge: Int, CaseIterable, Sendable {
    case transactionRecords
    case ownedPartitions
    /// Partitions that the group gave to the lane, while it finds out where they begin.
    case unstartedPartitions
    /// Candidates not decided yet; -1: not known.
    case lag
    /// Partitions whose memory is being read back.
    case restoringPartitions
    /// How long the newest restore took.
    case restoreMs
    /// Ids remembered against duplicates, how far back they reach, and the memory they take.
    case seenIDs, seenHorizonMs, seenBytes
    /// Holds of the owned partitions, the memory of their index and of their payloads, and how many are
    /// due and have not left, by provider, counted to a limit.
    case holds, holdIndexBytes, holdPayloadBytes, overdueAPNs, overdueFCM
    /// How far a restore is; -1 where nothing tells.
    case restoreRecords, restoreRecordsPerSecond, restorePercent, restoreSecondsLeft
    /// Notifications remembered against caps, the memory they take, and approvals of owned partitions
    /// that found no room.
    case cappedNotifications, capBytes, capsUncounted
    /// 1 while the lane decides nothing because of the preferences.
    case isPaused
    /// Monotonic milliseconds of the last turn, for liveness.
    case turnAtMs
    /// The same of the first turn; 0: there was none.
    case firstTurnAtMs
    /// Monotonic milliseconds at which input last came, or could not have come: the lane was paused,
    /// or had no partition yet.
    case inputAtMs
    /// The clock and the process's processor time at the first record taken and at the newest
    /// commit: what a run took.
    case startedAtMs, startedProcessMs, committedAtMs, committedProcessMs
  }

  private let counts = AtomicWords(Count.allCases.count)
  private let gauges = AtomicWords(Gauge.allCases.count)
  private let holdResults = AtomicWords(HoldResult.allCases.count)
  private let decisions = AtomicWords(DecisionTally.slots)
  /// From the start of the flush to the commit's answer.
  public let commitLatency = LatencyHistogram()
  /// From a record's Kafka timestamp to its commit; one record of each chunk decided.
  public let endToEndLatency = LatencyHistogram()
  /// From an opt-out's Kafka timestamp to the last approval on an older document; zero where there was
  /// none.
  public let optOutLeak = LatencyHistogram()

  public init() {}

  public subscript(count: Count) -> UInt64 { counts[count.rawValue] }
  public subscript(gauge: Gauge) -> Int64 { Int64(bitPattern: gauges[gauge.rawValue]) }

  /// Decisions committed. `category` nil: it could not be read, or is none of the four.
  public func decided(_ outcome: Outcome, _ category: Category?, _ reason: Reason) -> UInt64 {
    decisions[DecisionTally.slot(outcome, category, reason)]
  }

  /// What became of holds, committed.
  public subscript(result: HoldResult) -> UInt64 { holdResults[result.rawValue] }

  func add(_ n: UInt64, to result: HoldResult) {
    holdResults.addAsOnlyWriter(result.rawValue, n)
  }
  func add(_ n: UInt64, to count: Count) { counts.addAsOnlyWriter(count.rawValue, n) }
  func set(_ count: Count, _ value: UInt64) { counts.store(count.rawValue, value) }
  func set(_ gauge: Gauge, _ value: Int64) {
    gauges.store(gauge.rawValue, UInt64(bitPattern: value))
  }
  func take(_ tally: borrowing DecisionTally) {
    tally.drain { decisions.addAsOnlyWriter($0, UInt64($1)) }
  }
}

/// Latencies counted by size.
public final class LatencyHistogram: Sendable {
  /// Upper bounds in milliseconds, inclusive; one bucket more takes the rest.
  public static let boundsMs: [Int64] = [
    1, 2, 5, 10, 20, 50, 75, 100, 125, 150, 200, 300, 500, 1000, 2000, 5000, 10000, 30000, 60000,
  ]
  private let words = AtomicWords(LatencyHistogram.boundsMs.count + 2)

  init() {}

  /// Observations in each bucket, not cumulated.
  public var buckets: [UInt64] { (0...Self.boundsMs.count).map { words[$0] } }
  public var sumMs: UInt64 { words[Self.boundsMs.count + 1] }
  public var count: UInt64 { buckets.reduce(0, +) }

  func observe(ms: Int64) {
    // A producer's clock may be ahead of ours.
    let ms = max(0, ms)
    var bucket = 0
    while bucket < Self.boundsMs.count && ms > Self.boundsMs[bucket] { bucket += 1 }
    words.addAsOnlyWriter(bucket, 1)
    words.addAsOnlyWriter(Self.boundsMs.count + 1, UInt64(ms))
  }
}

/// What the open transaction holds, by outcome, category and reason: plain words of the lane's own.
struct DecisionTally: ~Copyable {
  private static let categories = Category.allCases.count + 1
  private static let reasons = Reason.allCases.count
  static let slots = Outcome.allCases.count * categories * reasons

  static func slot(_ outcome: Outcome, _ category: Category?, _ reason: Reason) -> Int {
    let category = category.map { Int($0.rawValue) } ?? Category.allCases.count
    return (Int(outcome.rawValue) * categories + category) * reasons + Int(reason.rawValue)
  }

  private let base: UnsafeMutablePointer<UInt32>

  init() {
    base = .allocate(capacity: Self.slots)
    base.initialize(repeating: 0, count: Self.slots)
  }

  deinit { base.deallocate() }

  func note(_ output: OutputRecord) {
    base[Self.slot(output.outcome, output.category, output.reason)] &+= 1
  }

  func drain(_ body: (Int, UInt32) -> Void) {
    for i in 0..<Self.slots where base[i] > 0 {
      body(i, base[i])
      base[i] = 0
    }
  }

  func clear() { base.update(repeating: 0, count: Self.slots) }
}

/// Words one thread writes and others read.
private struct AtomicWords: ~Copyable, @unchecked Sendable {
  // Unchecked because of the pointer alone: it never changes, and what it points at is atomic.
  private let base: UnsafeMutablePointer<Atomic<UInt64>>

  init(_ count: Int) {
    base = .allocate(capacity: count)
    for i in 0..<count { (base + i).initialize(to: Atomic(0)) }
  }

  deinit { base.deallocate() }

  subscript(i: Int) -> UInt64 { base[i].load(ordering: .relaxed) }
  func store(_ i: Int, _ value: UInt64) { base[i].store(value, ordering: .relaxed) }
  /// A load and a store, no locked instruction; a second writer would lose counts.
  func addAsOnlyWriter(_ i: Int, _ n: UInt64) { store(i, self[i] &+ n) }
}
