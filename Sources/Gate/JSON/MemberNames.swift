import Glibc

/// The names seen in the objects that are open, to refuse a second one: parsers that take the first
/// and parsers that take the last of two have let one system see consent where another saw none.
///
/// Small objects, which is all of them in practice, compare a word for each name. From
/// `hashedFrom` names on, a keyed hash table keeps a hostile object of ten thousand names from
/// costing ten thousand squared.
final class MemberNames {
  private struct Name {
    var prefix: UInt64
    var bytes: Bytes
  }

  private static let hashedFrom = 24

  private var names: UnsafeMutablePointer<Name>
  private var capacity = 256
  private var count = 0
  /// Open addressing over (scope, name): the position of the name plus one; stamped by use.
  private var slots: UnsafeMutablePointer<UInt32>?
  private var slotCount = 0
  private let seed: UInt64

  init(seed: UInt64) {
    self.seed = seed | 1
    names = .allocate(capacity: capacity)
  }

  deinit {
    names.deallocate()
    slots?.deallocate()
  }

  func forgetAll() { count = 0 }

  /// The scope of a new object: where its names begin.
  func open() -> Int { count }

  /// Forgets the names of an object and of what was inside it.
  func close(_ scope: Int) { count = scope }

  /// A length and the first seven bytes: differs for nearly all pairs of names in practice.
  @inline(__always)
  private func prefix(_ name: Bytes) -> UInt64 {
    var word: UInt64 = 0
    memcpy(&word, name.baseAddress!, min(name.count, 7))
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
      names[count] = Name(prefix: word, bytes: name)
      count += 1
      return true
    }
    return insertHashed(name, word, in: scope)
  }

  private func insertHashed(_ name: Bytes, _ word: UInt64, in scope: Int) -> Bool {
    // The table is made anew when an object grows past a power of two of the threshold, and after an
    // inner object has used it: cost stays linear in the names of the text.
    _ = word
    let size = count - scope
    if size == Self.hashedFrom || tableScope != scope || size * 2 >= slotCount {
      rebuild(scope)
    }
    guard place(name, in: scope) else { return false }
    names[count] = Name(prefix: prefix(name), bytes: name)
    count += 1
    return true
  }

  private var tableScope = -1

  private func rebuild(_ scope: Int) {
    var wanted = 128
    while wanted < (count - scope) * 4 { wanted *= 2 }
    if wanted > slotCount {
      slots?.deallocate()
      slots = .allocate(capacity: wanted)
      slotCount = wanted
    }
    slots!.initialize(repeating: 0, count: slotCount)
    tableScope = scope
    let end = count
    count = scope
    for i in scope..<end {
      _ = place(names[i].bytes, in: scope)
      count += 1
    }
  }

  /// Enters `count` as the position of `name`; false where the name is there.
  private func place(_ name: Bytes, in scope: Int) -> Bool {
    var slot = Int(truncatingIfNeeded: hash(name)) & (slotCount - 1)
    while slots![slot] != 0 {
      let at = Int(slots![slot]) - 1
      // What an inner object has left behind is beyond `count`, or has been overwritten since.
      if names[at].bytes.equals(name) { return false }
      slot = (slot + 1) & (slotCount - 1)
    }
    slots![slot] = UInt32(count + 1)
    return true
  }

  private func hash(_ name: Bytes) -> UInt64 {
    var h = seed
    for byte in name {
      h = (h ^ UInt64(byte)) &* 0x9E37_79B9_7F4A_7C15
      h ^= h >> 29
    }
    return h
  }

  private func grow() {
    let larger = UnsafeMutablePointer<Name>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: names, count: count)
    names.deallocate()
    names = larger
    capacity *= 2
  }
}
