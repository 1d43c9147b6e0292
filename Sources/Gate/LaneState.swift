/// What a lane remembers between decisions, by partition: the ids that it let through, and what it
/// counted against caps (`LaneState+Caps.swift`). A partition's
/// memory is what its partition of the state topic says, and what the open transaction adds to it.
///
/// One thread, the lane's, makes every call.
public final class LaneState {
  /// What became of a record of the state topic.
  public enum Restored: Sendable {
    case taken
    /// Of no kind that this version knows.
    case passedOver
    /// A value that cannot be read; the id stays unknown.
    case unreadable
  }

  /// Whether a record of the state topic still says something.
  public enum Standing: Sendable {
    /// The memory rests on it.
    case needed
    /// Its key is forgotten: a null value may follow it.
    case over
    /// A later record of its key stands for it, or it is of no kind that this version knows.
    case passedOver
  }

  private let sip: SipHash
  private let limits: SeenIDs.Limits
  let rules: Policy.Rules
  let capLimits: CapCounters.Limits
  /// Whether the policy has caps: without them nothing is counted.
  let countsCaps: Bool
  /// By partition; nil where it is not this worker's.
  private var partitions: [SeenIDs?] = []
  /// By partition; nil also where nothing is counted.
  private(set) var capCounters: [CapCounters?] = []
  /// Scratch of a restore.
  var restoredDevices: [CapDevice] = []

  /// - Parameters:
  ///   - partitionCount: of the candidate topic. Each partition remembers its share of the policy's
  ///     `duplicates_entries_max`, so that what is remembered does not depend on who owns what.
  ///   - hashKey: 128 random bits; ids are input that somebody else chooses.
  public init(policy: Policy, partitionCount: Int32, hashKey: (UInt64, UInt64)) {
    sip = SipHash(key: hashKey)
    let count = Int(max(1, partitionCount))
    limits = SeenIDs.Limits(
      entriesMax: (policy.rules.duplicatesEntriesMax + count - 1) / count,
      horizonMs: policy.rules.duplicatesHorizonMs, heldMaxMs: policy.rules.holdMaxMs)
    rules = policy.rules
    countsCaps = policy.hasCaps
    capLimits = CapCounters.Limits(
      entriesMax: (policy.rules.capsEntriesMax + count - 1) / count,
      memoryMs: policy.rules.capsMemoryMs, windowMs: policy.rules.capsWindowMs)
  }

  // MARK: Ownership

  /// Begins anew with a partition, remembering nothing of it.
  public func open(_ partition: Int32) {
    while partitions.count <= Int(partition) {
      partitions.append(nil)
      capCounters.append(nil)
    }
    partitions[Int(partition)] = SeenIDs(limits)
    if countsCaps { capCounters[Int(partition)] = CapCounters(capLimits) }
  }

  public func forget(_ partition: Int32) {
    guard partitions.indices.contains(Int(partition)) else { return }
    partitions[Int(partition)] = nil
    capCounters[Int(partition)] = nil
  }

  /// Takes one record of the partition's state topic, in order, from its beginning.
  public func restore(
    _ partition: Int32, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?, nowMs: Int64
  ) -> Restored {
    guard let key else { return .passedOver }
    guard SeenRecord.isKey(key) else {
      guard let cap = CapRecord.key(key) else { return .passedOver }
      return restoreCap(partition, cap, value: value, nowMs: nowMs)
    }
    let seen = seen(partition)
    guard let value else {
      seen.erase(sip.hash(key))
      return .taken
    }
    guard let known = SeenRecord.value(value) else { return .unreadable }
    seen.restore(
      sip.hash(key), atMs: known.atMs, isDeferred: known.isDeferred, content: known.content,
      nowMs: nowMs)
    return .taken
  }

  /// The partition's state topic was read to its end.
  public func finishRestore(_ partition: Int32, nowMs: Int64) {
    seen(partition).finishRestore(nowMs: nowMs)
  }

  // MARK: Transactions

  /// What was decided since the last call is committed.
  public func commit(nowMs: Int64) {
    for case let seen? in partitions { seen.commit(nowMs: nowMs) }
    for case let counters? in capCounters { counters.commit(nowMs: nowMs) }
  }

  /// What was decided since the last commit never happened.
  public func rollback() {
    for case let seen? in partitions { seen.rollback() }
    #if PlantedBugs
      if PlantedBug.is(.capsKeptAfterAbort) {
        for case let counters? in capCounters { counters.commit(nowMs: 0) }
        return
      }
    #endif
    for case let counters? in capCounters { counters.rollback() }
  }

  /// Whether a record of the state topic can go: what it says is past its time, or forgotten for want
  /// of room.
  public func standing(
    _ partition: Int32, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?, nowMs: Int64
  ) -> Standing {
    guard let key, let value else { return .passedOver }
    guard SeenRecord.isKey(key) else {
      guard let cap = CapRecord.key(key) else { return .passedOver }
      return capStanding(partition, cap, value: value, nowMs: nowMs)
    }
    guard let atMs = seen(partition).firstSeenMs(sip.hash(key), nowMs: nowMs) else { return .over }
    return SeenRecord.value(value)?.atMs == atMs ? .needed : .passedOver
  }

  // MARK: Figures

  /// Ids remembered in all partitions.
  public var seenCount: Int { partitions.reduce(0) { $0 + ($1?.count ?? 0) } }

  /// Bytes of memory that they take.
  public var memoryBytes: Int { partitions.reduce(0) { $0 + ($1?.memoryBytes ?? 0) } }

  /// How far back the memory of every partition reaches: the policy's horizon, or less where there was
  /// no room for it.
  public func horizonInForceMs(nowMs: Int64) -> Int64 {
    partitions.reduce(limits.horizonMs) {
      min($0, $1?.horizonInForceMs(nowMs: nowMs) ?? $0)
    }
  }

  // MARK: The hot path

  @inline(__always)
  func hash(_ key: Bytes) -> SeenHash { sip.hash(key) }

  @inline(__always)
  func seen(_ partition: Int32) -> SeenIDs {
    guard let seen = partitions[Int(partition)] else {
      preconditionFailure("decided of partition \(partition), whose state is not restored")
    }
    return seen
  }
}
