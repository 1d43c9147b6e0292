import Evidence
import Gate
import Preferences

/// Keeps what a self-test found, for the console to show.
struct SelfTestEndpoints: Sendable {
  /// Nil: no index is kept.
  let keep: (@Sendable (SelfTestRun) throws(StoreError) -> Void)?
  private static let versionBytesMax = 64

  func add(to router: inout Router<Endpoint>) {
    router.add(
      "POST", "/v1/evidence/selftests",
      Endpoint(access: .roles([.admin, .selftest]), body: .json, run: post))
  }

  private func post(_ call: APICall) throws(Problem) -> HTTPResponse {
    guard let keep else {
      throw Problem(
        404, "no_index", "no index of evidence is kept here: evidence.database is not set")
    }
    let run = try Self.run(call.request)
    try Failures.named { () throws(StoreError) in try keep(run) }
    return HTTPResponse(status: 204)
  }

  /// The report is kept as it came; of its members three are looked at.
  private static func run(_ request: HTTPRequest) throws(Problem) -> SelfTestRun {
    guard case .whole(let bytes) = request.body else {
      throw Problem(400, "malformed_json", "the body is empty")
    }
    let parsed = bytes.withUnsafeBytes { bytes in
      Result { () throws(JSONFault) in try JSONValue(bytes) }
    }
    guard case .success(.object(let members)) = parsed else {
      throw Problem(400, "malformed_json", "the body is not one JSON object")
    }
    func member(_ name: String) -> JSONValue? { members.first { $0.name == name }?.value }
    guard case .string(let at)? = member("at"), let atMs = Instant.parse(text: at) else {
      throw Problem(400, "malformed_instant", "at is no instant, as 2026-03-09T22:30:00Z")
    }
    guard case .string(let version)? = member("version"),
      1...versionBytesMax ~= version.utf8.count
    else { throw Problem(400, "missing", "version is no text of 1 to 64 bytes") }
    guard case .bool(let passed)? = member("passed") else {
      throw Problem(400, "missing", "passed is neither true nor false")
    }
    return SelfTestRun(
      atMs: atMs, version: version, outcome: passed ? .passed : .failed,
      report: String(decoding: bytes, as: UTF8.self))
  }
}
