/// A JSON value as the checkers read it: a second reading of what the gate writes, that shares no code
/// with it.
enum SimJSON: Equatable {
  case null
  case bool(Bool)
  case number(Int64)
  case string(String)
  case array([SimJSON])
  case object([String: SimJSON])

  subscript(name: String) -> SimJSON? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }

  var string: String? { if case .string(let text) = self { text } else { nil } }
  var number: Int64? { if case .number(let number) = self { number } else { nil } }
  var isNull: Bool { self == .null }

  /// Milliseconds since the epoch, of `2026-03-09T22:30:00.000Z` or a number.
  var instantMs: Int64? {
    if let number { return number }
    guard let text = string else { return nil }
    let digits = text.utf8.map { Int64($0) - 48 }
    guard digits.count == 24 else { return nil }
    func part(_ from: Int, _ count: Int) -> Int64 {
      digits[from..<from + count].reduce(0) { $0 * 10 + $1 }
    }
    // Days since 1970 by counting years in March years.
    var (year, month) = (part(0, 4), part(5, 2))
    if month < 3 {
      year -= 1
      month += 12
    }
    let days =
      365 * year + year / 4 - year / 100 + year / 400 + (153 * (month - 3) + 2) / 5
      + part(8, 2) - 1 - 719_468
    let seconds = (days * 24 + part(11, 2)) * 3_600 + part(14, 2) * 60 + part(17, 2)
    return seconds * 1_000 + part(20, 3)
  }

  /// Nil where it cannot be read.
  static func read(_ bytes: [UInt8]) -> SimJSON? {
    var reader = Reader(bytes: bytes)
    guard let value = reader.value(), reader.isAtEnd else { return nil }
    return value
  }

  /// What the simulation's own records and the gate's need: no numbers with fractions, no escapes but the
  /// simple ones.
  private struct Reader {
    let bytes: [UInt8]
    var at = 0

    var isAtEnd: Bool { at == bytes.count }

    mutating func skip() {
      while at < bytes.count, bytes[at] <= 0x20 { at += 1 }
    }

    mutating func takes(_ byte: Unicode.Scalar) -> Bool {
      skip()
      guard at < bytes.count, bytes[at] == UInt8(ascii: byte) else { return false }
      at += 1
      return true
    }

    mutating func value() -> SimJSON? {
      skip()
      guard at < bytes.count else { return nil }
      switch bytes[at] {
      case UInt8(ascii: "{"): return object()
      case UInt8(ascii: "["): return array()
      case UInt8(ascii: "\""): return text().map { .string($0) }
      case UInt8(ascii: "t"): return word("true", .bool(true))
      case UInt8(ascii: "f"): return word("false", .bool(false))
      case UInt8(ascii: "n"): return word("null", .null)
      default: return integer()
      }
    }

    private mutating func word(_ text: StaticString, _ value: SimJSON) -> SimJSON? {
      guard at + text.utf8CodeUnitCount <= bytes.count else { return nil }
      at += text.utf8CodeUnitCount
      return value
    }

    private mutating func integer() -> SimJSON? {
      let isNegative = takes("-")
      var number: Int64 = 0
      let from = at
      while at < bytes.count, 0x30...0x39 ~= bytes[at] {
        number = number * 10 + Int64(bytes[at] - 0x30)
        at += 1
      }
      return at > from ? .number(isNegative ? -number : number) : nil
    }

    private mutating func text() -> String? {
      at += 1
      var content: [UInt8] = []
      while at < bytes.count, bytes[at] != UInt8(ascii: "\"") {
        if bytes[at] == UInt8(ascii: "\\") { at += 1 }
        guard at < bytes.count else { return nil }
        content.append(bytes[at])
        at += 1
      }
      guard at < bytes.count else { return nil }
      at += 1
      return String(decoding: content, as: UTF8.self)
    }

    private mutating func array() -> SimJSON? {
      at += 1
      var items: [SimJSON] = []
      if takes("]") { return .array(items) }
      repeat {
        guard let item = value() else { return nil }
        items.append(item)
      } while takes(",")
      return takes("]") ? .array(items) : nil
    }

    private mutating func object() -> SimJSON? {
      at += 1
      var members: [String: SimJSON] = [:]
      if takes("}") { return .object(members) }
      repeat {
        skip()
        guard at < bytes.count, bytes[at] == UInt8(ascii: "\""), let name = text(), takes(":"),
          let value = value()
        else { return nil }
        members[name] = value
      } while takes(",")
      return takes("}") ? .object(members) : nil
    }
  }
}
