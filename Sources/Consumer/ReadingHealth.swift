import Pipeline

/// Which partitions of a candidate topic can be read, and how far each is. No I/O: it is told what
/// the consumer was told and what came of it.
///
/// librdkafka says once that a partition cannot be read and then goes on trying in silence, and says
/// nothing at all when it can be read again. So a partition counts as read only when something came
/// of it, a record or its end; and one that cannot be is sought again now and then, to hear the
/// error or the end anew.
struct ReadingHealth {
  private struct Partition {
    /// What is read next: behind the newest record handed on, or where the reader was put.
    var next: Int64
    /// The end, if nothing was read since that lies behind it.
    var end: Int64?
    /// Something came since it was assigned.
    var isHeard = false
    var isPaused = false
    /// Everything that can be read of it was decided when that was last looked at.
    var isThrough = false
    var failure: String?
    var askAtMs: Int64 = 0
    /// The lane's position, and since when it has been there with input before it.
    var position: Int64 = -1
    var stillSinceMs: Int64 = 0
  }

  private var partitions: [Int32: Partition] = [:]
  /// The report may have changed since it was last taken.
  private(set) var isChanged = false

  static let askIntervalMs: Int64 = 5_000
  /// A lane that decides nothing for so long, with input before it, is not merely slow: a
  /// transaction that has to be redone takes its time-out, 10 s where nobody changed it.
  static let stillMsMax: Int64 = 30_000

  mutating func assigned(_ offsets: [PartitionOffset]) {
    for offset in offsets { partitions[offset.partition] = Partition(next: offset.offset) }
    isChanged = true
  }

  mutating func unassigned(_ gone: [Int32]) {
    for partition in gone { partitions[partition] = nil }
    isChanged = true
  }

  mutating func sought(_ offsets: [PartitionOffset]) {
    for offset in offsets {
      partitions[offset.partition]?.next = offset.offset
      partitions[offset.partition]?.end = nil
    }
  }

  mutating func paused(_ isPaused: Bool, _ changed: [Int32]) {
    for partition in changed { partitions[partition]?.isPaused = isPaused }
    isChanged = true
  }

  /// Records up to this offset were handed on.
  mutating func read(_ partition: Int32, upTo offset: Int64) {
    partitions[partition]?.next = offset + 1
    heard(partition)
  }

  mutating func ended(_ partition: Int32, at offset: Int64) {
    partitions[partition]?.end = offset
    heard(partition)
  }

  private mutating func heard(_ partition: Int32) {
    guard let known = partitions[partition], !known.isHeard || known.failure != nil else { return }
    partitions[partition]?.isHeard = true
    partitions[partition]?.failure = nil
    isChanged = true
  }

  mutating func failed(_ partition: Int32, _ reason: String, nowMs: Int64) {
    isChanged = true
    partitions[partition]?.failure = reason
    partitions[partition]?.askAtMs = nowMs + Self.askIntervalMs
  }

  /// Those that could not be read and are to be sought again, where they are: nothing else makes
  /// librdkafka say whether they still cannot.
  mutating func dueToAsk(nowMs: Int64) -> [PartitionOffset] {
    var due: [PartitionOffset] = []
    for (number, partition) in partitions
    where partition.failure != nil && nowMs >= partition.askAtMs {
      due.append(PartitionOffset(partition: number, offset: partition.next))
      partitions[number]!.askAtMs = nowMs + Self.askIntervalMs
    }
    return due
  }

  /// Records that are not decided yet; nil where that is not known of some partition.
  ///
  /// Behind the newest record of a partition there may be offsets without one (markers of
  /// transactions): where its end was met, and everything before it is decided, nothing is left.
  /// - Parameters:
  ///   - positions: how far the lane is, of its partitions.
  ///   - end: of a partition as last heard; nil before anything was.
  mutating func lag(
    behind positions: [PartitionOffset], nowMs: Int64, end: (Int32) -> Int64?
  ) -> Int64? {
    var sum: Int64 = 0
    var isKnown = true
    for position in positions {
      guard var partition = partitions[position.partition], partition.isHeard,
        let last = end(position.partition)
      else {
        isKnown = false
        continue
      }
      // What lies behind the end that a reader of committed records meets is not there to decide yet.
      let isAtEnd = partition.end != nil && position.offset >= partition.next
      let reached = isAtEnd ? max(position.offset, partition.end!) : position.offset
      let left = max(0, last - reached)
      sum += left
      partition.isThrough = isAtEnd || left == 0
      if partition.isThrough || partition.isPaused || position.offset != partition.position {
        partition.position = position.offset
        partition.stillSinceMs = nowMs
      }
      partitions[position.partition] = partition
    }
    return isKnown ? sum : nil
  }

  mutating func report(nowMs: Int64) -> LaneHealth.Reading {
    isChanged = false
    var reading = LaneHealth.Reading()
    var failed: [Int32] = []
    var unheard: [Int32] = []
    var stalled: [Int32] = []
    for (number, partition) in partitions {
      if !partition.isHeard || partition.failure != nil { reading.unread += 1 }
      if !partition.isThrough { reading.behind += 1 }
      if partition.isPaused { continue }
      if partition.failure != nil {
        failed.append(number)
      } else if !partition.isHeard {
        unheard.append(number)
      } else if partition.stillSinceMs > 0, nowMs - partition.stillSinceMs > Self.stillMsMax {
        stalled.append(number)
      }
    }
    reading.stalled = stalled.count
    if let first = failed.min() {
      reading.problem =
        "\(Self.words(failed)) cannot be read: \(partitions[first]!.failure!)"
    } else if !unheard.isEmpty {
      reading.problem =
        "nothing has come of \(Self.words(unheard)) yet, neither a record nor its end"
    } else if !stalled.isEmpty {
      reading.problem =
        "\(Self.words(stalled)) made no progress for over \(Self.stillMsMax / 1_000) s, with input "
        + "to decide"
    }
    return reading
  }

  private static let namedMax = 8

  /// `partitions 0, 3, 7`, the first few of many.
  private static func words(_ numbers: [Int32]) -> String {
    let named = numbers.sorted().prefix(namedMax).map { "\($0)" }.joined(separator: ", ")
    let more = numbers.count > namedMax ? " and \(numbers.count - namedMax) more" : ""
    return (numbers.count == 1 ? "partition " : "partitions ") + named + more
  }
}
