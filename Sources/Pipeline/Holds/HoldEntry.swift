import Gate

/// One hold in the index: 40 bytes.
struct HoldEntry {
  enum State: UInt32 {
    /// In the heap, or soon.
    case waiting
    /// Written in the transaction that is open.
    case added
    /// Taken out of the heap to be decided in the transaction that is open.
    case taken
    /// Released, dropped or erased in the transaction that is open.
    case ended
  }

  static let offsetUnknown: Int64 = (1 << 40) - 1
  static let dueMax: UInt64 = (1 << 40) - 1

  let user: UInt64
  let hold: UInt64
  // Due 40 | offset, low 24.
  private var dueAndOffset: UInt64 = 0
  // Offset, high 16 | position 16.
  private var offsetAndPosition: UInt32 = 0
  // Block 24 | unused 2 | is marked | has a collapse key | is free | provider | state 2.
  private var blockAndFlags: UInt32 = 0
  /// The next older-to-newer of the user's holds; the newest leads back to the oldest.
  var next: UInt32 = 0
  let collapse: UInt32

  init(_ identity: HoldIdentity, collapse: UInt32?, provider: Provider, state: State) {
    user = identity.user
    hold = identity.hold
    self.collapse = collapse ?? 0
    blockAndFlags = state.rawValue | UInt32(provider.rawValue) << 2 | (collapse != nil ? 16 : 0)
    offset = Self.offsetUnknown
  }

  var state: State {
    get { State(rawValue: blockAndFlags & 3)! }
    set { blockAndFlags = blockAndFlags & ~3 | newValue.rawValue }
  }

  var provider: Provider {
    get { Provider(rawValue: UInt8(blockAndFlags >> 2 & 1))! }
    set { blockAndFlags = blockAndFlags & ~4 | UInt32(newValue.rawValue) << 2 }
  }
  var hasCollapse: Bool { blockAndFlags & 16 != 0 }

  /// No window holds it: another look at the same preferences moves it no more.
  var isFree: Bool {
    get { blockAndFlags & 8 != 0 }
    set { blockAndFlags = blockAndFlags & ~8 | (newValue ? 8 : 0) }
  }

  /// Seen, while a heap is gone through.
  var isMarked: Bool {
    get { blockAndFlags & 32 != 0 }
    set { blockAndFlags = blockAndFlags & ~32 | (newValue ? 32 : 0) }
  }

  /// Milliseconds after the store's base.
  var due: UInt64 {
    get { dueAndOffset >> 24 }
    set { dueAndOffset = newValue << 24 | dueAndOffset & 0xFF_FFFF }
  }

  /// In the partition's `notifications.deferred`.
  var offset: Int64 {
    get { Int64(dueAndOffset & 0xFF_FFFF | UInt64(offsetAndPosition >> 16) << 24) }
    set {
      let bits = UInt64(newValue)
      dueAndOffset = dueAndOffset & ~0xFF_FFFF | bits & 0xFF_FFFF
      offsetAndPosition = offsetAndPosition & 0xFFFF | UInt32(bits >> 24) << 16
    }
  }

  var location: PayloadBlocks.Location {
    get {
      PayloadBlocks.Location(
        block: blockAndFlags >> 8, position: UInt16(truncatingIfNeeded: offsetAndPosition))
    }
    set {
      blockAndFlags = blockAndFlags & 0xFF | newValue.block << 8
      offsetAndPosition = offsetAndPosition & ~0xFFFF | UInt32(newValue.position)
    }
  }
}

/// The entries by slot, in one run of memory that grows in small steps: at this size the C library
/// moves pages, not bytes. Slot 0 is none.
final class HoldEntries {
  /// Slots have 24 bits.
  static let slotsMax = 1 << 24
  private static let stepMax = 1 << 13

  private(set) var base = UnsafeMutablePointer<HoldEntry>(bitPattern: 0x10)!
  private var capacity = 0
  /// Slots ever used, the free ones and slot 0 included.
  private var used = 1
  private var free: UInt32 = 0
  private(set) var count = 0

  deinit { release() }

  var memoryBytes: Int { capacity * MemoryLayout<HoldEntry>.stride }
  var isFull: Bool { free == 0 && used == Self.slotsMax }

  /// Whether the slot is inside the memory there is; it may be a free one.
  @inline(__always)
  func has(_ slot: UInt32) -> Bool { Int(slot) < used }

  @inline(__always)
  subscript(_ slot: UInt32) -> HoldEntry {
    _read { yield base[Int(slot)] }
    _modify { yield &base[Int(slot)] }
  }

  func insert(_ entry: HoldEntry) -> UInt32 {
    precondition(!isFull, "more than \(Self.slotsMax) holds in a partition")
    count += 1
    let slot: UInt32
    if free != 0 {
      slot = free
      free = base[Int(slot)].next
    } else {
      if used >= capacity { resize(to: capacity + min(Self.stepMax, max(64, capacity / 64))) }
      slot = UInt32(used)
      used += 1
    }
    (base + Int(slot)).initialize(to: entry)
    return slot
  }

  func remove(_ slot: UInt32) {
    // A heap may still name it: what is free must not look like a hold that waits.
    base[Int(slot)].state = .ended
    base[Int(slot)].next = free
    free = slot
    count -= 1
    if count == 0 { release() }
  }

  private func release() {
    if capacity > 0 { resize(to: 0) }
    (used, free) = (1, 0)
  }

  private func resize(to newCapacity: Int) {
    base = MemoryRun.resize(base, from: capacity, to: newCapacity)
    capacity = newCapacity
  }
}
