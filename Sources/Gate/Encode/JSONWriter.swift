import Glibc

/// Appends JSON to memory that is kept from batch to batch. Every write is preceded by a `reserve`
/// that covers it; within, nothing checks.
struct JSONWriter: ~Copyable {
  private(set) var base: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  private(set) var count = 0

  init(capacity: Int) {
    self.capacity = capacity
    base = .allocate(capacity: capacity)
  }

  deinit { base.deallocate() }

  mutating func removeAll() { count = 0 }

  /// Takes back what was written behind `count` bytes.
  @inline(__always)
  mutating func removeLast(to count: Int) { self.count = count }

  /// Makes room for `bytes` more. May move what was written: keep offsets, not pointers.
  @inline(__always)
  mutating func reserve(_ bytes: Int) {
    if count + bytes > capacity { grow(to: count + bytes) }
  }

  private mutating func grow(to wanted: Int) {
    var larger = capacity
    while larger < wanted { larger *= 2 }
    move(to: larger)
  }

  /// Gives memory back after a batch that was far out of the ordinary.
  mutating func shrink(to wanted: Int) {
    if capacity > wanted, count <= wanted { move(to: wanted) }
  }

  private mutating func move(to newCapacity: Int) {
    let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: newCapacity)
    memcpy(moved, base, count)
    base.deallocate()
    base = moved
    capacity = newCapacity
  }

  @inline(__always)
  mutating func raw(_ text: StaticString) {
    memcpy(base + count, text.utf8Start, text.utf8CodeUnitCount)
    count += text.utf8CodeUnitCount
  }

  @inline(__always)
  mutating func raw(_ bytes: Bytes) {
    guard let start = bytes.baseAddress else { return }
    memcpy(base + count, start, bytes.count)
    count += bytes.count
  }

  /// Where the next byte goes, for a C function that writes into reserved room; then `written`.
  var end: UnsafeMutablePointer<UInt8> { base + count }

  mutating func written(_ bytes: Int) { count += bytes }

  @inline(__always)
  mutating func byte(_ byte: UInt8) {
    base[count] = byte
    count += 1
  }

  /// A string, or null. Takes up to six times its bytes, and two.
  @inline(__always)
  mutating func string(_ bytes: Bytes?) {
    guard let bytes else { return raw("null") }
    byte(UInt8(ascii: "\""))
    let isPlain = bytes.allWords {
      !$0.hasByte(below: 0x20) && !$0.hasByte(UInt8(ascii: "\"")) && !$0.hasByte(UInt8(ascii: "\\"))
    }
    if isPlain {
      raw(bytes)
    } else {
      for byte in bytes { escaped(byte) }
    }
    byte(UInt8(ascii: "\""))
  }

  private mutating func escaped(_ value: UInt8) {
    switch value {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      byte(UInt8(ascii: "\\"))
      byte(value)
    case 0..<0x20:
      raw("\\u00")
      hex(value)
    default: byte(value)
    }
  }

  /// A string of plain ASCII without quotes.
  @inline(__always)
  mutating func string(_ text: StaticString) {
    byte(UInt8(ascii: "\""))
    raw(text)
    byte(UInt8(ascii: "\""))
  }

  @inline(__always)
  mutating func bool(_ value: Bool) { value ? raw("true") : raw("false") }

  /// An instant, or null. Takes up to 26 bytes.
  @inline(__always)
  mutating func instant(_ ms: Int64?) {
    guard let ms else { return raw("null") }
    byte(UInt8(ascii: "\""))
    Instant.write(ms, to: base + count)
    count += 24
    byte(UInt8(ascii: "\""))
  }

  /// Takes up to 20 bytes.
  mutating func integer(_ value: Int64) {
    var digits = InlineArray<20, UInt8>(repeating: 0)
    var rest = value.magnitude
    var at = 20
    repeat {
      at -= 1
      digits[at] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
    if value < 0 { byte(UInt8(ascii: "-")) }
    while at < 20 {
      byte(digits[at])
      at += 1
    }
  }

  /// `HH:MM` in quotes, or null.
  mutating func wallClock(_ minute: UInt16?) {
    guard let minute else { return raw("null") }
    byte(UInt8(ascii: "\""))
    twoDigits(UInt8(minute / 60))
    byte(UInt8(ascii: ":"))
    twoDigits(UInt8(minute % 60))
    byte(UInt8(ascii: "\""))
  }

  @inline(__always)
  private mutating func twoDigits(_ value: UInt8) {
    byte(0x30 + value / 10)
    byte(0x30 + value % 10)
  }

  /// A hold's key: ids cannot contain the NUL that joins them.
  mutating func holdKey(user: Bytes, notification: Bytes, device: Bytes) {
    reserve(user.count + notification.count + device.count + 2)
    raw(user)
    byte(0)
    raw(notification)
    byte(0)
    raw(device)
  }

  /// Two hexadecimal digits, lower case.
  @inline(__always)
  mutating func hex(_ value: UInt8) {
    hexDigit(value >> 4)
    hexDigit(value & 0xF)
  }

  @inline(__always)
  private mutating func hexDigit(_ nibble: UInt8) {
    byte(nibble < 10 ? 0x30 + nibble : 0x57 + nibble)
  }
}
