import Glibc

/// Walks one JSON text by the positions of its tokens: the second stage after `JSONIndexer`.
///
/// Every read checks the grammar of what it passes, and a value that nobody asks for is walked all
/// the same: a text is read whole or refused. Depth counts containers, the outermost being 1.
struct JSONReader {
  static let depthMax = 64

  private let depthMax: Int
  let text: UnsafePointer<UInt8>
  let length: Int
  private let positions: UnsafePointer<UInt32>
  private let count: Int
  private var next = 0
  private var depth = 0
  /// Where no byte is a backslash, no string needs a look inside.
  private let hasEscapes: Bool
  /// Where unescaped strings are put; at least as long as the text.
  private var scratch: UnsafeMutablePointer<UInt8>
  private let names: MemberNames

  init(
    _ text: Bytes, positions: UnsafeBufferPointer<UInt32>,
    scratch: UnsafeMutablePointer<UInt8>, names: MemberNames, depthMax: Int = JSONReader.depthMax
  ) {
    self.depthMax = depthMax
    self.text = text.baseAddress!.assumingMemoryBound(to: UInt8.self)
    self.length = text.count
    self.positions = positions.baseAddress!
    self.count = positions.count
    self.scratch = scratch
    self.names = names
    hasEscapes = memchr(text.baseAddress!, Int32(UInt8(ascii: "\\")), text.count) != nil
    names.forgetAll()
  }

  /// The first byte of the token that comes next; 0 at the end.
  var peek: UInt8 {
    @inline(__always) get { next < count ? text[Int(positions[next])] : 0 }
  }

  /// How many bytes of scratch have been used: the next text's scratch may start behind them.
  var scratchEnd: UnsafeMutablePointer<UInt8> { scratch }

  /// The byte offset of the token that comes next.
  var offset: Int { next < count ? Int(positions[next]) : length }

  /// The byte offset just behind the last byte of the token that was read last (a bracket or brace).
  var offsetBehindLast: Int { Int(positions[next - 1]) + 1 }

  /// The text itself, between two byte offsets.
  func written(from start: Int, to end: Int) -> Bytes {
    Bytes(start: text + start, count: end - start)
  }

  @inline(__always)
  private mutating func take(_ byte: UInt8) throws(JSONFault) {
    guard peek == byte else { throw .malformedJSON }
    next += 1
  }

  /// Nothing may follow the outermost value.
  func finish() throws(JSONFault) {
    guard next == count else { throw .malformedJSON }
  }

  // MARK: Containers

  /// Calls `member` with each name; it must read exactly one value. Refuses a name that comes twice.
  mutating func readObject(
    _ member: (inout JSONReader, _ name: Bytes) throws(JSONFault) -> Void
  ) throws(JSONFault) {
    guard peek == UInt8(ascii: "{") else { throw peek == 0 ? .malformedJSON : .wrongType }
    try enter()
    if peek == UInt8(ascii: "}") {
      leave()
      return
    }
    let scope = names.open()
    while true {
      let name = try readRawString()
      guard names.insert(name, in: scope) else { throw .repeatedMember }
      try take(UInt8(ascii: ":"))
      try member(&self, name)
      if peek == UInt8(ascii: ",") {
        next += 1
      } else {
        break
      }
    }
    names.close(scope)
    guard peek == UInt8(ascii: "}") else { throw .malformedJSON }
    leave()
  }

  /// Calls `element` for each element; it must read exactly one value.
  mutating func readArray(
    _ element: (inout JSONReader) throws(JSONFault) -> Void
  ) throws(JSONFault) {
    guard peek == UInt8(ascii: "[") else { throw peek == 0 ? .malformedJSON : .wrongType }
    try enter()
    if peek == UInt8(ascii: "]") {
      leave()
      return
    }
    while true {
      try element(&self)
      if peek == UInt8(ascii: ",") {
        next += 1
      } else {
        break
      }
    }
    guard peek == UInt8(ascii: "]") else { throw .malformedJSON }
    leave()
  }

  @inline(__always)
  private mutating func enter() throws(JSONFault) {
    next += 1
    depth += 1
    guard depth <= depthMax else { throw .tooDeep }
  }

  @inline(__always)
  private mutating func leave() {
    next += 1
    depth -= 1
  }

  // MARK: Values nobody asks for

  /// Walks one value of any type. Repeated members are refused in it too.
  mutating func skip() throws(JSONFault) {
    switch peek {
    case UInt8(ascii: "{"):
      try readObject { (reader, _) throws(JSONFault) in try reader.skip() }
    case UInt8(ascii: "["):
      try readArray { (reader) throws(JSONFault) in try reader.skip() }
    default: try skipScalar()
    }
  }

  /// Walks one value that is carried unread: its grammar is checked, its members' names are its own
  /// affair.
  mutating func skipOpaque() throws(JSONFault) {
    switch peek {
    case UInt8(ascii: "{"):
      try enter()
      guard peek != UInt8(ascii: "}") else { return leave() }
      while true {
        // A name that is no string is no JSON, not a value of another type.
        guard peek == UInt8(ascii: "\"") else { throw .malformedJSON }
        try skipString()
        try take(UInt8(ascii: ":"))
        try skipOpaque()
        guard peek == UInt8(ascii: ",") else { break }
        next += 1
      }
      guard peek == UInt8(ascii: "}") else { throw .malformedJSON }
      leave()
    case UInt8(ascii: "["):
      try enter()
      guard peek != UInt8(ascii: "]") else { return leave() }
      while true {
        try skipOpaque()
        guard peek == UInt8(ascii: ",") else { break }
        next += 1
      }
      guard peek == UInt8(ascii: "]") else { throw .malformedJSON }
      leave()
    default: try skipScalar()
    }
  }

  private mutating func skipScalar() throws(JSONFault) {
    switch peek {
    case UInt8(ascii: "\""): try skipString()
    case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"): _ = try readLiteral()
    default: _ = try readNumber()
    }
  }

  @inline(__always)
  private mutating func skipString() throws(JSONFault) {
    let raw = try rawToken()
    if hasEscapes { try JSONText.checkEscapes(raw) }
  }

  // MARK: Scalars

  /// The bytes between the quotes of the string that comes next, as they are written.
  ///
  /// The first stage has paired the quotes, so the closing one is the last byte that is not white
  /// space before the next token.
  @inline(__always)
  private mutating func rawToken() throws(JSONFault) -> Bytes {
    guard peek == UInt8(ascii: "\"") else { throw peek == 0 ? .malformedJSON : .wrongType }
    let start = Int(positions[next]) + 1
    next += 1
    var end = next < count ? Int(positions[next]) : length
    repeat { end -= 1 } while text[end] != UInt8(ascii: "\"")
    return Bytes(start: text + start, count: end - start)
  }

  /// A member's name, unescaped. Malformed JSON where it is no string.
  @inline(__always)
  private mutating func readRawString() throws(JSONFault) -> Bytes {
    guard peek == UInt8(ascii: "\"") else { throw .malformedJSON }
    return try readString()
  }

  /// The string that comes next, unescaped.
  @inline(__always)
  mutating func readString() throws(JSONFault) -> Bytes {
    let raw = try rawToken()
    guard hasEscapes, memchr(raw.baseAddress!, Int32(UInt8(ascii: "\\")), raw.count) != nil else {
      return raw
    }
    let start = scratch
    scratch = try JSONText.unescape(raw, into: scratch)
    return Bytes(start: start, count: scratch - start)
  }

  /// True and false; nil for null.
  mutating func readLiteral() throws(JSONFault) -> Bool? {
    let at = offset
    let end = next + 1 < count ? Int(positions[next + 1]) : length
    let result: Bool?
    let size: Int
    switch peek {
    case UInt8(ascii: "t"): (result, size) = (true, 4)
    case UInt8(ascii: "f"): (result, size) = (false, 5)
    case UInt8(ascii: "n"): (result, size) = (nil, 4)
    default: throw .wrongType
    }
    guard at + size <= end else { throw .malformedJSON }
    let word = Bytes(start: text + at, count: size)
    guard word.equals("true") || word.equals("false") || word.equals("null") else {
      throw .malformedJSON
    }
    guard at + size == end || JSONText.isWhiteSpace(text[at + size]) else { throw .malformedJSON }
    next += 1
    return result
  }

  /// The bytes of the number that comes next; of any length, as RFC 8259 allows.
  mutating func readNumber() throws(JSONFault) -> Bytes {
    let at = offset
    let end = next + 1 < count ? Int(positions[next + 1]) : length
    switch peek {
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): break
    case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: "t"),
      UInt8(ascii: "f"), UInt8(ascii: "n"):
      throw .wrongType
    default: throw .malformedJSON
    }
    let size = JSONText.numberLength(text + at, count: end - at)
    guard size > 0, at + size == end || JSONText.isWhiteSpace(text[at + size]) else {
      throw .malformedJSON
    }
    next += 1
    return Bytes(start: text + at, count: size)
  }

  /// Passes a null and says so; leaves anything else.
  @inline(__always)
  mutating func readNull() throws(JSONFault) -> Bool {
    guard peek == UInt8(ascii: "n") else { return false }
    _ = try readLiteral()
    return true
  }
}
