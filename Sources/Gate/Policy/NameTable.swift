/// What the policy says of an event or subtype, by name. Built once, read without a lock; looked up
/// by bytes.
struct NameTable {
  /// The facts of one name. All zero: the policy does not know it.
  struct Facts {
    /// Bit `c`: registered under category `c`.
    var registered: UInt8 = 0
    /// Bit `c`: as an event of category `c` it passes the user's choice.
    var passesChoice: UInt8 = 0
    /// Bit `c`: as an event of category `c` it passes quiet hours.
    var passesQuietHours: UInt8 = 0
    /// On the allow-list for critical alerts.
    var critical = false
  }

  private struct Slot {
    var name: Bytes
    var facts: Facts
  }

  private let slots: UnsafeMutablePointer<Slot>
  private let mask: Int

  /// Keeps a copy of every name, for the life of the process.
  init(_ names: [(name: String, facts: Facts)]) {
    var size = 16
    while size < names.count * 4 { size *= 2 }
    mask = size - 1
    slots = .allocate(capacity: size)
    slots.initialize(
      repeating: Slot(name: Bytes(start: nil, count: 0), facts: Facts()), count: size)
    for (name, facts) in names {
      let utf8 = Array(name.utf8)
      let copy = UnsafeMutableRawPointer.allocate(byteCount: max(1, utf8.count), alignment: 1)
      utf8.withUnsafeBytes {
        copy.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(copy), byteCount: $0.count)
      }
      let bytes = Bytes(start: copy, count: utf8.count)
      var at = Self.hash(bytes) & mask
      while slots[at].name.baseAddress != nil { at = (at + 1) & mask }
      slots[at] = Slot(name: bytes, facts: facts)
    }
  }

  @inline(__always)
  subscript(_ name: Bytes) -> Facts {
    var at = Self.hash(name) & mask
    while slots[at].name.baseAddress != nil {
      if slots[at].name.equals(name) { return slots[at].facts }
      at = (at + 1) & mask
    }
    return Facts()
  }

  /// The names are the policy's own, so a plain hash does.
  @inline(__always)
  private static func hash(_ name: Bytes) -> Int {
    var h: UInt32 = 2_166_136_261
    for byte in name { h = (h ^ UInt32(byte)) &* 16_777_619 }
    return Int(h ^ h >> 15)
  }
}
