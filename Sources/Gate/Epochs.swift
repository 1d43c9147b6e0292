import Synchronization

/// When memory that a writer has unlinked may be freed: once every reader has passed a batch boundary
/// since. Readers never wait and never retry; a writer that retires something asks later.
///
/// The protocol: a reader holds pointers only between two calls of `passBoundary`. A writer unlinks,
/// calls `advance`, keeps the epoch it is given with what it unlinked, and frees it when
/// `haveAllPassed` says so. Without the wait, a lane in the middle of a batch would read a block that
/// the writer has already handed out again.
public final class Epochs: Sendable {
  public static let readersMax = 128
  private static let idle = UInt64.max
  /// One reader's slot a cache line, so that lanes do not slow each other down.
  private static let stride = 8

  private let global = Atomic<UInt64>(1)
  private let taken = Atomic<Int>(0)
  private let slots: Slots

  private struct Slots: @unchecked Sendable {
    let base: UnsafeMutablePointer<Atomic<UInt64>>
  }

  public init() {
    let count = Self.readersMax * Self.stride
    let base = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: count)
    for i in 0..<count { (base + i).initialize(to: Atomic(Self.idle)) }
    slots = Slots(base: base)
  }

  deinit { slots.base.deallocate() }

  /// A slot for one reading thread, kept for the life of the process; idle at first.
  public func register() -> Int {
    let slot = taken.wrappingAdd(1, ordering: .relaxed).oldValue
    precondition(slot < Self.readersMax, "more than \(Self.readersMax) readers")
    return slot
  }

  /// The reader holds nothing from before this call, and may read from now on.
  public func passBoundary(_ slot: Int) {
    // Sequentially consistent, twice over: the slot must be visible before the reader's first load
    // of a shared pointer, or a writer could see it idle, free, and the reader read what was freed.
    let now = global.load(ordering: .sequentiallyConsistent)
    slots.base[slot * Self.stride].store(now, ordering: .sequentiallyConsistent)
    // An acquiring load may pass an earlier store on ARM; the fence keeps it behind.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
  }

  /// The reader holds nothing and will call `passBoundary` before it reads again.
  public func goIdle(_ slot: Int) {
    slots.base[slot * Self.stride].store(Self.idle, ordering: .releasing)
  }

  /// Called after unlinking. What was unlinked is free once all have passed the epoch returned.
  public func advance() -> UInt64 {
    global.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
  }

  public func haveAllPassed(_ epoch: UInt64) -> Bool {
    let count = min(taken.load(ordering: .sequentiallyConsistent), Self.readersMax)
    for reader in 0..<count
    where slots.base[reader * Self.stride].load(ordering: .sequentiallyConsistent) < epoch {
      return false
    }
    return true
  }
}
