/// What stands in the places of a path template's names.
public struct PathValues: Sendable {
  /// The template that led here.
  public let template: String
  fileprivate let names: [String]
  fileprivate let values: [String]

  /// The value of a name that the template has; asking for another is a bug and traps.
  public subscript(_ name: String) -> String {
    guard let value = value(of: name) else { preconditionFailure("no {\(name)}") }
    return value
  }

  /// The same; nil where the template has no such name.
  func value(of name: String) -> String? { names.firstIndex(of: name).map { values[$0] } }
}

/// Where paths lead, by templates such as `/v1/users/{user_id}/preferences`. A template's literal
/// parts are compared after percent decoding; a name takes one whole part, decoded, never an empty
/// one. Templates are tried in the order they were added.
public struct Router<Endpoint: Sendable>: Sendable {
  public enum Match: Sendable {
    case found(Endpoint, PathValues)
    /// The path is served, but not by this method; what it is served by.
    case otherMethods(allow: String)
    /// `OPTIONS`: what the path is served by.
    case options(allow: String)
    case notFound
    /// The path has a broken percent escape, or is not UTF-8 once decoded.
    case malformed
  }

  private enum Part: Sendable {
    case literal(String)
    case name(String)
  }

  private struct Route: Sendable {
    let template: String
    let parts: [Part]
    let names: [String]
    var endpoints: [(method: String, endpoint: Endpoint)] = []

    init(_ template: String) {
      self.template = template
      parts = template.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map {
        $0.hasPrefix("{") && $0.hasSuffix("}")
          ? .name(String($0.dropFirst().dropLast())) : .literal(String($0))
      }
      names = parts.compactMap { if case .name(let name) = $0 { name } else { nil } }
    }

    /// `GET` serves `HEAD` too; every path answers `OPTIONS`.
    var allow: String {
      var methods = endpoints.map(\.method)
      if let get = methods.firstIndex(of: "GET") { methods.insert("HEAD", at: get + 1) }
      return (methods + ["OPTIONS"]).joined(separator: ", ")
    }

    func values(_ path: [String]) -> [String]? {
      guard path.count == parts.count else { return nil }
      var values: [String] = []
      for (part, given) in zip(parts, path) {
        switch part {
        case .literal(let text): if text != given { return nil }
        case .name:
          if given.isEmpty { return nil }
          values.append(given)
        }
      }
      return values
    }
  }

  private var routes: [Route] = []

  public init() {}

  /// Every template with its methods, in the order they were added.
  public var table: [(template: String, method: String, endpoint: Endpoint)] {
    routes.flatMap { route in
      route.endpoints.map { (route.template, $0.method, $0.endpoint) }
    }
  }

  /// Adding a method of a template twice is a bug and traps.
  public mutating func add(_ method: String, _ template: String, _ endpoint: Endpoint) {
    let at: Int
    if let found = routes.firstIndex(where: { $0.template == template }) {
      at = found
    } else {
      at = routes.count
      routes.append(Route(template))
    }
    precondition(
      template.hasPrefix("/") && !routes[at].endpoints.contains { $0.method == method },
      "\(method) \(template) is no route, or one already")
    routes[at].endpoints.append((method, endpoint))
  }

  /// - Parameter path: as sent, without the query.
  public func match(_ method: String, _ path: String) -> Match {
    guard path.hasPrefix("/") else {
      // `OPTIONS *` asks for the server, not for a page.
      return path == "*" && method == "OPTIONS" ? .options(allow: "OPTIONS") : .notFound
    }
    var parts: [String] = []
    for raw in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
      guard let part = PercentText.decode(raw) else { return .malformed }
      parts.append(part)
    }
    for route in routes {
      guard let values = route.values(parts) else { continue }
      let wanted = method == "HEAD" ? "GET" : method
      if let found = route.endpoints.first(where: { $0.method == wanted }) {
        return .found(
          found.endpoint, PathValues(template: route.template, names: route.names, values: values))
      }
      return method == "OPTIONS"
        ? .options(allow: route.allow) : .otherMethods(allow: route.allow)
    }
    return .notFound
  }
}
