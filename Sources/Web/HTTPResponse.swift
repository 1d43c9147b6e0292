/// An answer. `Cache-Control: no-store`, `X-Content-Type-Options: nosniff`, the date and the length
/// are added to every one.
public struct HTTPResponse: Sendable {
  public var status: Int
  public var headers: [HTTPField]
  public var body: [UInt8]

  public init(status: Int, headers: [HTTPField] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  public init(status: Int, contentType: String, body: [UInt8]) {
    self.init(status: status, headers: [HTTPField("Content-Type", contentType)], body: body)
  }

  public static func text(_ status: Int, _ body: String) -> HTTPResponse {
    HTTPResponse(status: status, contentType: "text/plain; charset=utf-8", body: Array(body.utf8))
  }

  public static func json(_ status: Int, _ body: [UInt8]) -> HTTPResponse {
    HTTPResponse(status: status, contentType: "application/json", body: body)
  }

  /// The first value of a header.
  public func header(_ name: String) -> String? {
    headers.first { ASCII.equal($0.name, name) }?.value
  }

  public func adding(_ name: String, _ value: String) -> HTTPResponse {
    var copy = self
    copy.headers.append(HTTPField(name, value))
    return copy
  }
}
