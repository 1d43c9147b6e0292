import Gate

/// Percent escapes (RFC 3986), read strictly: what is not `%` and two hexadecimal digits is an error,
/// and so are bytes that are not UTF-8.
enum PercentText {
  /// As one part of a path, or one value of a query.
  static func encode(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      default: encoded += "%" + Hex.text([byte]).uppercased()
      }
    }
    return encoded
  }

  /// Nil where it cannot be decoded.
  static func decode(_ text: some StringProtocol) -> String? {
    let raw = Array(text.utf8)
    guard raw.contains(UInt8(ascii: "%")) else { return String(validating: raw, as: UTF8.self) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(raw.count)
    var at = 0
    while at < raw.count {
      if raw[at] != UInt8(ascii: "%") {
        bytes.append(raw[at])
        at += 1
        continue
      }
      guard at + 2 < raw.count, let high = Hex.value(raw[at + 1]),
        let low = Hex.value(raw[at + 2])
      else { return nil }
      bytes.append(high << 4 | low)
      at += 3
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
