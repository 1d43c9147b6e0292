/// UTF-8 text being put together. Metrics and log lines leave the process as bytes, and are escaped
/// on the way in, so that no value can break out of its line.
struct TextBuffer {
  private(set) var bytes: [UInt8] = []

  mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

  mutating func append(_ byte: UInt8) { bytes.append(byte) }

  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// For label values and help texts: backslash, quote and line feed.
  mutating func appendOpenMetricsEscaped(_ text: String) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\\"): append("\\\\")
      case UInt8(ascii: "\""): append("\\\"")
      case 0x0A: append("\\n")
      default: append(byte)
      }
    }
  }

  /// Inside a JSON string. Escapes more than RFC 8259 asks for: DEL and the C1 controls too, which a
  /// terminal that shows the raw line would obey.
  mutating func appendJSONEscaped(_ text: String) {
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x22: append("\\\"")
      case 0x5C: append("\\\\")
      case 0x0A: append("\\n")
      case 0x0D: append("\\r")
      case 0x09: append("\\t")
      case 0..<0x20, 0x7F...0x9F: appendUnicodeEscape(scalar.value)
      default: bytes.append(contentsOf: UTF8.encode(scalar)!)
      }
    }
  }

  private mutating func appendUnicodeEscape(_ value: UInt32) {
    append("\\u")
    for shift in [12, 8, 4, 0] as [UInt32] { append(Self.hexDigit(value >> shift & 15)) }
  }

  private static func hexDigit(_ value: UInt32) -> UInt8 {
    UInt8(value < 10 ? 0x30 + value : 0x57 + value)
  }

  /// A decimal number, zero-filled to `width`.
  mutating func append(_ value: Int, width: Int) {
    let digits = String(value)
    for _ in 0..<max(0, width - digits.utf8.count) { append(UInt8(ascii: "0")) }
    append(digits)
  }
}
