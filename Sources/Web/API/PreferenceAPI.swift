import Gate
import Preferences
import Telemetry

/// The preference service over HTTP, as deploy/contracts/openapi.yaml says. Its methods block for as
/// long as the store takes: serve it with a thread for each connection, or with many.
public struct PreferenceAPI: Sendable {
  /// The longest body that is read, as the contract says.
  public static let bodyBytesMax = BodyRules.bytesMax

  private let router: Router<Endpoint>
  private let keeper: Gatekeeper
  private let metrics: APIMetrics
  private let log: Logger

  public init(
    service: PreferenceService, policy: Policy, desk: SupportDesk, keeper: Gatekeeper,
    health: HealthSource,
    registry: MetricRegistry, log: Logger,
    nowMs: @escaping @Sendable () -> Int64 = SystemTime.wallClockMs
  ) {
    self.keeper = keeper
    self.log = log
    var router = Router<Endpoint>()
    PreferenceEndpoints(service: service, nowMs: nowMs).add(to: &router)
    DeviceEndpoints(service: service, nowMs: nowMs).add(to: &router)
    EvidenceEndpoints(service: service, nowMs: nowMs).add(to: &router)
    DecisionEndpoints(desk: desk).add(to: &router)
    SupportEndpoints(service: service, policy: policy, nowMs: nowMs).add(to: &router)
    ServiceEndpoints(health: health).add(to: &router)
    self.router = router
    metrics = APIMetrics(router.table.map { ($0.method, $0.template) }, registry)
  }

  /// Every operation: method, path template, and the roles it takes (nil: it takes no token).
  public var operations: [(method: String, template: String, roles: [Role]?)] {
    router.table.map { row in
      switch row.endpoint.access {
      case .open: (row.method, row.template, nil)
      case .roles(let roles): (row.method, row.template, roles)
      }
    }
  }

  public func respond(to request: HTTPRequest) -> HTTPResponse {
    let beganNs = SystemTime.monotonicNs()
    var route: String?
    let answer: HTTPResponse
    do throws(Problem) {
      answer = try dispatch(request, &route)
    } catch {
      note(error)
      answer = error.response
    }
    metrics.note(
      request.method, route, status: answer.status,
      seconds: Double(SystemTime.monotonicNs() - beganNs) / 1e9)
    return answer
  }

  private func dispatch(
    _ request: HTTPRequest, _ route: inout String?
  ) throws(Problem) -> HTTPResponse {
    switch router.match(request.method, request.path) {
    case .notFound: throw Problem(404, "no_such_path", "nothing is served here")
    case .malformed:
      throw Problem(400, "malformed_path", "the path has a broken percent escape or is not UTF-8")
    case .otherMethods(let allow):
      throw Problem(
        405, "method_not_allowed", "this is served by \(allow)",
        headers: [HTTPField("Allow", allow)])
    case .options(let allow):
      return HTTPResponse(status: 204, headers: [HTTPField("Allow", allow)])
    case .found(let endpoint, let path):
      route = path.template
      return try serve(request, endpoint, path)
    }
  }

  private func serve(
    _ request: HTTPRequest, _ endpoint: Endpoint, _ path: PathValues
  ) throws(Problem) -> HTTPResponse {
    var call = APICall(request: request, path: path, bearer: nil)
    switch endpoint.access {
    case .open: try keeper.admitUnknown(request)
    case .roles(let roles):
      let bearer = try keeper.admit(request)
      guard roles.contains(bearer.role) else {
        throw .forbidden(
          "this takes a token of role \(roles.map(\.rawValue).joined(separator: " or "))")
      }
      call.bearer = bearer
    }
    try call.readArguments(endpoint.arguments)
    try BodyRules.check(request, wants: endpoint.body)
    return try endpoint.run(call)
  }

  private func note(_ problem: Problem) {
    guard let cause = problem.cause else { return }
    log.error("A request could not be done", ["reason": .string(cause)])
  }
}
