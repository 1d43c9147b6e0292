/// Which partitions' memory is being read back, and how far it is. No I/O: the loop tells it what
/// happened and asks what follows.
///
/// A partition goes through two phases. First it waits until nobody's transaction is open in any of
/// its topics: the last owner may have written what is not committed, or aborted, yet. Only then are
/// they read. The other way round, what the last owner committed in between would be missing until the
/// next restore: a hold made there would not leave, and an id approved there would be approved again.
public struct StateRestore {
  /// One topic of a partition that is being read.
  private struct Cursor {
    var stream: StateStream
    var next: Int64 = -1
    var end: Int64
    /// The first offset read: what is before it was compacted away.
    var first: Int64?
    var isAtEnd = false
  }

  private struct Partition {
    var partition: Int32
    /// None while it waits.
    var cursors: [Cursor] = []
  }

  private var partitions: [Partition] = []
  /// Since nothing was being restored.
  public private(set) var records: UInt64 = 0
  private var startedAtMs: Int64 = 0

  public init() {}

  public var isEmpty: Bool { partitions.isEmpty }
  public var count: Int { partitions.count }
  public var all: [Int32] { partitions.map(\.partition) }
  public var waiting: [Int32] { partitions.filter(\.cursors.isEmpty).map(\.partition) }
  public var reading: [StatePosition] {
    partitions.flatMap { one in
      one.cursors.filter { !$0.isAtEnd }
        .map { StatePosition($0.stream, partition: one.partition, offset: $0.next) }
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

  /// Nobody's transaction is open in it: it may be read, each topic from its beginning. `ends` are
  /// those of all its topics.
  public mutating func settled(_ partition: Int32, ends: [StatePosition]) {
    guard let i = index(partition), partitions[i].cursors.isEmpty else { return }
    partitions[i].cursors = ends.map { Cursor(stream: $0.stream, end: $0.offset) }
  }

  /// Whether a record is the next of a partition that is being read.
  public mutating func takes(_ position: StatePosition) -> Bool {
    guard let (i, j) = cursor(position) else { return false }
    partitions[i].cursors[j].next = position.offset + 1
    if partitions[i].cursors[j].first == nil { partitions[i].cursors[j].first = position.offset }
    records += 1
    return true
  }

  /// Whether this end is the last that was missing of a partition; it is done then.
  public mutating func ends(_ position: StatePosition) -> Bool {
    guard let (i, j) = cursor(position) else { return false }
    partitions[i].cursors[j].isAtEnd = true
    partitions[i].cursors[j].next = max(position.offset, partitions[i].cursors[j].next)
    guard partitions[i].cursors.allSatisfy(\.isAtEnd) else { return false }
    partitions.remove(at: i)
    return true
  }

  #if PlantedBugs
    /// Whether the last record read is the one before the end.
    func isAtComputedEnd(_ position: StatePosition) -> Bool {
      guard let (i, j) = cursor(position) else { return false }
      let cursor = partitions[i].cursors[j]
      return cursor.end == 0 || cursor.next == cursor.end
    }
  #endif

  private func index(_ partition: Int32) -> Int? {
    partitions.firstIndex { $0.partition == partition }
  }

  /// The cursor that has not passed this position.
  private func cursor(_ position: StatePosition) -> (Int, Int)? {
    guard let i = index(position.partition),
      let j = partitions[i].cursors.firstIndex(where: { $0.stream == position.stream }),
      !partitions[i].cursors[j].isAtEnd, position.offset >= partitions[i].cursors[j].next
    else { return nil }
    return (i, j)
  }

  // MARK: Progress

  public struct Progress: Sendable, Equatable {
    public var records: UInt64
    public var recordsPerSecond: UInt64
    /// Of the offsets of what is being read.
    public var percent: Int?
    /// By the offsets still to read, at the rate so far; nil where nothing tells.
    public var secondsLeft: Int64?
  }

  public func elapsedMs(nowMs: Int64) -> Int64 { max(0, nowMs - startedAtMs) }

  public func progress(nowMs: Int64) -> Progress {
    let elapsedMs = max(1, elapsedMs(nowMs: nowMs))
    var done: Int64 = 0
    var left: Int64 = 0
    for cursor in partitions.flatMap(\.cursors) {
      guard let first = cursor.first else { continue }
      done += cursor.next - first
      left += max(0, cursor.end - cursor.next)
    }
    return Progress(
      records: records, recordsPerSecond: records * 1000 / UInt64(elapsedMs),
      percent: done > 0 ? Int(done * 100 / (done + left)) : nil,
      secondsLeft: done > 0 ? left * elapsedMs / done / 1000 : nil)
  }
}
