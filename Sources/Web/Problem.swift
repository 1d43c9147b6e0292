/// Why a request was not done, for people and programs: an answer of `application/problem+json`
/// (RFC 9457). `code` is the stable name that a program may compare; `detail` is for people and may
/// change.
public struct Problem: Error, Sendable, Equatable {
  public var status: Int
  public var code: String
  public var detail: String
  public var headers: [HTTPField]
  /// For the log alone: what is behind it.
  public var cause: String?

  public init(_ status: Int, _ code: String, _ detail: String, headers: [HTTPField] = []) {
    self.status = status
    self.code = code
    self.detail = detail
    self.headers = headers
  }

  /// The bearer's role may not.
  static func forbidden(_ detail: String) -> Problem { Problem(403, "forbidden", detail) }

  /// The type is `about:blank`: what a status means is HTTP's to say, and `code` says the rest.
  public var response: HTTPResponse {
    var json = JSONMembers()
    json.add("type", "about:blank")
    json.add("title", Self.title(status))
    json.add("status", status)
    json.add("code", code)
    json.add("detail", detail)
    return HTTPResponse(
      status: status,
      headers: [HTTPField("Content-Type", "application/problem+json")] + headers,
      body: json.bytes)
  }

  /// The status's own phrase (RFC 9110, 6585).
  static func title(_ status: Int) -> String {
    switch status {
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 409: "Conflict"
    case 411: "Length Required"
    case 412: "Precondition Failed"
    case 413: "Content Too Large"
    case 415: "Unsupported Media Type"
    case 422: "Unprocessable Content"
    case 429: "Too Many Requests"
    case 500: "Internal Server Error"
    case 503: "Service Unavailable"
    default: "Error"
    }
  }
}
