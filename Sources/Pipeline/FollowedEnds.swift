/// How far a reader of whole partitions is, and since when it can have missed nothing. No I/O: it is
/// told where the partitions ended when they were asked, and how far the reading has come.
///
/// A computed position will not do: control markers and compaction leave gaps, so that the last
/// record's offset plus one may never be the end. The end-of-partition event counts them.
public struct FollowedEnds {
  private struct Partition {
    /// Everything below is read.
    var reached: Int64 = 0
    /// The oldest answer that is not reached yet: when it was asked for, and the end it named.
    var asked: (atMs: Int64, end: Int64)?
    /// The instant of the newest answer that is reached; nil before the first.
    var freshAtMs: Int64?
  }
  private var partitions: [Partition]

  public init(partitionCount: Int) {
    partitions = Array(repeating: Partition(), count: partitionCount)
  }

  /// An answer about where a partition ends. `atMs` is the instant of asking: what was written
  /// after that may be missing from the answer.
  public mutating func asked(atMs: Int64, partition: Int32, end: Int64) {
    guard partitions.indices.contains(Int(partition)) else { return }
    // An unreached older answer stays. Under steady writing a new one each time would always be
    // ahead of the reading, and freshness would never be known.
    if partitions[Int(partition)].asked == nil {
      partitions[Int(partition)].asked = (atMs, end)
    }
    settle(Int(partition))
  }

  /// A record was read (`offset` is the next), or the end of the partition was.
  public mutating func reached(partition: Int32, offset: Int64) {
    guard partitions.indices.contains(Int(partition)) else { return }
    partitions[Int(partition)].reached = max(partitions[Int(partition)].reached, offset)
    settle(Int(partition))
  }

  private mutating func settle(_ i: Int) {
    guard let asked = partitions[i].asked, partitions[i].reached >= asked.end else { return }
    partitions[i].freshAtMs = asked.atMs
    partitions[i].asked = nil
  }

  /// The instant up to which everything is read, in every partition; nil until each has been read
  /// to the end it had when it was first asked for.
  public var freshAtMs: Int64? {
    var oldest: Int64?
    for partition in partitions {
      guard let fresh = partition.freshAtMs else { return nil }
      oldest = min(oldest ?? fresh, fresh)
    }
    return oldest
  }
}
