/// A user's version as an entity tag (RFC 9110, section 8.8.3): `"17"`. Strong: a version names one
/// document byte for byte.
enum EntityTag {
  static func text(version: Int64) -> String { "\"\(version)\"" }

  /// What `If-Match` or `If-None-Match` asks for.
  enum Condition: Equatable {
    /// `*`: anything that exists.
    case any
    /// Tags, without their quotes; a weak one (`W/"17"`) is told apart, as it never matches strongly.
    case tags([Tag])
  }

  struct Tag: Equatable {
    var text: String
    var isWeak: Bool
  }

  /// Nil where there is no such header. Several headers are one list.
  static func condition(
    _ name: String, of request: HTTPRequest
  ) throws(Problem) -> Condition? {
    let values = request.headers(name)
    if values.isEmpty { return nil }
    guard let condition = parse(values.joined(separator: ",")) else {
      throw Problem(
        400, "malformed_precondition", "\(name) is no list of entity tags, as \"17\", and no *")
    }
    return condition
  }

  static func parse(_ value: String) -> Condition? {
    if ASCII.trimmed(value[...]) == "*" { return .any }
    var tags: [Tag] = []
    var rest = value[...]
    while true {
      rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "," }
      if rest.isEmpty { return tags.isEmpty ? nil : .tags(tags) }
      let isWeak = rest.hasPrefix("W/")
      if isWeak { rest = rest.dropFirst(2) }
      guard rest.first == "\"", let end = rest.dropFirst().firstIndex(of: "\"") else { return nil }
      let tag = rest[rest.index(after: rest.startIndex)..<end]
      tags.append(Tag(text: String(tag), isWeak: isWeak))
      rest = rest[rest.index(after: end)...]
      guard rest.isEmpty || rest.first == " " || rest.first == "\t" || rest.first == "," else {
        return nil
      }
    }
  }
}

extension EntityTag.Condition {
  /// `If-Match`, by strong comparison. Nil: there is no such user.
  func matchesStrongly(version: Int64?) -> Bool {
    guard let version else { return false }
    switch self {
    case .any: return true
    case .tags(let tags): return tags.contains { !$0.isWeak && $0.text == "\(version)" }
    }
  }

  /// `If-None-Match`, by weak comparison: whether what the client has is still right.
  func matchesWeakly(version: Int64?) -> Bool {
    guard let version else { return false }
    switch self {
    case .any: return true
    case .tags(let tags): return tags.contains { $0.text == "\(version)" }
    }
  }
}
