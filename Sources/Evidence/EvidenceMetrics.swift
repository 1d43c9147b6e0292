import Preferences
import Telemetry

/// What the index tells of itself. Registered once a process.
public enum EvidenceMetrics {
  public static func register(in registry: MetricRegistry, _ index: EvidenceIndex) {
    let counters = index.counters
    let help = "Records that were taken into the evidence index, by what they were."
    let kinds: [(String, EventCount)] = [
      ("approved", counters.approved), ("deferred", counters.deferred),
      ("dropped", counters.dropped), ("selftest", counters.selfTests),
      ("receipt", counters.receipts), ("hold_ended", counters.holdsEnded),
      ("erasure", counters.erasures),
    ]
    for (kind, count) in kinds {
      registry.counter("evidence_records", help: help, labels: ["kind": kind]) { count.value }
    }
    let others: [(String, String, EventCount)] = [
      (
        "evidence_unreadable", "Records that no gate and no dispatcher writes; they are kept.",
        counters.unreadable
      ),
      (
        "evidence_of_erased", "Records of users who were erased since; they are not kept.",
        counters.ofErased
      ),
      (
        "evidence_skipped", "Records that the evidence database refused: a defect.",
        counters.skipped
      ),
      (
        "evidence_gaps", "Times that records were gone before they were indexed.", counters.gaps
      ),
      (
        "evidence_made_anew", "Times that a partition was found deleted and made anew.",
        counters.madeAnew
      ),
      ("evidence_expired", "Records that retention took away.", counters.expired),
    ]
    for (name, help, count) in others { registry.counter(name, help: help) { count.value } }
    registry.gauge(
      "evidence_lag_records", help: "Offsets that are not indexed yet, when last asked."
    ) { counters.recordsBehind.map(Double.init) }
    let nowMs = index.nowMs
    registry.gauge(
      "evidence_lag", unit: .seconds,
      help: "Since when not everything is indexed; it grows while indexing stands still."
    ) { counters.freshAtMs.map { Double(max(0, nowMs() - $0)) / 1000 } }
    registry.gauge(
      "evidence_caught_up",
      help: "1 where everything on the indexed topics is indexed, so far as the broker answers."
    ) { counters.isCaughtUp.value ? 1 : 0 }
  }
}
