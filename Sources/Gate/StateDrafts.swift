/// Records for the state topic whose bytes may still move: they stand between the outputs' own. Kept
/// from batch to batch.
struct StateDrafts: ~Copyable {
  private struct Draft {
    var partition: Int32
    var keyStart: Int
    var valueStart: Int
    var valueEnd: Int
  }

  private var capacity = Engine.batchRecordsMax * 2
  private var drafts: UnsafeMutablePointer<Draft>
  private var finished: UnsafeMutablePointer<StateRecord>
  private var count = 0

  init() {
    drafts = .allocate(capacity: capacity)
    finished = .allocate(capacity: capacity)
  }

  deinit {
    drafts.deallocate()
    finished.deallocate()
  }

  mutating func removeAll() { count = 0 }

  mutating func add(_ partition: Int32, keyStart: Int, valueStart: Int, valueEnd: Int) {
    if count == capacity { grow() }
    (drafts + count).initialize(
      to: Draft(
        partition: partition, keyStart: keyStart, valueStart: valueStart, valueEnd: valueEnd))
    count += 1
  }

  private mutating func grow() {
    let larger = UnsafeMutablePointer<Draft>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: drafts, count: count)
    drafts.deallocate()
    drafts = larger
    capacity *= 2
    finished.deallocate()
    finished = .allocate(capacity: capacity)
  }

  /// Nothing moves any more: turns positions from `base` into pointers.
  func finish(_ base: UnsafeMutablePointer<UInt8>) {
    for i in 0..<count {
      let draft = drafts[i]
      (finished + i).initialize(
        to: StateRecord(
          partition: draft.partition,
          key: Bytes(start: base + draft.keyStart, count: draft.valueStart - draft.keyStart),
          value: Bytes(start: base + draft.valueStart, count: draft.valueEnd - draft.valueStart)))
    }
  }

  /// Since `finish`.
  var records: UnsafeBufferPointer<StateRecord> {
    UnsafeBufferPointer(start: finished, count: count)
  }
}
