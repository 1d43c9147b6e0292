/// What a link begins with: `https://HOST[:PORT][/PATH]`. Whatever it is, it stands in JSON and in HTML as
/// it is, so that nothing in it may need an escape.
enum WebAddress {
  static let bytesMax = 512

  /// Nil where it is good.
  static func problem(_ text: String) -> String? {
    let wanted =
      "wants https://HOST[:PORT][/PATH], at most \(bytesMax) characters, without a slash at the end,"
      + " user, query or fragment; http only to this machine itself"
    let isSecure = text.hasPrefix("https://")
    guard isSecure || text.hasPrefix("http://"), text.utf8.count <= bytesMax else { return wanted }
    let rest = text.dropFirst(isSecure ? 8 : 7)
    let authority = rest.prefix { $0 != "/" }
    let path = rest.dropFirst(authority.count)
    guard let host = host(authority), isSecure || isLoopback(host), path.last != "/",
      path.utf8.allSatisfy({ isPlain($0) || $0 == UInt8(ascii: "/") }), !path.contains("//")
    else { return wanted }
    return nil
  }

  private static func host(_ authority: Substring) -> Substring? {
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      let host = authority[...end]
      let inside = host.dropFirst().dropLast().utf8
      let isGood = inside.contains(UInt8(ascii: ":")) && inside.allSatisfy(isAddressByte)
      return isGood && isPort(authority[end...].dropFirst()) ? host : nil
    }
    let host = authority.prefix { $0 != ":" }
    guard !host.isEmpty, host.utf8.allSatisfy(isHostByte) else { return nil }
    return isPort(authority.dropFirst(host.count)) ? host : nil
  }

  private static func isPort(_ text: Substring) -> Bool {
    if text.isEmpty { return true }
    let digits = text.dropFirst()
    return text.first == ":" && digits.utf8.allSatisfy { 0x30...0x39 ~= $0 }
      && Int(digits).map { 1...65_535 ~= $0 } ?? false
  }

  private static func isLoopback(_ host: Substring) -> Bool {
    host == "localhost" || host == "[::1]"
      || (host.hasPrefix("127.") && host.utf8.allSatisfy { 0x30...0x39 ~= $0 || $0 == 0x2E })
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: false
    }
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    isLetterOrDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
  }

  private static func isAddressByte(_ byte: UInt8) -> Bool {
    isLetterOrDigit(byte) || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    isHostByte(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "~")
  }
}
