import Gate
import Pipeline
import Preferences
import Synchronization
import Telemetry
import TestSupport

@testable import Web

/// The whole API over a store in a folder of its own, without a socket.
final class APIWorld {
  let api: PreferenceAPI
  let policy = Policy.builtIn
  let service: PreferenceService
  let evidence = MemoryEvidence()
  let desk: SupportDesk
  let keeper: Gatekeeper
  private let folder = TemporaryFolder()
  private let tokens: [Role: String]

  private struct Zones: ZoneNames {
    func isKnown(_ zone: String) -> Bool { ["Europe/Berlin", "UTC"].contains(zone) }
    func suggestions(for zone: String) -> [String] { ["Europe/Berlin"] }
  }

  /// The system's zones, read once and never again, so that nobody need wait for their readers.
  static let zones: ZonePublisher = {
    let publisher = ZonePublisher(epochs: Epochs())
    try! TimeZoneDatabase().load(into: publisher)
    return publisher
  }()

  /// 2026-03-09T22:30:00Z, and what a test adds to it.
  final class Clock: Sendable {
    private let ms = Mutex<Int64>(1_773_095_400_000)
    func read() -> Int64 { ms.withLock { $0 } }
    func advance(ms by: Int64) { ms.withLock { $0 += by } }
  }
  let clock = Clock()

  /// - Parameter aheadMs: of the store's clock, the API's.
  init(limits: Gatekeeper.Limits = Gatekeeper.Limits(), aheadMs: Int64 = 0) throws {
    service = try PreferenceService(
      database: .sqlite(path: folder.file("p.db")),
      machine: PreferenceMachine(policy: policy, zones: Zones()),
      links: SettingsLinks(androidPackage: "com.example.app")!, nowMs: clock.read)
    var lines = ""
    var tokens: [Role: String] = [:]
    for role in Role.allCases {
      let token = AccessToken.make()
      tokens[role] = token
      lines += TokenTable.line(id: role.rawValue, role: role, token: token) + "\n"
    }
    self.tokens = tokens
    let registry = MetricRegistry()
    keeper = Gatekeeper(tokens: try TokenTable(parsing: lines), limits: limits)
    desk = SupportDesk(
      service: service, evidence: evidence,
      panel: NowPanel(policy: policy, zones: Self.zones, epochs: Epochs(), nowMs: clock.read),
      quietMap: QuietMap(
        service, policy: policy, zones: Self.zones, epochs: Epochs(), nowMs: clock.read),
      nowMs: clock.read)
    api = PreferenceAPI(
      service: service, policy: policy, desk: desk, keeper: keeper,
      health: HealthSource(
        metrics: { registry.render() }, heartbeats: [],
        readiness: { [ReadinessCheck(name: "store")] }),
      registry: registry, log: Logger(format: .json, sink: { _ in }),
      nowMs: { [clock] in clock.read() + aheadMs })
  }

  func close() { service.close() }

  func token(_ role: Role) -> String { tokens[role]! }

  func bearer(_ role: Role) -> HTTPField {
    HTTPField("Authorization", "Bearer \(tokens[role]!)")
  }

  struct Reply {
    var status: Int
    var body: String
    var headers: [HTTPField]

    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    /// Of a problem.
    var code: String? {
      body.split(separator: "\"code\":\"").dropFirst().first.map {
        String($0.prefix { $0 != "\"" })
      }
    }
  }

  /// - Parameters:
  ///   - path: with its query.
  ///   - role: whose token; nil: none.
  func ask(
    _ method: String, _ path: String, _ role: Role? = .admin, body: String? = nil,
    headers: [HTTPField] = []
  ) -> Reply {
    let parts = path.split(separator: "?", maxSplits: 1)
    let arguments = parts.dropFirst().flatMap { $0.split(separator: "&") }.map { argument in
      let pair = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (name: String(pair[0]), value: pair.count == 2 ? String(pair[1]) : nil)
    }
    var sent = headers
    if let role { sent.append(bearer(role)) }
    if let body {
      sent.append(HTTPField("Content-Length", "\(body.utf8.count)"))
      if !headers.contains(where: { $0.name == "Content-Type" }) {
        sent.append(HTTPField("Content-Type", "application/json"))
      }
    }
    let answer = api.respond(
      to: HTTPRequest(
        method: method, path: String(parts[0]), arguments: arguments, headers: sent,
        body: body.map { $0.isEmpty ? .none : .whole(Array($0.utf8)) } ?? .none))
    return Reply(
      status: answer.status, body: String(decoding: answer.body, as: UTF8.self),
      headers: answer.headers)
  }
}

func withAPI(
  limits: Gatekeeper.Limits = Gatekeeper.Limits(), _ body: (APIWorld) throws -> Void
) throws {
  let world = try APIWorld(limits: limits)
  defer { world.close() }
  try body(world)
}
