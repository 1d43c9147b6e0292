import Gate

/// The holds of the partitions a lane owns: read back, kept, decided again, and when each may leave. No
/// I/O but through the payload source. One thread, the lane's, makes every call, between two batch
/// boundaries where preferences are read.
public final class LaneHolds: PendingHolds {
  public struct Settings: Sendable {
    public var spread: HoldSpread
    /// Compressed bytes of payloads in memory, of all partitions together: each has its share of it,
    /// whoever owns it.
    public var payloadBytesMax: Int
    /// Approvals a second of all workers together; nil for no limit.
    public var apnsPerSecond: Int64?
    public var fcmPerSecond: Int64?
    /// Of the candidate topic.
    public var partitionCount: Int32

    public init(
      spread: HoldSpread, payloadBytesMax: Int, apnsPerSecond: Int64?, fcmPerSecond: Int64?,
      partitionCount: Int32
    ) {
      self.spread = spread
      self.payloadBytesMax = payloadBytesMax
      self.apnsPerSecond = apnsPerSecond
      self.fcmPerSecond = fcmPerSecond
      self.partitionCount = partitionCount
    }
  }

  /// What became of a record that was read back.
  enum Restored {
    case taken
    /// Not a hold that this gate can read.
    case unreadable
    /// The partition has more holds than a worker can keep.
    case full
  }

  let settings: Settings
  let source: any HoldPayloadSource
  let releaser: Releaser
  /// Another one, with memory of its own: what a hold is due by is asked amid a batch that is being
  /// released, whose answers must live on.
  let reader: Releaser
  let payloads = HoldPayloadBatch()
  let outcomes = UnsafeMutablePointer<HoldOutcome>.allocate(capacity: Releaser.batchHoldsMax)
  private(set) var tally = HoldTally()
  /// What has changed, and what of it is yet to be looked at.
  let changes: PreferenceChanges
  let changedPayloads = HoldPayloadBatch()
  var changed: [PreferenceChanges.Change] = []
  var rescans: [Rescan] = []
  /// Of users that were erased, and not ended yet.
  var erased: [(partition: Int32, hold: HoldIdentity)] = []
  /// The same in partitions that are being read back.
  private var erasedBefore: [Int32: [HoldIdentity]] = [:]

  private var planner: ReleasePlanner
  /// By partition; nil where it is not this worker's.
  private var stores: [HoldStore?] = []
  /// The stores of the partitions that are decided on.
  private(set) var started: [HoldStore] = []
  private var isShareKnown = true
  /// By partition: from where on its topic has told no offset yet.
  private var offsetsFrom: [Int32: Int64] = [:]

  /// - Parameters:
  ///   - state: what the lane counts approvals in.
  ///   - links: what signs the links of approvals; nil: none carries any.
  ///   - monotonicMs: the clock that tokens are counted by, now.
  public init(
    policy: Policy, preferences: PreferenceTable, zones: ZonePublisher, state: LaneState,
    links: LinkSettings? = nil, settings: Settings, source: any HoldPayloadSource,
    changes: PreferenceChanges, monotonicMs: Int64
  ) {
    self.settings = settings
    self.source = source
    self.changes = changes
    releaser = Releaser(
      policy: policy, preferences: preferences, zones: zones, state: state, links: links)
    reader = Releaser(policy: policy, preferences: preferences, zones: zones)
    planner = ReleasePlanner(
      apnsPerSecond: settings.apnsPerSecond, fcmPerSecond: settings.fcmPerSecond,
      monotonicMs: monotonicMs)
  }

  deinit { outcomes.deallocate() }

  // MARK: Ownership

  /// Begins anew with a partition, which has no hold that is known of.
  func open(_ partition: Int32, nowMs: Int64) {
    forget(partition)
    while stores.count <= Int(partition) { stores.append(nil) }
    let share = settings.payloadBytesMax / Int(max(1, settings.partitionCount))
    stores[Int(partition)] = HoldStore(
      partition: partition,
      settings: HoldStore.Settings(spread: settings.spread, payloadBytesMax: share), nowMs: nowMs)
  }

  /// The partition is read back: its holds may leave.
  func start(_ partition: Int32) {
    started.append(store(partition))
    erased += (erasedBefore.removeValue(forKey: partition) ?? []).map { (partition, $0) }
    isShareKnown = false
  }

  func forget(_ partition: Int32) {
    offsetsFrom[partition] = nil
    erasedBefore[partition] = nil
    guard stores.indices.contains(Int(partition)) else { return }
    stores[Int(partition)] = nil
    started.removeAll { $0.partition == partition }
    isShareKnown = false
  }

  func store(_ partition: Int32) -> HoldStore {
    guard let store = find(partition) else {
      preconditionFailure("asked for holds of partition \(partition), which are not read back")
    }
    return store
  }

  /// Nil where the partition is not this worker's.
  func find(_ partition: Int32) -> HoldStore? {
    stores.indices.contains(Int(partition)) ? stores[Int(partition)] : nil
  }

  // MARK: Row 6

  public func hasHolds(of user: UInt64, in partition: Int32) -> Bool {
    find(partition)?.hasHolds(of: user) ?? false
  }

  public func isHeld(_ hold: HoldIdentity, in partition: Int32) -> Bool {
    find(partition)?.find(hold) != nil
  }

  var all: [HoldStore] { stores.compactMap { $0 } }

  /// A partition may not have room for what a batch could defer.
  func isNearlyFull(for records: Int) -> Bool {
    started.contains { $0.count + records * PreferenceTable.devicesMax > HoldStore.holdsMax }
  }

  // MARK: Restoring

  /// Takes one record of the partition's deferred topic, in order, from its beginning.
  func restore(
    _ position: StatePosition, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
    headers: UnsafeRawBufferPointer, nowMs: Int64
  ) -> Restored {
    let store = store(position.partition)
    #if PlantedBugs
      if value == nil, PlantedBug.is(.nullValuesIgnored) { return .taken }
      if PlantedBug.is(.holdLostInRestore), position.offset % 5 == 0 { return .taken }
    #endif
    guard let value else {
      if let key, let identity = reader.identity(ofKey: key) {
        store.restoreRelease(of: identity)
      }
      return .taken
    }
    guard let facts = reader.facts(key: key, value: value, nowMs: nowMs) else {
      return .unreadable
    }
    if store.isFull { return .full }
    store.restore(
      facts, HoldPayload(value: value, headers: headers), offset: position.offset, nowMs: nowMs)
    // Where a record further on has ended it already, nothing is found of it any more.
    if facts.isUserGone { erasedBefore[position.partition, default: []].append(facts.identity) }
    return .taken
  }

  /// Its deferred topic was read up to here.
  func noteEnd(_ position: StatePosition) { offsetsFrom[position.partition] = position.offset }

  /// Where memory is short: learns from the topic where the records of holds are that this worker has
  /// made, so that their payloads can be dropped and read again. Not otherwise: to read them costs as much
  /// as to restore them.
  func learnOffsets() throws(Failure) {
    for store in started where store.wantsOffsets {
      guard let from = offsetsFrom[store.partition] else { continue }
      offsetsFrom[store.partition] = try source.readKeys(
        from: from, partition: store.partition
      ) { offset, key in
        guard let identity = reader.identity(ofKey: key), let slot = store.find(identity) else {
          return
        }
        store.noteOffset(offset, of: slot)
      }
    }
  }

  // MARK: Figures

  var count: Int { started.reduce(0) { $0 + $1.count } }
  var indexBytes: Int { started.reduce(0) { $0 + $1.indexBytes } }
  var payloadBytes: Int { started.reduce(0) { $0 + $1.payloadBytes } }

  /// What is due and waits, counted to a limit.
  func overdue(_ provider: Provider, nowMs: Int64) -> Int {
    let limit = 100_000
    return started.reduce(0) {
      $0 + $1.overdue(provider, nowMs: nowMs, limit: Swift.max(0, limit - $0))
    }
  }

  // MARK: Transactions

  /// What was held, released and superseded since the last call is committed.
  func commit() {
    for store in started { store.commit() }
  }

  /// What was since the last commit never happened.
  func rollback() {
    for store in started { store.abort() }
    tally.clear()
  }

  func drainTally(_ body: (HoldResult, UInt64) -> Void) { tally.drain(body) }
  func note(_ result: HoldResult) { tally.note(result) }

  // MARK: Planning

  private func applyShare(_ monotonicMs: Int64) {
    guard !isShareKnown else { return }
    isShareKnown = true
    planner.setShare(
      ownedPartitions: min(started.count, Int(settings.partitionCount)),
      of: Int(settings.partitionCount), monotonicMs: monotonicMs)
  }

  /// How long there is nothing to release.
  func waitMs(wallMs: Int64, monotonicMs: Int64) -> Int64 {
    applyShare(monotonicMs)
    return planner.waitMs(started, wallMs: wallMs, monotonicMs: monotonicMs)
  }

  /// Takes what may leave now, as part of the open transaction.
  func take(max: Int, wallMs: Int64, monotonicMs: Int64) -> [ReleasePlanner.Batch] {
    applyShare(monotonicMs)
    return planner.take(
      from: started, wallMs: wallMs, monotonicMs: monotonicMs, max: max)
  }

  func giveBack(_ provider: Provider) { planner.giveBack(provider, 1) }
}

/// What became of holds.
public enum HoldResult: Int, CaseIterable, Sendable {
  /// Written, those that are held on not included.
  case added
  case released, dropped, superseded, heldOn
  /// Its user was erased; no record says so.
  case erased
}

/// What the open transaction does to holds, counted.
struct HoldTally {
  private var counts = [UInt64](repeating: 0, count: HoldResult.allCases.count)

  mutating func note(_ result: HoldResult) { counts[result.rawValue] += 1 }

  mutating func clear() {
    for i in counts.indices { counts[i] = 0 }
  }

  mutating func drain(_ body: (HoldResult, UInt64) -> Void) {
    for result in HoldResult.allCases where counts[result.rawValue] > 0 {
      body(result, counts[result.rawValue])
    }
    clear()
  }
}
