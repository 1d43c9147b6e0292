/// Which partitions' memory is being read back, and how far it is. No I/O: the loop tells it what
/// happened and asks what follows.
///
/// A partition goes through two phases. First it waits until nobody's transaction is open in its
/// state: the last owner may have written what is not committed, or aborted, yet. Only then is it
/// read. The other way round, what the last owner committed in between would be missing until the next
/// restore, and an id approved there would be approved again here.
public struct StateRestore {
  private struct Partition {
    var partition: Int32
    /// Nil while it waits.
    var next: Int64?
    var end: Int64 = 0
    /// The first offset read: what is before it was compacted away.
    var first: Int64?
  }

  private var partitions: [Partition] = []
  /// Since nothing was being restored.
  public private(set) var records: UInt64 = 0
  private var startedAtMs: Int64 = 0

  public init() {}

  public var isEmpty: Bool { partitions.isEmpty }
  public var count: Int { partitions.count }
  public var all: [Int32] { partitions.map(\.partition) }
  public var waiting: [Int32] { partitions.filter { $0.next == nil }.map(\.partition) }
  public var reading: [PartitionOffset] {
    partitions.compactMap { partition in
      partition.next.map { PartitionOffset(partition: partition.partition, offset: $0) }
    }
  }

  /// Begins, or begins anew, with partitions.
  public mutating func add(_ added: [Int32], nowMs: Int64) {
    forget(added)
    if partitions.isEmpty {
      records = 0
      startedAtMs = nowMs
    }
    partitions += added.map { Partition(partition: $0) }
  }

  public mutating func forget(_ forgotten: [Int32]) {
    partitions.removeAll { forgotten.contains($0.partition) }
  }

  /// Nobody's transaction is open in it: it may be read, from its beginning.
  public mutating func settled(_ end: PartitionOffset) {
    guard let i = index(end.partition), partitions[i].next == nil else { return }
    partitions[i].next = -1
    partitions[i].end = end.offset
  }

  /// Whether a record is the next of a partition that is being read.
  public mutating func takes(partition: Int32, offset: Int64) -> Bool {
    guard let i = index(partition), let next = partitions[i].next, offset >= next else {
      return false
    }
    partitions[i].next = offset + 1
    if partitions[i].first == nil { partitions[i].first = offset }
    records += 1
    return true
  }

  /// Whether the end of a partition is that of one that is being read; it is done then.
  public mutating func ends(partition: Int32, offset: Int64) -> Bool {
    guard let i = index(partition), let next = partitions[i].next, offset >= next else {
      return false
    }
    partitions.remove(at: i)
    return true
  }

  private func index(_ partition: Int32) -> Int? {
    partitions.firstIndex { $0.partition == partition }
  }

  // MARK: Progress

  public struct Progress: Sendable, Equatable {
    public var records: UInt64
    public var recordsPerSecond: UInt64
    /// By the offsets still to read, at the rate so far; nil where nothing tells.
    public var secondsLeft: Int64?
  }

  public func elapsedMs(nowMs: Int64) -> Int64 { max(0, nowMs - startedAtMs) }

  public func progress(nowMs: Int64) -> Progress {
    let elapsedMs = max(1, elapsedMs(nowMs: nowMs))
    var done: Int64 = 0
    var left: Int64 = 0
    for partition in partitions {
      guard let next = partition.next, let first = partition.first else { continue }
      done += next - first
      left += max(0, partition.end - next)
    }
    return Progress(
      records: records, recordsPerSecond: records * 1000 / UInt64(elapsedMs),
      secondsLeft: done > 0 ? left * elapsedMs / done / 1000 : nil)
  }
}
