import CContracts
import Preferences

/// The process itself: its contract, its health, its metrics.
struct ServiceEndpoints: Sendable {
  let health: HealthSource

  func add(to router: inout Router<Endpoint>) {
    router.add(
      "GET", "/v1/openapi.yaml",
      Endpoint(access: .open) { (_) throws(Problem) in
        HTTPResponse(status: 200, contentType: "application/yaml", body: Self.contract)
      })
    // Open: who meets a code in a record is to find its words, and nobody's data is in them.
    router.add(
      "GET", "/v1/reasons",
      Endpoint(access: .open) { (_) throws(Problem) in .json(200, ReasonRegistry.file) })
    router.add("GET", "/healthz", Endpoint(access: .open, arguments: ["verbose"], run: alive))
    router.add("GET", "/readyz", Endpoint(access: .open, arguments: ["verbose"], run: ready))
    router.add(
      "GET", "/metrics",
      Endpoint(access: .roles([.app, .support, .admin])) { (_) throws(Problem) in
        health.metricsPage
      })
  }

  private func alive(_ call: APICall) throws(Problem) -> HTTPResponse {
    health.alivePage(isVerbose: call.request.has(argument: "verbose"))
  }

  private func ready(_ call: APICall) throws(Problem) -> HTTPResponse {
    health.readyPage(isVerbose: call.request.has(argument: "verbose"))
  }

  private static let contract: [UInt8] = {
    var count = 0
    let start = cc_openapi(&count)
    return Array(UnsafeBufferPointer(start: start, count: count))
  }()
}
