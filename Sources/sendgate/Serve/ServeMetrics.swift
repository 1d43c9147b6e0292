import Gate
import Preferences
import Telemetry
import Web

/// What `/metrics` and `/readyz` show of the store.
enum ServeMetrics {
  static func register(_ opened: OpenStore, in registry: MetricRegistry) {
    let service = opened.service
    registry.info(
      "build", help: "What this process is.",
      labels: [
        "version": String(describing: GateVersion.text), "policy_version": opened.policy.version,
      ])
    registry.counter("store_commits", help: "Commits of the preference store made durable.") {
      service.counters.groups
    }
    registry.counter("store_requests", help: "Changes in them; many share a commit.") {
      service.counters.requests
    }
    registry.gauge(
      "outbox_records", help: "Records that wait to be published; absent where that cannot be read."
    ) { backlog(service).map { Double($0.rows) } }
    registry.gauge(
      "outbox_age", unit: .seconds,
      help: "How long the oldest of them has waited; 0 where none does."
    ) {
      guard let backlog = backlog(service) else { return nil }
      guard let oldestMs = backlog.oldestMs else { return 0 }
      return max(0, Double(SystemTime.wallClockMs() - oldestMs) / 1_000)
    }
  }

  static func checks(_ service: PreferenceService) -> [ReadinessCheck] {
    do throws(StoreError) {
      _ = try service.outboxBacklog()
      return [ReadinessCheck(name: "store")]
    } catch {
      return [ReadinessCheck(name: "store", problem: "\(error)")]
    }
  }

  private static func backlog(
    _ service: PreferenceService
  ) -> (rows: Int64, oldestMs: Int64?)? {
    // Readiness and the log say what is wrong; a number that is not known is left out.
    try? service.outboxBacklog()
  }
}
