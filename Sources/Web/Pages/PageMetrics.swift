import Gate
import Telemetry

/// What became of visits to signed links. All series are there from the start: what a visitor sends makes
/// no new one.
struct PageMetrics: Sendable {
  enum Result: String, CaseIterable {
    /// The page that asks was shown: nothing changed.
    case asked
    case muted, undone
    /// A link, or a form, that had been used before: nothing changed.
    case repeated
    case shown, changed, refused
  }

  static let deadReasons = LinkFault.allCases.map(\.rawValue) + ["other_purpose", "unknown_user"]

  private let results: [Result: Counter]
  private let dead: [String: Counter]

  init(_ registry: MetricRegistry) {
    results = Dictionary(
      uniqueKeysWithValues: Result.allCases.map { result in
        (
          result,
          registry.counter(
            "page_visits", help: "Visits to signed links, by what became of them.",
            labels: ["result": result.rawValue])
        )
      })
    dead = Dictionary(
      uniqueKeysWithValues: Self.deadReasons.map { reason in
        (
          reason,
          registry.counter(
            "page_dead_links", help: "Visits with a link that is no good, by why.",
            labels: ["reason": reason])
        )
      })
  }

  func note(_ result: Result) { results[result]?.add() }

  func noteDead(_ reason: String) { dead[reason]?.add() }
}
