/// Open addressing from a hash to 31 bits that say where its entry is: 8 bytes a slot, a power of two of them, linear
/// probing, at most three quarters full.
///
/// A slot is 32 bits of the hash over those of the place. The bits of the hash also say
/// where the slot belongs, so growing and removing never look at the entries themselves.
struct SeenIndex: ~Copyable {
  private static let slotsMin = 1024
  /// Set in every used slot, so that none is zero.
  private static let used: UInt64 = 1 << 31
  private static let placeMask: UInt64 = used - 1

  private var slots: UnsafeMutablePointer<UInt64>
  private var mask: Int
  private(set) var count = 0

  init() {
    mask = Self.slotsMin - 1
    slots = Self.allocate(Self.slotsMin)
  }

  deinit { slots.deallocate() }

  var memoryBytes: Int { (mask + 1) * MemoryLayout<UInt64>.stride }

  private static func allocate(_ count: Int) -> UnsafeMutablePointer<UInt64> {
    let slots = UnsafeMutablePointer<UInt64>.allocate(capacity: count)
    slots.initialize(repeating: 0, count: count)
    return slots
  }

  @inline(__always)
  private func home(_ slot: UInt64) -> Int { Int(slot >> 32) & mask }

  @inline(__always)
  private static func slot(_ hash: SeenHash, _ place: UInt64) -> UInt64 {
    hash.first << 32 | used | place & placeMask
  }

  /// The first slot that agrees with the hash and whose place `isIt` confirms.
  @inline(__always)
  private func slotIndex(_ hash: SeenHash, _ isIt: (UInt64) -> Bool) -> Int? {
    let tag = hash.first & 0xFFFF_FFFF
    var at = Int(tag) & mask
    while slots[at] != 0 {
      if slots[at] >> 32 == tag, isIt(slots[at] & Self.placeMask) { return at }
      at = (at + 1) & mask
    }
    return nil
  }

  /// The place kept under `hash`.
  @inline(__always)
  func find(_ hash: SeenHash, _ isIt: (UInt64) -> Bool) -> UInt64? {
    slotIndex(hash, isIt).map { slots[$0] & Self.placeMask }
  }

  /// Keeps a place under a hash that has none.
  mutating func insert(_ hash: SeenHash, place: UInt64) {
    if (count + 1) * 4 > (mask + 1) * 3 { grow() }
    put(Self.slot(hash, place))
    count += 1
  }

  mutating func move(_ hash: SeenHash, from old: UInt64, to new: UInt64) {
    guard let at = slotIndex(hash, { $0 == old & Self.placeMask }) else {
      preconditionFailure("moved what is not there")
    }
    slots[at] = Self.slot(hash, new)
  }

  /// Removes a slot and closes the gap: what was pushed past it comes nearer to where it belongs. No
  /// marker stays behind, so look-ups cost the same for ever.
  mutating func remove(_ hash: SeenHash, place: UInt64) {
    guard var gap = slotIndex(hash, { $0 == place & Self.placeMask }) else {
      preconditionFailure("removed what is not there")
    }
    var at = gap
    while true {
      at = (at + 1) & mask
      guard slots[at] != 0 else { break }
      // It may fill the gap unless it belongs behind it.
      if (at - home(slots[at])) & mask >= (at - gap) & mask {
        slots[gap] = slots[at]
        gap = at
      }
    }
    slots[gap] = 0
    count -= 1
  }

  private mutating func put(_ slot: UInt64) {
    var at = home(slot)
    while slots[at] != 0 { at = (at + 1) & mask }
    slots[at] = slot
  }

  private mutating func grow() {
    let old = slots
    let oldCount = mask + 1
    slots = Self.allocate(oldCount * 2)
    mask = oldCount * 2 - 1
    for i in 0..<oldCount where old[i] != 0 { put(old[i]) }
    old.deallocate()
  }
}
