import Telemetry

/// Visits to the console. All series are there from the start: what a visitor sends makes no new one.
struct ConsoleMetrics: Sendable {
  enum Visit: String, CaseIterable {
    /// The page to sign in was shown.
    case asked
    case signedIn = "signed_in"
    case refused
    case home, user, notification, device, charts
    case selfTest = "self_test"
    case reasons
  }

  private let visits: [Visit: Counter]

  init(_ registry: MetricRegistry) {
    visits = Dictionary(
      uniqueKeysWithValues: Visit.allCases.map { visit in
        (
          visit,
          registry.counter(
            "console_visits", help: "Visits to the support console, by what was shown.",
            labels: ["page": visit.rawValue])
        )
      })
  }

  func note(_ visit: Visit) { visits[visit]?.add() }
}
