/// A second reading of RFC 8259 and of the gate's limits, slow and plain, sharing no code with the
/// gate: one function per rule of the grammar.
struct StrictParser {
  enum Fault: Error { case utf8, grammar, depth, repeated, surrogate }

  static let depthMax = 64

  private let text: [UInt8]
  private var at = 0

  static func parse(_ text: [UInt8]) throws(Fault) -> Tree {
    guard String(validating: text, as: UTF8.self) != nil else { throw .utf8 }
    var parser = StrictParser(text: text)
    parser.skipSpace()
    let tree = try parser.value(depth: 1)
    parser.skipSpace()
    guard parser.at == text.count else { throw .grammar }
    return tree
  }

  static func parse(_ text: String) throws(Fault) -> Tree { try parse(Array(text.utf8)) }

  private init(text: [UInt8]) { self.text = text }

  private var peek: UInt8? { at < text.count ? text[at] : nil }

  private mutating func skipSpace() {
    while let byte = peek, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { at += 1 }
  }

  private mutating func expect(_ word: String) throws(Fault) {
    for byte in word.utf8 {
      guard peek == byte else { throw .grammar }
      at += 1
    }
  }

  private mutating func value(depth: Int) throws(Fault) -> Tree {
    switch peek {
    case UInt8(ascii: "{"): return try object(depth)
    case UInt8(ascii: "["): return try array(depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"):
      try expect("true")
      return .bool(true)
    case UInt8(ascii: "f"):
      try expect("false")
      return .bool(false)
    case UInt8(ascii: "n"):
      try expect("null")
      return .null
    default: return .number(try number())
    }
  }

  private mutating func object(_ depth: Int) throws(Fault) -> Tree {
    guard depth <= Self.depthMax else { throw .depth }
    var members: [Tree.Member] = []
    var seen: Set<[UInt8]> = []
    at += 1
    skipSpace()
    if peek == UInt8(ascii: "}") {
      at += 1
      return .object([])
    }
    while true {
      skipSpace()
      guard peek == UInt8(ascii: "\"") else { throw .grammar }
      let name = try string()
      guard seen.insert(name).inserted else { throw .repeated }
      skipSpace()
      try expect(":")
      skipSpace()
      members.append(Tree.Member(name: name, value: try value(depth: depth + 1)))
      skipSpace()
      if peek != UInt8(ascii: ",") { break }
      at += 1
    }
    try expect("}")
    return .object(members)
  }

  private mutating func array(_ depth: Int) throws(Fault) -> Tree {
    guard depth <= Self.depthMax else { throw .depth }
    var elements: [Tree] = []
    at += 1
    skipSpace()
    if peek == UInt8(ascii: "]") {
      at += 1
      return .array([])
    }
    while true {
      skipSpace()
      elements.append(try value(depth: depth + 1))
      skipSpace()
      if peek != UInt8(ascii: ",") { break }
      at += 1
    }
    try expect("]")
    return .array(elements)
  }

  private mutating func number() throws(Fault) -> String {
    let start = at
    if peek == UInt8(ascii: "-") { at += 1 }
    if peek == UInt8(ascii: "0") { at += 1 } else { try digits() }
    if peek == UInt8(ascii: ".") {
      at += 1
      try digits()
    }
    if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
      at += 1
      if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { at += 1 }
      try digits()
    }
    return String(decoding: text[start..<at], as: UTF8.self)
  }

  private mutating func digits() throws(Fault) {
    let start = at
    while let byte = peek, (0x30...0x39).contains(byte) { at += 1 }
    guard at > start else { throw .grammar }
  }

  private mutating func string() throws(Fault) -> [UInt8] {
    var out: [UInt8] = []
    at += 1
    while true {
      guard let byte = peek, byte >= 0x20 else { throw .grammar }
      at += 1
      switch byte {
      case UInt8(ascii: "\""): return out
      case UInt8(ascii: "\\"): try escape(&out)
      default: out.append(byte)
      }
    }
  }

  private mutating func escape(_ out: inout [UInt8]) throws(Fault) {
    guard let byte = peek else { throw .grammar }
    at += 1
    let plain: [UInt8: UInt8] = [
      34: 34, 92: 92, 47: 47, 98: 8, 102: 12, 110: 10, 114: 13, 116: 9,
    ]
    if let character = plain[byte] { return out.append(character) }
    guard byte == UInt8(ascii: "u") else { throw .grammar }
    var units = [try unit()]
    if (0xD800..<0xDC00).contains(units[0]) {
      guard peek == UInt8(ascii: "\\"), at + 1 < text.count, text[at + 1] == UInt8(ascii: "u")
      else { throw .surrogate }
      at += 2
      units.append(try unit())
    }
    guard let character = String(validating: units, as: UTF16.self) else { throw .surrogate }
    out += Array(character.utf8)
  }

  private mutating func unit() throws(Fault) -> UInt16 {
    var value: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw .grammar
      }
      value = value << 4 | UInt16(digit)
      at += 1
    }
    return value
  }
}
