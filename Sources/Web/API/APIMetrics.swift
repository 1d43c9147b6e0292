import Telemetry

/// Counts of requests by operation and class of answer, and how long they took. All are registered at
/// start: what a client sends makes no new time series.
struct APIMetrics: Sendable {
  private struct Operation: Hashable {
    var method: String
    var route: String
  }

  private let counters: [Operation: [Counter]]
  private let latencies: [Operation: Histogram]
  private static let classes = ["1xx", "2xx", "3xx", "4xx", "5xx"]
  /// What led to no operation: unknown paths, other methods.
  private static let none = Operation(method: "none", route: "none")

  init(_ operations: [(method: String, route: String)], _ registry: MetricRegistry) {
    var counters: [Operation: [Counter]] = [:]
    var latencies: [Operation: Histogram] = [:]
    for (method, route) in operations + [(Self.none.method, Self.none.route)] {
      let operation = Operation(method: method, route: route)
      counters[operation] = Self.classes.map { name in
        registry.counter(
          "http_requests", help: "Requests answered, by operation and class of status.",
          labels: ["method": operation.method, "route": operation.route, "status": name])
      }
      latencies[operation] = registry.histogram(
        "http_request_duration", unit: .seconds,
        help: "From a request's last byte to its answer being handed over.",
        labels: ["method": operation.method, "route": operation.route],
        bounds: Histogram.latencySeconds)
    }
    self.counters = counters
    self.latencies = latencies
  }

  func note(_ method: String, _ route: String?, status: Int, seconds: Double) {
    var operation = Self.none
    if let route {
      operation = Operation(method: method == "HEAD" ? "GET" : method, route: route)
    }
    guard let counter = counters[operation], let latency = latencies[operation] else { return }
    counter[min(max(status / 100, 1), 5) - 1].add()
    latency.observe(seconds)
  }
}
