/// What may stand inside a token: RFC 8259, sections 6 and 7.
enum JSONText {
  @inline(__always)
  static func isWhiteSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }

  @inline(__always)
  private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

  /// How many bytes at the start are one number; 0 where they are none.
  static func numberLength(_ text: UnsafePointer<UInt8>, count: Int) -> Int {
    var i = 0
    func digits() -> Int {
      let start = i
      while i < count, isDigit(text[i]) { i += 1 }
      return i - start
    }
    if i < count, text[i] == UInt8(ascii: "-") { i += 1 }
    guard i < count else { return 0 }
    if text[i] == UInt8(ascii: "0") {
      i += 1
    } else if digits() == 0 {
      return 0
    }
    if i < count, text[i] == UInt8(ascii: ".") {
      i += 1
      if digits() == 0 { return 0 }
    }
    if i < count, text[i] | 0x20 == UInt8(ascii: "e") {
      i += 1
      if i < count, text[i] == UInt8(ascii: "+") || text[i] == UInt8(ascii: "-") { i += 1 }
      if digits() == 0 { return 0 }
    }
    return i
  }

  /// A number that is an integer and fits 63 bits; nil otherwise (fractions, exponents, `-0`).
  static func integer(_ number: Bytes) -> Int64? {
    var value: Int64 = 0
    var negative = false
    for (i, byte) in number.enumerated() {
      if i == 0, byte == UInt8(ascii: "-") {
        negative = true
        continue
      }
      guard isDigit(byte) else { return nil }
      let (product, tooLarge) = value.multipliedReportingOverflow(by: 10)
      let (sum, tooLargeToo) = product.addingReportingOverflow(Int64(byte - 0x30))
      if tooLarge || tooLargeToo { return nil }
      value = sum
    }
    if negative, value == 0 { return nil }
    return negative ? -value : value
  }

  private static func hexValue(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
  }

  private static func hex4(_ raw: Bytes, at start: Int) -> UInt32? {
    guard start + 4 <= raw.count else { return nil }
    var value: UInt32 = 0
    for i in start..<(start + 4) {
      guard let digit = hexValue(raw[i]) else { return nil }
      value = value << 4 | digit
    }
    return value
  }

  /// The grammar of escapes alone; what they stand for is not asked.
  static func checkEscapes(_ raw: Bytes) throws(JSONFault) {
    var i = 0
    while i < raw.count {
      guard raw[i] == UInt8(ascii: "\\") else {
        i += 1
        continue
      }
      guard i + 1 < raw.count else { throw .malformedJSON }
      switch raw[i + 1] {
      case UInt8(ascii: "u"):
        guard hex4(raw, at: i + 2) != nil else { throw .malformedJSON }
        i += 6
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
        UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
        i += 2
      default: throw .malformedJSON
      }
    }
  }

  /// Writes what `raw` stands for, which is never longer, and returns the end of it.
  static func unescape(
    _ raw: Bytes, into out: UnsafeMutablePointer<UInt8>
  ) throws(JSONFault) -> UnsafeMutablePointer<UInt8> {
    var out = out
    func put(_ byte: UInt8) {
      out.pointee = byte
      out += 1
    }
    var i = 0
    while i < raw.count {
      guard raw[i] == UInt8(ascii: "\\") else {
        put(raw[i])
        i += 1
        continue
      }
      guard i + 1 < raw.count else { throw .malformedJSON }
      i += 2
      switch raw[i - 1] {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): put(raw[i - 1])
      case UInt8(ascii: "b"): put(0x08)
      case UInt8(ascii: "f"): put(0x0C)
      case UInt8(ascii: "n"): put(0x0A)
      case UInt8(ascii: "r"): put(0x0D)
      case UInt8(ascii: "t"): put(0x09)
      case UInt8(ascii: "u"):
        guard var scalar = hex4(raw, at: i) else { throw .malformedJSON }
        i += 4
        if 0xD800...0xDFFF ~= scalar {
          guard scalar < 0xDC00, i + 1 < raw.count, raw[i] == UInt8(ascii: "\\"),
            raw[i + 1] == UInt8(ascii: "u"), let low = hex4(raw, at: i + 2),
            0xDC00...0xDFFF ~= low
          else { throw .malformedString }
          scalar = 0x10000 + (scalar - 0xD800) << 10 + (low - 0xDC00)
          i += 6
        }
        for byte in UTF8.encode(Unicode.Scalar(scalar)!)! { put(byte) }
      default: throw .malformedJSON
      }
    }
    return out
  }
}
