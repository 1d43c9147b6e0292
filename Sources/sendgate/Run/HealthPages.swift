import Gate
import Pipeline
import Telemetry
import Web

/// What `/metrics`, `/livez` and `/readyz` show of the gate.
struct HealthPages: Sendable {
  private let source: HealthSource

  init(_ world: SharedWorld, _ findings: Findings, _ registry: MetricRegistry, _ beat: Heartbeat) {
    source = HealthSource(
      metrics: { registry.render() }, heartbeats: [beat],
      readiness: { Self.checks(world, findings) })
  }

  var respond: @Sendable (HTTPRequest) -> HTTPResponse {
    { [source] request in source.respond(to: request) }
  }

  private static func checks(_ world: SharedWorld, _ findings: Findings) -> [ReadinessCheck] {
    let version = String(decoding: world.zones.current.version, as: UTF8.self)
    var checks = [
      ReadinessCheck(name: "topics", problem: findings.stop?.reasons.first ?? findings.waiting),
      ReadinessCheck(
        name: "preferences (\(world.preferences.users) users)",
        problem: preferences(world, findings)),
      // No problem: the zones in use are good, and a restart would mend nothing.
      ReadinessCheck(
        name: "time zones (tz database \(version)"
          + (findings.zonesRefusal.map { "; the one on disk is refused: \($0)" } ?? "") + ")"),
    ]
    let lanes = findings.lanes
    if lanes.isEmpty { checks.append(ReadinessCheck(name: "lanes", problem: "not started")) }
    for lane in lanes { checks.append(ReadinessCheck(name: lane.name, problem: lane.problem)) }
    return checks
  }

  private static func preferences(_ world: SharedWorld, _ findings: Findings) -> String? {
    // Told once, when it was met; it explains only what is still wrong.
    let refusal = findings.refusal(of: .preferences).map { ": \($0)" } ?? ""
    guard world.readiness.isReady else { return "not read to their end yet" + refusal }
    let behindMs = world.readiness.behindMs(nowMs: SystemClock().monotonicMs())
    guard let limit = world.policy.preferencesStaleSecondsMax(.ordinary) else { return nil }
    return behindMs > limit * 1_000
      ? "\(behindMs / 1_000) s behind (limit \(limit) s)" + refusal : nil
  }
}
