import Telemetry

/// One thing that must hold before the gate is ready: its name, and what is missing where it does not.
public struct ReadinessCheck: Sendable, Equatable {
  public var name: String
  /// Nil: it holds. Else a few words: `41 of 64 partitions read`.
  public var problem: String?

  public init(name: String, problem: String? = nil) {
    self.name = name
    self.problem = problem
  }
}

/// What the health pages show, given by whoever composes the process. The closures run on the HTTP
/// thread and must not wait.
public struct HealthSource: Sendable {
  public var metrics: @Sendable () -> [UInt8]
  public var heartbeats: [Heartbeat]
  public var readiness: @Sendable () -> [ReadinessCheck]

  public init(
    metrics: @escaping @Sendable () -> [UInt8], heartbeats: [Heartbeat],
    readiness: @escaping @Sendable () -> [ReadinessCheck]
  ) {
    self.metrics = metrics
    self.heartbeats = heartbeats
    self.readiness = readiness
  }

  /// `/metrics`, `/livez`, `/readyz`; 404 for any other path, 405 for any method but GET and HEAD.
  ///
  /// Alive means that every loop went round lately, whatever the broker does: a supervisor restarts
  /// what is not alive, and a restart brings no broker back. Ready means that all checks hold.
  public func respond(to request: HTTPRequest) -> HTTPResponse {
    let answer: HTTPResponse
    switch request.path {
    case "/metrics":
      answer = metricsPage
    case "/livez":
      answer = alivePage(isVerbose: request.has(argument: "verbose"))
    case "/readyz":
      answer = readyPage(isVerbose: request.has(argument: "verbose"))
    default:
      return .text(404, "not found: this serves /metrics, /livez and /readyz\n")
    }
    guard request.method == "GET" || request.method == "HEAD" else {
      return .text(405, "only GET and HEAD\n").adding("Allow", "GET, HEAD")
    }
    return answer
  }

  /// The metrics in OpenMetrics text.
  public var metricsPage: HTTPResponse {
    HTTPResponse(
      status: 200, contentType: "application/openmetrics-text; version=1.0.0; charset=utf-8",
      body: metrics())
  }

  /// Whether every loop went round lately.
  public func alivePage(isVerbose: Bool) -> HTTPResponse {
    Self.report(
      heartbeats.map(Self.check), good: "alive", bad: "not alive", isVerbose: isVerbose)
  }

  /// Whether all checks hold.
  public func readyPage(isVerbose: Bool) -> HTTPResponse {
    Self.report(readiness(), good: "ready", bad: "not ready", isVerbose: isVerbose)
  }

  private static func check(_ heartbeat: Heartbeat) -> ReadinessCheck {
    let ageMs = heartbeat.ageMs()
    let isLate = ageMs > heartbeat.intervalMsMax
    return ReadinessCheck(
      name: heartbeat.name,
      problem: isLate ? "no beat for \(ageMs) ms (limit \(heartbeat.intervalMsMax) ms)" : nil)
  }

  private static func report(
    _ checks: [ReadinessCheck], good: String, bad: String, isVerbose: Bool
  ) -> HTTPResponse {
    let isGood = checks.allSatisfy { $0.problem == nil }
    var text = ""
    // What is wrong is always listed; what is right only for who asks.
    for check in checks {
      if let problem = check.problem {
        text += "[-] \(oneLine(check.name)): \(oneLine(problem))\n"
      } else if isVerbose {
        text += "[+] \(oneLine(check.name))\n"
      }
    }
    return .text(isGood ? 200 : 503, text + (isGood ? good : bad) + "\n")
  }

  private static func oneLine(_ text: String) -> String {
    String(text.map { $0.isNewline ? " " : $0 })
  }
}
