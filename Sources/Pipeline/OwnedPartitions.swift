import Gate

/// Which partitions this worker owns, and how far it is in each. No I/O: the loop tells it what
/// happened and asks what follows.
///
/// Positions are counted here, from the records decided, and not read from the consumer: librdkafka
/// 2.0 moves its own past records that a rebalance took back out of a batch, and a transaction that
/// committed those would lose them.
public struct OwnedPartitions {
  private struct Slot {
    /// The next offset to decide; below zero where the partition is not owned.
    var position: Int64 = -1
    /// Where the open transaction began, or the next will: what a rewind goes back to.
    var committed: Int64 = -1
    /// What is decided on is restored: its records may be taken.
    var isStarted = false
  }
  private var slots: [Slot] = []
  public private(set) var count = 0

  public init() {}

  public var isEmpty: Bool { count == 0 }

  public var partitions: [Int32] {
    slots.indices.filter { slots[$0].position >= 0 }.map { Int32($0) }
  }

  /// Those whose records may be taken.
  public var started: [Int32] {
    slots.indices.filter { slots[$0].isStarted }.map { Int32($0) }
  }

  /// Where the source has to be, of those whose records may be taken.
  public var startedPositions: [PartitionOffset] {
    slots.indices.filter { slots[$0].isStarted }
      .map { PartitionOffset(partition: Int32($0), offset: slots[$0].position) }
  }

  /// Every owned partition, moved or not, started or not: one that sends no offset is fenced by nothing.
  public var positions: [PartitionOffset] {
    slots.indices.filter { slots[$0].position >= 0 }
      .map { PartitionOffset(partition: Int32($0), offset: slots[$0].position) }
  }

  /// Owns partitions from these offsets on; for one already owned, an offset that is truer than
  /// what was counted. Nothing of them is taken before `start`.
  public mutating func own(_ offsets: [PartitionOffset]) {
    for start in offsets {
      precondition(
        start.partition >= 0 && start.offset >= 0,
        "partition \(start.partition) cannot start at \(start.offset)")
      let i = Int(start.partition)
      while slots.count <= i { slots.append(Slot()) }
      if slots[i].position < 0 { count += 1 }
      slots[i] = Slot(position: start.offset, committed: start.offset)
    }
  }

  /// What an owned partition is decided on is there.
  public mutating func start(_ partition: Int32) {
    precondition(slots[Int(partition)].position >= 0, "started what is not owned")
    slots[Int(partition)].isStarted = true
  }

  /// Forgets partitions; those not owned are none of its business.
  public mutating func forget(_ partitions: [Int32]) {
    for partition in partitions {
      let i = Int(partition)
      guard slots.indices.contains(i), slots[i].position >= 0 else { continue }
      slots[i] = Slot()
      count -= 1
    }
  }

  /// Moves the records to decide to the front and returns how many there are: of started partitions,
  /// each offset once. A record below the position was decided before (a fetch that overlapped a
  /// seek brings it again). The positions move past what is returned: whoever does not decide it
  /// rewinds.
  public mutating func take(_ records: UnsafeMutableBufferPointer<InputRecord>) -> Int {
    var kept = 0
    for i in 0..<records.count {
      let partition = Int(records[i].partition)
      let offset = records[i].offset
      guard slots.indices.contains(partition), slots[partition].isStarted,
        offset >= slots[partition].position
      else { continue }
      slots[partition].position = offset + 1
      if kept != i { records[kept] = records[i] }
      kept += 1
    }
    return kept
  }

  /// The transaction is committed: what follows begins here.
  public mutating func commit() {
    for i in slots.indices { slots[i].committed = slots[i].position }
  }

  /// The transaction is gone: back to where it began.
  public mutating func rewind() {
    for i in slots.indices { slots[i].position = slots[i].committed }
  }
}
