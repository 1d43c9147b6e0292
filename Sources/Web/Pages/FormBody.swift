/// What a form sent, as `application/x-www-form-urlencoded` (URL standard, section 5.1).
struct FormBody {
  private let fields: [String: String]

  /// No fields where it is something else, or cannot be read.
  init(_ request: HTTPRequest) {
    guard case .whole(let bytes) = request.body,
      let text = String(validating: bytes, as: UTF8.self)
    else {
      fields = [:]
      return
    }
    var fields: [String: String] = [:]
    for pair in text.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decode(parts[0]),
        let value = Self.decode(parts.count == 2 ? parts[1] : "")
      else { continue }
      fields[name] = value
    }
    self.fields = fields
  }

  /// Whether it is RFC 8058's, in either of its encodings. No form of the pages holds these words.
  static func isOneClick(_ request: HTTPRequest) -> Bool {
    guard case .whole(let bytes) = request.body else { return false }
    return bytes.contains("List-Unsubscribe".utf8) && bytes.contains("One-Click".utf8)
  }

  subscript(_ name: String) -> String? { fields[name] }

  private static func decode(_ text: Substring) -> String? {
    PercentText.decode(text.replacing("+", with: " "))
  }
}
