import Gate
import Preferences

/// One operation of the contract (deploy/contracts/openapi.yaml): who may ask for it, with what, and
/// what answers.
struct Endpoint: Sendable {
  enum Access: Sendable, Equatable {
    /// No token is asked for.
    case open
    case roles([Role])
  }

  enum Body: Sendable, Equatable {
    /// One that comes all the same is refused: what is not looked at would seem to have counted.
    case none
    case json
  }

  var access: Access
  var body = Body.none
  /// The arguments that its query may have. Another is refused: a misspelt one would be ignored.
  var arguments: [String] = []
  var run: @Sendable (APICall) throws(Problem) -> HTTPResponse
}

/// A request that was let in, with what its path, query and body say.
struct APICall: Sendable {
  var request: HTTPRequest
  var path: PathValues
  /// Nil where the endpoint is open.
  var bearer: TokenTable.Entry?
  fileprivate(set) var arguments: [String: String] = [:]

  init(request: HTTPRequest, path: PathValues, bearer: TokenTable.Entry?) {
    self.request = request
    self.path = path
    self.bearer = bearer
  }

  /// Asking in an endpoint that takes no token is a bug and traps.
  var role: Role { bearer!.role }

  // MARK: Path and query

  /// An id of the path.
  func id(_ name: String) throws(Problem) -> Identifier { try Self.id(path[name], name) }

  /// An id of the query; nil where it is not there.
  func optionalID(_ name: String) throws(Problem) -> Identifier? {
    guard let text = arguments[name] else { return nil }
    return try Self.id(text, name)
  }

  func requiredID(_ name: String) throws(Problem) -> Identifier {
    guard let id = try optionalID(name) else { throw Self.missing(name) }
    return id
  }

  /// A value of a closed set, of the path where it is there, else of the query.
  func value<Value>(
    _ name: String, of values: [Value], inPath: Bool, _ text: (Value) -> String
  ) throws(Problem) -> Value? {
    guard let given = inPath ? path[name] : arguments[name] else { return nil }
    guard let value = values.first(where: { text($0) == given }) else {
      throw Problem(
        400, "unknown_value", "\(name) is none of \(values.map(text).joined(separator: ", "))")
    }
    return value
  }

  func categoryOfPath() throws(Problem) -> Category {
    try value("category", of: Category.allCases, inPath: true) { "\($0.name)" }!
  }

  func categoryOfQuery() throws(Problem) -> Category? {
    try value("category", of: Category.allCases, inPath: false) { "\($0.name)" }
  }

  func requiredInstant(_ name: String) throws(Problem) -> Int64 {
    guard let text = arguments[name] else { throw Self.missing(name) }
    let ms = Int64(text).flatMap { Instant.readable.contains($0) ? $0 : nil }
    guard let ms = ms ?? Instant.parse(text: text) else {
      throw Problem(
        400, "malformed_instant",
        "\(name) is no instant of the years 2000 to 2200, as 2026-03-09T22:30:00Z (a plus sign is"
          + " written %2B) or as integer milliseconds")
    }
    return ms
  }

  func integer(_ name: String, _ range: ClosedRange<Int64>) throws(Problem) -> Int64? {
    guard let text = arguments[name] else { return nil }
    let isPlain = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    guard isPlain, let number = Int64(text), range.contains(number) else {
      throw Problem(
        400, "malformed_argument",
        "\(name) is no whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  private static func id(_ text: String, _ name: String) throws(Problem) -> Identifier {
    guard RecordText.isID(text) else {
      throw Problem(
        400, "malformed_id", "\(name) is no id of 1 to 128 bytes without control characters")
    }
    return Identifier(text)
  }

  private static func missing(_ name: String) -> Problem {
    Problem(400, "missing", "the argument \(name) is missing")
  }

  /// Decodes the query, and refuses what the endpoint does not know.
  mutating func readArguments(_ known: [String]) throws(Problem) {
    for argument in request.arguments {
      guard let name = PercentText.decode(argument.name),
        let value = PercentText.decode(argument.value ?? "")
      else { throw Problem(400, "malformed_query", "the query has a broken percent escape") }
      guard known.contains(name) else {
        let what = known.isEmpty ? "none" : known.joined(separator: ", ")
        throw Problem(
          400, "unknown_argument", "the query has an argument not known here; known: \(what)")
      }
      guard arguments.updateValue(value, forKey: name) == nil else {
        throw Problem(400, "repeated_argument", "the argument \(name) is there twice")
      }
    }
  }
}
