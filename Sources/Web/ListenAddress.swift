import Glibc

/// Where to listen: a numeric address and a port. Names are not looked up, so that what is bound is
/// what was written.
public struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
  public let host: String
  /// 0: any free port.
  public let port: UInt16

  /// Reads `127.0.0.1:9100`, `[::1]:9100` or `:9100` (loopback). Nil for anything else, `localhost`
  /// too: which of its addresses was meant is not said.
  public init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":") else { return nil }
    let digits = text[text.index(after: colon)...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let port = UInt16(digits)
    else { return nil }
    var host = String(text[..<colon])
    if host.isEmpty { host = "127.0.0.1" }
    if host.hasPrefix("[") && host.hasSuffix("]") {
      host = String(host.dropFirst().dropLast())
      guard Self.bytes(host, AF_INET6) != nil else { return nil }
    } else {
      guard Self.bytes(host, AF_INET) != nil else { return nil }
    }
    self.host = host
    self.port = port
  }

  /// Reachable from this machine alone: 127.0.0.0/8 or ::1.
  public var isLoopback: Bool {
    if let v4 = Self.bytes(host, AF_INET) { return v4[0] == 127 }
    return Self.bytes(host, AF_INET6) == [UInt8](repeating: 0, count: 15) + [1]
  }

  public var description: String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  /// A numeric address without a port, as a proxy writes it.
  static func client(_ text: String) -> ClientAddress? {
    (bytes(text, AF_INET) ?? bytes(text, AF_INET6)).map { ClientAddress($0) }
  }

  private static func bytes(_ host: String, _ family: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: family == AF_INET ? 4 : 16)
    // A NUL would end the C string early and let the rest pass unread.
    guard !host.utf8.contains(0), inet_pton(family, host, &bytes) == 1 else { return nil }
    return bytes
  }
}
