/// Slots by due time, earliest first, in eight bytes each: a heap of four children, whose inner levels
/// stay in cache. Equal dues come by slot.
///
/// Nothing is taken out of the middle: whoever changes a due pushes the slot again, and whoever pops
/// compares with the entry. What agrees with no entry is stale.
struct DueHeap: ~Copyable {
  private static let stepMax = 1 << 13
  private static let slotBits: UInt64 = 24

  struct Item: Equatable {
    let bits: UInt64
    var due: UInt64 { bits >> DueHeap.slotBits }
    var slot: UInt32 { UInt32(bits & (1 << DueHeap.slotBits - 1)) }

    init(due: UInt64, slot: UInt32) { bits = due << DueHeap.slotBits | UInt64(slot) }
    fileprivate init(bits: UInt64) { self.bits = bits }
  }

  private var base = UnsafeMutablePointer<UInt64>(bitPattern: 0x10)!
  private var capacity = 0
  private(set) var count = 0

  deinit { if capacity > 0 { _ = MemoryRun.resize(base, from: capacity, to: 0) } }

  var memoryBytes: Int { capacity * 8 }
  var min: Item? { count > 0 ? Item(bits: base[0]) : nil }

  mutating func push(_ item: Item) {
    if count == capacity { resize(to: capacity + Swift.min(Self.stepMax, max(64, capacity / 64))) }
    var at = count
    count += 1
    while at > 0 {
      let parent = (at - 1) >> 2
      guard base[parent] > item.bits else { break }
      base[at] = base[parent]
      at = parent
    }
    base[at] = item.bits
  }

  mutating func pop() -> Item? {
    guard count > 0 else { return nil }
    let first = Item(bits: base[0])
    count -= 1
    if count > 0 { sift(base[count], from: 0) }
    if capacity - count > 4 * Self.stepMax { resize(to: count + Self.stepMax) }
    return first
  }

  /// Puts `bits` where it belongs among the descendants of `at`, whose place is free.
  private mutating func sift(_ bits: UInt64, from start: Int) {
    var at = start
    while true {
      let first = at * 4 + 1
      guard first < count else { break }
      var least = first
      for child in (first + 1)..<Swift.min(first + 4, count) where base[child] < base[least] {
        least = child
      }
      guard base[least] < bits else { break }
      base[at] = base[least]
      at = least
    }
    base[at] = bits
  }

  /// Keeps those that `isWanted`, in time linear in all.
  mutating func filter(_ isWanted: (Item) -> Bool) {
    var kept = 0
    for i in 0..<count where isWanted(Item(bits: base[i])) {
      base[kept] = base[i]
      kept += 1
    }
    count = kept
    guard count > 1 else { return }
    for at in stride(from: (count - 2) >> 2, through: 0, by: -1) { sift(base[at], from: at) }
  }

  /// In no order.
  func item(_ index: Int) -> Item { Item(bits: base[index]) }

  /// Goes through the items that are due by then, in no order, until `limit` of them have counted.
  /// Only those due are looked at, and their children.
  func forEach(notAfter due: UInt64, limit: Int, _ counts: (Item) -> Bool) {
    var counted = 0
    var open = count > 0 ? [0] : []
    while counted < limit, let at = open.popLast() {
      let item = Item(bits: base[at])
      guard item.due <= due else { continue }
      if counts(item) { counted += 1 }
      let first = at * 4 + 1
      if first < count { open.append(contentsOf: first..<Swift.min(first + 4, count)) }
    }
  }

  private mutating func resize(to newCapacity: Int) {
    base = MemoryRun.resize(base, from: capacity, to: newCapacity)
    capacity = newCapacity
  }
}
