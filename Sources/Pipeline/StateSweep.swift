/// Where in each partition of the state topic the records begin that still say something. What lies
/// before was answered with null values, so that compaction takes it away. No I/O.
///
/// The topic is in the order of first approval, nearly, and so is forgetting: each partition is read
/// once more, from its beginning to the first record that is still needed, and on from there when that
/// one is not. The memory keeps hashes alone, and cannot say the keys.
public struct StateSweep {
  private struct Cursor {
    var partition: Int32
    var next: Int64 = -1
    /// What a rewind goes back to: null values of an aborted transaction are not there.
    var committed: Int64 = -1
    var isDone = false
  }

  private let intervalMs: Int64
  private var cursors: [Cursor] = []
  private var beginsAtMs: Int64 = 0
  /// Whether the partitions are being read.
  public private(set) var isActive = false

  public init(intervalMs: Int64) { self.intervalMs = intervalMs }

  public mutating func add(_ partition: Int32) {
    forget([partition])
    cursors.append(Cursor(partition: partition))
    // What a restore found to be over need not wait.
    beginsAtMs = 0
  }

  public mutating func forget(_ partitions: [Int32]) {
    cursors.removeAll { partitions.contains($0.partition) }
  }

  public func isDue(nowMs: Int64) -> Bool {
    !isActive && !cursors.isEmpty && nowMs >= beginsAtMs
  }

  /// Where to read from.
  public var positions: [PartitionOffset] {
    cursors.map { PartitionOffset(partition: $0.partition, offset: $0.next) }
  }

  /// The partitions are read from `positions` on.
  public mutating func begin() {
    isActive = true
    for i in cursors.indices { cursors[i].isDone = false }
  }

  /// Whether a record is the next to look at.
  public func isNext(partition: Int32, offset: Int64) -> Bool {
    guard isActive, let i = index(partition) else { return false }
    return !cursors[i].isDone && offset >= cursors[i].next
  }

  public mutating func pass(partition: Int32, offset: Int64) {
    if let i = index(partition) { cursors[i].next = offset + 1 }
  }

  /// Here begins what is still needed, or the end.
  public mutating func stop(partition: Int32) {
    if let i = index(partition) { cursors[i].isDone = true }
  }

  public var isThrough: Bool { cursors.allSatisfy(\.isDone) }

  /// Nothing is read any more.
  public mutating func end(nowMs: Int64) {
    isActive = false
    beginsAtMs = nowMs + intervalMs
  }

  /// Somebody else reads now: soon again.
  public mutating func interrupt() {
    isActive = false
    beginsAtMs = 0
  }

  public mutating func commit() {
    for i in cursors.indices { cursors[i].committed = cursors[i].next }
  }

  public mutating func rewind() {
    for i in cursors.indices where cursors[i].next != cursors[i].committed {
      cursors[i].next = cursors[i].committed
      // The source is past it.
      if isActive { interrupt() }
    }
  }

  private func index(_ partition: Int32) -> Int? {
    cursors.firstIndex { $0.partition == partition }
  }
}
