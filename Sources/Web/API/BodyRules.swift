/// What a body must be before anybody looks inside.
enum BodyRules {
  /// As the contract says, and as long as an event may be.
  static let bytesMax = 65_536

  static func check(_ request: HTTPRequest, wants body: Endpoint.Body) throws(Problem) {
    if request.body == .ambiguous {
      throw Problem(
        400, "ambiguous_length", "the headers contradict each other about the body's end")
    }
    switch body {
    case .none:
      guard request.body == .none else {
        throw Problem(400, "unexpected_body", "this takes no body")
      }
    case .json: try checkJSON(request)
    }
  }

  private static func checkJSON(_ request: HTTPRequest) throws(Problem) {
    let hasLength = !request.headers("Content-Length").isEmpty
    if request.body == .lengthUnknown || (request.body == .none && !hasLength) {
      throw Problem(411, "length_required", "send the body with a Content-Length")
    }
    if request.body == .tooLarge {
      throw Problem(413, "body_too_large", "the body is longer than \(bytesMax) bytes")
    }
    let types = request.headers("Content-Type")
    guard types.count == 1, isJSON(types[0]) else {
      throw Problem(
        415, "unsupported_media_type", "the body is to be application/json in UTF-8",
        headers: [HTTPField("Accept", "application/json")])
    }
    guard request.headers("Content-Encoding").allSatisfy({ ASCII.equal($0, "identity") }) else {
      throw Problem(
        415, "unsupported_encoding", "the body is to be sent as it is, not compressed",
        headers: [HTTPField("Accept-Encoding", "identity")])
    }
  }

  /// `application/json`, with nothing behind it but a charset of utf-8.
  static func isJSON(_ type: String) -> Bool {
    var parts = type.split(separator: ";").map { String(ASCII.trimmed($0)) }[...]
    guard let media = parts.popFirst(), ASCII.equal(media, "application/json") else { return false }
    return parts.allSatisfy {
      $0.isEmpty || ASCII.equal($0, "charset=utf-8") || ASCII.equal($0, "charset=\"utf-8\"")
    }
  }
}
