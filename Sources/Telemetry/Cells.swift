import Synchronization

/// Atomic words on cache lines of their own. Two lanes count into neighbouring metrics all the time;
/// on one line each increment would take the line away from the other's core.
struct Cells: ~Copyable, @unchecked Sendable {
  // Unchecked because of the pointer alone: it never changes, and what it points at is atomic.
  private let base: UnsafeMutablePointer<Atomic<UInt64>>
  let count: Int

  private static let lineBytes = 64

  init(count: Int) {
    let bytes = count * MemoryLayout<Atomic<UInt64>>.stride
    let lines = (bytes + Self.lineBytes - 1) / Self.lineBytes
    let raw = UnsafeMutableRawPointer.allocate(
      byteCount: lines * Self.lineBytes, alignment: Self.lineBytes)
    base = raw.bindMemory(to: Atomic<UInt64>.self, capacity: count)
    for i in 0..<count { (base + i).initialize(to: Atomic(0)) }
    self.count = count
  }

  deinit { base.deallocate() }

  func load(_ i: Int) -> UInt64 { base[i].load(ordering: .relaxed) }

  func store(_ i: Int, _ value: UInt64) { base[i].store(value, ordering: .relaxed) }

  /// From any thread.
  func add(_ i: Int, _ n: UInt64) { base[i].wrappingAdd(n, ordering: .relaxed) }

  /// From the one thread that writes: a plain load and store, no locked instruction. Two threads
  /// here would lose each other's counts.
  func addAsOnlyWriter(_ i: Int, _ n: UInt64) { store(i, load(i) &+ n) }

  /// Adds to a word that holds the bits of a Double, from any thread.
  func addDouble(_ i: Int, _ x: Double) {
    var seen = load(i)
    while true {
      let sum = (Double(bitPattern: seen) + x).bitPattern
      let (exchanged, original) = base[i].weakCompareExchange(
        expected: seen, desired: sum, ordering: .relaxed)
      if exchanged { return }
      seen = original
    }
  }

  func addDoubleAsOnlyWriter(_ i: Int, _ x: Double) {
    store(i, (Double(bitPattern: load(i)) + x).bitPattern)
  }
}
