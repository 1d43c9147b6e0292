/// A JSON text as a tree, for tests: strings and numbers as they are, byte for byte, members in
/// order.
indirect enum Tree: Equatable, Sendable {
  case null
  case bool(Bool)
  /// As written.
  case number(String)
  /// Unescaped. Bytes, since Swift's strings are equal where their code points are not.
  case string([UInt8])
  case array([Tree])
  case object([Member])

  struct Member: Equatable, Sendable {
    var name: [UInt8]
    var value: Tree
  }

  /// The text of a string.
  var text: String? {
    guard case .string(let bytes) = self else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  var elements: [Tree] {
    guard case .array(let elements) = self else { return [] }
    return elements
  }

  /// A member, by a path with dots.
  subscript(path: String) -> Tree? {
    var at = self
    for name in path.split(separator: ".") {
      guard case .object(let members) = at,
        let member = members.first(where: { $0.name == Array(name.utf8) })
      else { return nil }
      at = member.value
    }
    return at
  }

  static func text(_ text: String) -> Tree { .string(Array(text.utf8)) }

  /// Compact JSON.
  var json: [UInt8] {
    switch self {
    case .null: Array("null".utf8)
    case .bool(let value): Array((value ? "true" : "false").utf8)
    case .number(let digits): Array(digits.utf8)
    case .string(let bytes): Self.quoted(bytes)
    case .array(let elements): Self.joined(elements.map(\.json), "[", "]")
    case .object(let members):
      Self.joined(members.map { Self.quoted($0.name) + [58] + $0.value.json }, "{", "}")
    }
  }

  static func quoted(_ bytes: [UInt8]) -> [UInt8] {
    var out: [UInt8] = [34]
    for byte in bytes {
      switch byte {
      case 34, 92: out += [92, byte]
      case 0..<32:
        let digits = String(byte, radix: 16)
        out += Array("\\u00\(digits.count < 2 ? "0" : "")\(digits)".utf8)
      default: out.append(byte)
      }
    }
    return out + [34]
  }

  private static func joined(_ parts: [[UInt8]], _ open: String, _ close: String) -> [UInt8] {
    Array(open.utf8) + parts.joined(separator: [44]) + Array(close.utf8)
  }
}
