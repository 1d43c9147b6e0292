import Gate
import Telemetry

/// A client of the preference service: one request on one connection, each bounded in time.
struct ServiceClient: Sendable {
  struct Reply {
    var status: Int
    /// Nil where the body is no JSON.
    var json: JSONValue?
    /// For messages: the beginning of the body.
    var excerpt: String

    var isGood: Bool { 200...299 ~= status }
    /// Of a problem (RFC 9457), its `code`.
    var code: String? { json?.at("code")?.string }
  }

  let address: ServiceAddress
  let token: String
  /// Authorities to trust, in PEM; nil: the system's.
  let caFile: String?
  let timeoutMs: Int
  private static let answerBytesMax = 16 << 20
  private static let chunkBytes = 65_536

  /// - Parameters:
  ///   - path: with what must be escaped escaped.
  ///   - withinMs: where less time than `timeoutMs` is left for it.
  func ask(
    _ method: String, _ path: String, body: String? = nil, withinMs: Int = .max
  ) throws(ServiceFailure) -> Reply {
    let deadlineNs = SystemTime.monotonicNs() + Int64(min(timeoutMs, withinMs)) * 1_000_000
    var request = """
      \(method) \(address.prefix)\(path) HTTP/1.1\r
      Host: \(address.authority)\r
      Authorization: Bearer \(token)\r
      Connection: close\r
      Accept: application/json\r

      """
    if let body {
      request += "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
    }
    request += "\r\n" + (body ?? "")
    let socket = try ServiceSocket(address, caFile: caFile, deadlineNs: deadlineNs)
    try socket.write(Array(request.utf8))
    var answer = HTTPAnswer()
    while !answer.isWhole {
      let bytes = try socket.read(upTo: Self.chunkBytes)
      try answer.take(bytes)
      guard answer.byteCount <= Self.answerBytesMax, SystemTime.monotonicNs() < deadlineNs else {
        throw ServiceFailure(words: "the answer is too long or too slow")
      }
    }
    let whole = answer.body
    let json = whole.withUnsafeBytes { bytes in
      try? Result { () throws(JSONFault) in try JSONValue(bytes) }.get()
    }
    return Reply(
      status: answer.status, json: json,
      excerpt: String(decoding: whole.prefix(300), as: UTF8.self))
  }
}

/// An answer of HTTP/1.1 as it comes in: the status, and the body by its length or to the end of the
/// connection. Chunks too, which a proxy may make of it.
struct HTTPAnswer {
  private var bytes: [UInt8] = []
  private(set) var status = 0
  private var bodyStart: Int?
  private var length: Int?
  private var isChunked = false
  private var isAtEnd = false
  private var chunks: [UInt8]?

  var byteCount: Int { bytes.count }

  var isWhole: Bool {
    guard let bodyStart else { return false }
    if isChunked { return chunks != nil }
    if let length { return bytes.count - bodyStart >= length }
    return isAtEnd
  }

  /// Once it is whole.
  var body: [UInt8] {
    if isChunked { return chunks ?? [] }
    let rest = bytes[bodyStart!...]
    return Array(length.map { rest.prefix($0) } ?? rest)
  }

  /// - Parameter more: none at the end of the connection.
  mutating func take(_ more: [UInt8]) throws(ServiceFailure) {
    bytes += more
    if more.isEmpty { isAtEnd = true }
    if bodyStart == nil { try readHead() }
    if isChunked, let bodyStart { chunks = try Self.join(bytes[bodyStart...]) }
    if isAtEnd && !isWhole {
      throw ServiceFailure(words: "the connection ended before the answer did")
    }
  }

  private mutating func readHead() throws(ServiceFailure) {
    let end = Array("\r\n\r\n".utf8)
    guard let found = bytes.firstRange(of: end) else { return }
    let lines = String(decoding: bytes[..<found.lowerBound], as: UTF8.self)
      .split(separator: "\r\n")
    let words = lines.first?.split(separator: " ") ?? []
    guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]),
      100...599 ~= status
    else { throw ServiceFailure(words: "what answers does not speak HTTP/1.1") }
    self.status = status
    bodyStart = found.upperBound
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      let value = line[line.index(after: colon)...].filter { !$0.isWhitespace }.lowercased()
      switch line[..<colon].lowercased() {
      case "content-length":
        guard let number = Int(value), number >= 0 else {
          throw ServiceFailure(words: "the answer's length is \(value)")
        }
        length = number
      case "transfer-encoding": isChunked = value.hasSuffix("chunked")
      default: break
      }
    }
    if status == 204 || status == 304 { length = 0 }
  }

  /// The chunks of a body in one; nil where the last has not come.
  private static func join(_ body: ArraySlice<UInt8>) throws(ServiceFailure) -> [UInt8]? {
    var rest = body
    var joined: [UInt8] = []
    let lineEnd = Array("\r\n".utf8)
    while let end = rest.firstRange(of: lineEnd) {
      let text = String(decoding: rest[..<end.lowerBound].prefix { $0 != 0x3B }, as: UTF8.self)
      guard let count = Int(text.filter { !$0.isWhitespace }, radix: 16), count >= 0 else {
        throw ServiceFailure(words: "the answer's chunks cannot be read")
      }
      if count == 0 { return joined }
      let chunk = rest[end.upperBound...]
      guard chunk.count >= count + 2 else { return nil }
      joined += chunk.prefix(count)
      rest = chunk.dropFirst(count + 2)
    }
    return nil
  }
}

extension JSONValue {
  /// The value at a path of names; nil where there is none on the way.
  func at(_ path: String...) -> JSONValue? {
    var value = self
    for name in path {
      guard case .object(let members) = value,
        let member = members.first(where: { $0.name == name })
      else { return nil }
      value = member.value
    }
    return value
  }

  /// Nil where it is no string.
  var string: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// Nil where it is no whole number.
  var integer: Int64? {
    if case .number(let digits) = self { Int64(digits) } else { nil }
  }

  /// None where it is no array.
  var elements: [JSONValue] {
    if case .array(let elements) = self { elements } else { [] }
  }

  /// As a person reads it in a sentence: a string without its quotes.
  var shown: String { string ?? text }
}
