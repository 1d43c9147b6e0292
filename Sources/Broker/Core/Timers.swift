/// Something that is due at a time. What it names may have gone or been put off meanwhile: whoever
/// handles it checks.
enum Timer {
  case fetch(RequestId)
  case session(group: String, member: String, atMs: Int64)
  case pendingMember(group: String, member: String)
  case join(group: String, stamp: Int)
  case sync(group: String, generation: Int32)
  case transaction(id: String, producerId: Int64, epoch: Int16, startMs: Int64)
  case markers(id: String)
  case logs
  case held(RequestId)
  case stallOver(TopicPartition)
}

/// Timers by due time, then in the order they were set: the order decides which of two things at
/// the same millisecond comes first, and must be the same in every run.
struct TimerQueue {
  private struct Entry {
    var dueMs: Int64
    var order: UInt64
    var timer: Timer

    func isBefore(_ other: Entry) -> Bool {
      (dueMs, order) < (other.dueMs, other.order)
    }
  }

  private var heap: [Entry] = []
  private var order: UInt64 = 0

  var nextDueMs: Int64? { heap.first?.dueMs }

  mutating func add(_ timer: Timer, at dueMs: Int64) {
    order += 1
    heap.append(Entry(dueMs: dueMs, order: order, timer: timer))
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].isBefore(heap[parent]) else { break }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  /// Takes the next timer that is due by `nowMs`.
  mutating func pop(dueBy nowMs: Int64) -> Timer? {
    guard let first = heap.first, first.dueMs <= nowMs else { return nil }
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < heap.count && heap[child].isBefore(heap[least]) {
        least = child
      }
      if least == parent { break }
      heap.swapAt(parent, least)
      parent = least
    }
    return first.timer
  }
}

/// A small generator with a seed (SplitMix64), so that a run can be repeated.
struct SeededRandom {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// Between 0 and 1.
  mutating func unit() -> Double { Double(next() >> 11) / Double(1 << 53) }
}
