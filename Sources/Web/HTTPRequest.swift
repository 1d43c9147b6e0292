/// A header, or an argument of a query.
public struct HTTPField: Sendable, Equatable {
  public var name: String
  public var value: String

  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// One request as it came.
public struct HTTPRequest: Sendable {
  /// What became of the body.
  public enum Body: Sendable, Equatable {
    /// None was announced.
    case none
    case whole([UInt8])
    /// Longer than the server keeps.
    case tooLarge
    /// It comes in chunks, and nobody tells its length beforehand; it was not read.
    case lengthUnknown
    /// Its headers contradict each other about where it ends; it was not read.
    case ambiguous
  }

  public var method: String
  /// As sent, without the query, percent escapes and all: they are decoded after the path is split.
  public var path: String
  /// As sent, but for `+`, which stands for a blank. The value is nil where there is no `=`.
  public var arguments: [(name: String, value: String?)]
  /// In the order they came; a name may come again.
  public var headers: [HTTPField]
  public var body: Body
  public var client: ClientAddress

  public init(
    method: String, path: String, arguments: [(name: String, value: String?)] = [],
    headers: [HTTPField] = [], body: Body = .none, client: ClientAddress = .unknown
  ) {
    self.method = method
    self.path = path
    self.arguments = arguments
    self.headers = headers
    self.body = body
    self.client = client
  }

  /// Whether the query names it, with or without a value: `?verbose`.
  public func has(argument name: String) -> Bool { arguments.contains { $0.name == name } }

  /// The values of a header, by its name in any case, in the order they came.
  public func headers(_ name: String) -> [String] {
    headers.filter { ASCII.equal($0.name, name) }.map(\.value)
  }
}

/// Where a request came from.
public enum ClientAddress: Sendable, Hashable, CustomStringConvertible {
  case v4(UInt32)
  case v6(high: UInt64, low: UInt64)
  case unknown

  /// - Parameter bytes: in the network's order, 4 or 16.
  init(_ bytes: some Collection<UInt8>) {
    func number(_ bytes: some Sequence<UInt8>) -> UInt64 {
      bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
    switch bytes.count {
    case 4: self = .v4(UInt32(number(bytes)))
    case 16:
      let (high, low) = (number(bytes.prefix(8)), number(bytes.dropFirst(8)))
      // ::ffff:192.0.2.1 is how one socket for both families writes an address of IPv4; as one of IPv6
      // all of them would lie in the same /64.
      self =
        high == 0 && low >> 32 == 0xFFFF
        ? .v4(UInt32(truncatingIfNeeded: low)) : .v6(high: high, low: low)
    default: self = .unknown
    }
  }

  /// As people write it; of IPv6 every group, none left out.
  public var description: String {
    switch self {
    case .v4(let number):
      stride(from: 24, through: 0, by: -8).map { "\(number >> $0 & 0xFF)" }.joined(separator: ".")
    case .v6(let high, let low):
      [high, low].flatMap { half in
        stride(from: 48, through: 0, by: -16).map { String(half >> $0 & 0xFFFF, radix: 16) }
      }.joined(separator: ":")
    case .unknown: "unknown"
    }
  }

  /// What limits of rate are counted by: one machine of IPv6 has a whole /64 of addresses.
  var network: ClientAddress {
    if case .v6(let high, _) = self { return .v6(high: high, low: 0) }
    return self
  }
}

/// Texts of protocols, whose letters are ASCII whatever the language of the machine.
enum ASCII {
  /// Equal but for the case of letters A to Z.
  static func equal(_ a: String, _ b: String) -> Bool {
    a.utf8.count == b.utf8.count && zip(a.utf8, b.utf8).allSatisfy { lower($0) == lower($1) }
  }

  static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop { $0 == " " || $0 == "\t" }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
  }

  private static func lower(_ byte: UInt8) -> UInt8 {
    (0x41...0x5A).contains(byte) ? byte + 0x20 : byte
  }
}
