import Gate
import Pipeline
import Telemetry

/// The metrics of what is held.
enum HoldMetrics {
  static func register(
    _ counters: LoopCounters, lane: String, in registry: MetricRegistry
  ) {
    let labels: Labels = ["lane": lane]
    registry.gauge("holds", help: "Notifications held.", labels: labels) {
      Double(counters[.holds])
    }
    registry.gauge(
      "holds_index", unit: .bytes, help: "Memory of the index of holds.", labels: labels
    ) { Double(counters[.holdIndexBytes]) }
    registry.gauge(
      "holds_payload", unit: .bytes, help: "Memory of their records, compressed.", labels: labels
    ) { Double(counters[.holdPayloadBytes]) }
    for provider in Provider.allCases {
      registry.gauge(
        "holds_overdue", help: "Holds that are due and have not left, counted to 100,000.",
        labels: ["lane": lane, "provider": "\(provider.name)"]
      ) { Double(counters[provider == .apns ? .overdueAPNs : .overdueFCM]) }
    }
    for result in HoldResult.allCases {
      registry.counter(
        "hold_results", help: "What became of holds, committed.",
        labels: ["lane": lane, "result": name(result)]
      ) { counters[result] }
    }
  }

  private static func name(_ result: HoldResult) -> String {
    switch result {
    case .added: "added"
    case .released: "released"
    case .dropped: "dropped"
    case .superseded: "superseded"
    case .heldOn: "held_on"
    case .erased: "erased"
    }
  }
}
