/// The names seen in the objects that are open, to refuse a second one: parsers that take the first
/// and parsers that take the last of two have let one system see consent where another saw none.
///
/// Small objects, which is all of them in practice, compare a word for each name. From
/// `hashedFrom` names on, a keyed hash table keeps a hostile object of ten thousand names from
/// costing ten thousand squared. Objects close in the reverse order of opening, so an object takes
/// its names out of the table in the reverse order of entering them, which leaves every probe of the
/// names before it as it was: nothing is ever built anew for an object inside another.
final class MemberNames {
  private struct Name {
    var prefix: UInt64
    var bytes: Bytes
    var scope: UInt32
    /// Where the table has it; `notHashed` where it does not.
    var slot: UInt32 = MemberNames.notHashed
  }

  private static let hashedFrom = 24
  private static let notHashed = UInt32.max
  private static let slotsMin = 128

  private var names: UnsafeMutablePointer<Name>
  private var capacity = 256
  private var count = 0
  /// Open addressing over (scope, name): the position of the name plus one; 0 is free.
  private var slots: UnsafeMutablePointer<UInt32>
  private var slotCount = MemberNames.slotsMin
  private var hashedCount = 0
  private let seed: UInt64

  init(seed: UInt64) {
    self.seed = seed | 1
    names = .allocate(capacity: capacity)
    slots = .allocate(capacity: slotCount)
    slots.initialize(repeating: 0, count: slotCount)
  }

  deinit {
    names.deallocate()
    slots.deallocate()
  }

  func forgetAll() {
    // Only a text that was refused halfway leaves names in the table.
    if hashedCount > 0 { takeOut(from: 0) }
    count = 0
  }

  /// The scope of a new object: where its names begin.
  func open() -> Int { count }

  /// Forgets the names of an object; what was inside it is closed already.
  func close(_ scope: Int) {
    if count - scope > Self.hashedFrom { takeOut(from: scope) }
    count = scope
  }

  private func takeOut(from scope: Int) {
    for at in stride(from: count - 1, through: scope, by: -1)
    where names[at].slot != Self.notHashed {
      slots[Int(names[at].slot)] = 0
      hashedCount -= 1
    }
  }

  /// A length and the first seven bytes: differs for nearly all pairs of names in practice.
  @inline(__always)
  private func prefix(_ name: Bytes) -> UInt64 {
    let size = min(name.count, 7)
    var word: UInt64 = 0
    if size >= 4 {
      // Two words that overlap.
      word = UInt64(name.loadUnaligned(as: UInt32.self))
      word |=
        UInt64(name.loadUnaligned(fromByteOffset: size - 4, as: UInt32.self))
        << UInt64(8 * (size - 4))
    } else {
      for at in 0..<size { word |= UInt64(name[at]) << UInt64(8 * at) }
    }
    return word | UInt64(UInt8(truncatingIfNeeded: name.count)) << 56
  }

  /// False where the object has the name already.
  @inline(__always)
  func insert(_ name: Bytes, in scope: Int) -> Bool {
    if count == capacity { grow() }
    let word = prefix(name)
    if count - scope < Self.hashedFrom {
      for i in scope..<count
      where names[i].prefix == word && names[i].bytes.equals(name) {
        return false
      }
    } else if !insertHashed(name, in: scope) {
      return false
    }
    (names + count).initialize(
      to: Name(prefix: word, bytes: name, scope: UInt32(truncatingIfNeeded: scope)))
    if count - scope >= Self.hashedFrom { enter(count) }
    count += 1
    return true
  }

  /// Makes sure that the object's names are in the table, with room for one more; false where the
  /// name is among them.
  private func insertHashed(_ name: Bytes, in scope: Int) -> Bool {
    if (hashedCount + Self.hashedFrom + 1) * 2 > slotCount { growTable() }
    if count - scope == Self.hashedFrom {
      for at in scope..<count { enter(at) }
    }
    var slot = slot(name, UInt32(truncatingIfNeeded: scope))
    while slots[slot] != 0 {
      let at = Int(slots[slot]) - 1
      if at >= scope, names[at].bytes.equals(name) { return false }
      slot = (slot + 1) & (slotCount - 1)
    }
    return true
  }

  private func enter(_ at: Int) {
    var slot = slot(names[at].bytes, names[at].scope)
    while slots[slot] != 0 { slot = (slot + 1) & (slotCount - 1) }
    slots[slot] = UInt32(at + 1)
    names[at].slot = UInt32(slot)
    hashedCount += 1
  }

  private func slot(_ name: Bytes, _ scope: UInt32) -> Int {
    var h = seed ^ UInt64(scope) &* 0xD6E8_FEB8_6659_FD93
    for byte in name {
      h = (h ^ UInt64(byte)) &* 0x9E37_79B9_7F4A_7C15
      h ^= h >> 29
    }
    return Int(truncatingIfNeeded: h) & (slotCount - 1)
  }

  private func growTable() {
    slots.deallocate()
    slotCount *= 2
    slots = .allocate(capacity: slotCount)
    slots.initialize(repeating: 0, count: slotCount)
    hashedCount = 0
    // In the order of entering, which is that of the positions.
    for at in 0..<count where names[at].slot != Self.notHashed { enter(at) }
  }

  private func grow() {
    let larger = UnsafeMutablePointer<Name>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: names, count: count)
    names.deallocate()
    names = larger
    capacity *= 2
  }
}
