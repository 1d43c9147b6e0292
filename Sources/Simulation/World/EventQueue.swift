/// What is to happen, by its time. Of what falls on the same millisecond a drawn number decides, which
/// is how a seed chooses among the orders that threads and networks could have.
struct EventQueue {
  enum Event {
    case wake(Fiber, wait: UInt64, isSignal: Bool)
    case deliver(Exchange)
    case answer(Exchange)
    case call(() -> Void)
  }

  private struct Entry {
    var dueMs: Int64
    var tie: UInt64
    var event: Event

    func isBefore(_ other: Entry) -> Bool { (dueMs, tie) < (other.dueMs, other.tie) }
  }

  private var heap: [Entry] = []

  var nextDueMs: Int64? { heap.first?.dueMs }

  /// - Parameter tie: no two the same at one time.
  mutating func add(_ event: Event, at dueMs: Int64, tie: UInt64) {
    heap.append(Entry(dueMs: dueMs, tie: tie, event: event))
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].isBefore(heap[parent]) else { break }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  mutating func pop() -> (event: Event, dueMs: Int64)? {
    guard let first = heap.first else { return nil }
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < heap.count && heap[child].isBefore(heap[least]) { least = child }
      if least == parent { break }
      heap.swapAt(parent, least)
      parent = least
    }
    return (first.event, first.dueMs)
  }
}
