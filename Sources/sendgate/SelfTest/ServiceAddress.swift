/// Where the preference service is reached: `https://HOST[:PORT][/PATH]`, `http` on this machine alone,
/// since a token passes.
struct ServiceAddress: Equatable, Sendable {
  var isSecure: Bool
  var host: String
  var port: Int
  /// In front of every path; without a slash at its end.
  var prefix: String

  /// As `WebAddress` takes it; nil where it does not.
  init?(_ text: String) {
    guard WebAddress.problem(text) == nil else { return nil }
    isSecure = text.hasPrefix("https://")
    let rest = text.dropFirst(isSecure ? 8 : 7)
    let authority = rest.prefix { $0 != "/" }
    prefix = String(rest.dropFirst(authority.count))
    let isNumeric6 = authority.hasPrefix("[")
    let end = isNumeric6 ? authority.firstIndex(of: "]")! : nil
    let host = end.map { authority[authority.index(after: authority.startIndex)..<$0] }
    self.host = String(host ?? authority.prefix { $0 != ":" })
    let behind =
      end.map { authority[authority.index(after: $0)...] } ?? authority[...].drop { $0 != ":" }
    port = behind.isEmpty ? (isSecure ? 443 : 80) : Int(behind.dropFirst())!
  }

  /// For the header of that name, and for people.
  var authority: String {
    let shown = host.contains(":") ? "[\(host)]" : host
    return port == (isSecure ? 443 : 80) ? shown : "\(shown):\(port)"
  }
}
