import Evidence
import Gate
import Preferences
import Telemetry
import Web

/// What `/metrics` and `/readyz` show beside the requests.
enum ServeMetrics {
  static func register(
    _ opened: OpenStore, _ kafka: PreferenceKafka, _ evidence: EvidenceIndex?,
    in registry: MetricRegistry
  ) {
    registry.info(
      "build", help: "What this process is.",
      labels: [
        "version": String(describing: GateVersion.text), "policy_version": opened.policy.version,
      ])
    StoreMetrics.register(
      in: registry, opened.service, outbox: kafka.outbox, intake: kafka.intake)
    if let evidence { EvidenceMetrics.register(in: registry, evidence) }
  }

  /// Kafka being away is no problem here: changes are kept, and published when it is back.
  static func checks(
    _ service: PreferenceService, _ kafka: PreferenceKafka, _ evidence: EvidenceIndex?
  ) -> [ReadinessCheck] {
    let intake = kafka.intake.counters.isCaughtUp.value
    do throws(StoreError) {
      let backlog = try service.outboxBacklog()
      return [
        ReadinessCheck(name: "store"),
        ReadinessCheck(name: "outbox (\(backlog.rows) records wait to be published)"),
        ReadinessCheck(name: "intake (\(intake ? "caught up" : "not caught up"))"),
      ] + (evidence.map { [ServedEvidence.check($0)] } ?? [])
    } catch {
      return [ReadinessCheck(name: "store", problem: "\(error)")]
    }
  }
}
