import Gate
import Glibc

/// What a run asks the preference service once the gate has decided.
extension SelfTestSession {
  private static let lookMs = 200

  /// A look that the deadline cuts short finds nothing; where it was the first, the service is too slow
  /// to say what its index lacks.
  func lookIntoIndex() throws(CommandFailure) {
    var hasLooked = false
    while deadline.leftMs() > 0 {
      do throws(CommandFailure) {
        if try findAttempts() { return }
      } catch {
        if hasLooked && deadline.leftMs() == 0 { return }
        throw error
      }
      hasLooked = true
      usleep(UInt32(min(Self.lookMs, deadline.leftMs())) * 1_000)
    }
  }

  var unseen: [SelfTestState] {
    SelfTestState.allCases.filter { !found[$0]!.decisions.isEmpty && found[$0]!.attempt == nil }
  }

  /// Whether the index has every decision.
  private func findAttempts() throws(CommandFailure) -> Bool {
    for state in unseen {
      let id = found[state]!.notificationID
      let answer = try service.get("/v1/evidence/users/\(state.userID)?limit=50")
      found[state]!.attempt = answer?.at("items")?.elements.lazy
        .compactMap { $0.at("decision") }
        .first { $0.at("notification_id")?.string == id }
    }
    return unseen.isEmpty
  }

  func askIndexState() throws(CommandFailure) {
    let reply = try service.ask("GET", "/v1/evidence/state")
    let words: String
    if reply.isGood, let state = reply.json {
      let fresh = state.at("fresh_at")?.string ?? "never"
      words =
        "the index was up to date at \(fresh), \(state.at("records_behind")?.shown ?? "?")"
        + " records behind"
    } else {
      words =
        reply.code == "no_index"
        ? "no index is kept (evidence.database is not set)"
        : "the index does not say how far it is (\(reply.status))"
    }
    for state in SelfTestState.allCases { found[state]!.indexState = words }
  }

  /// What two runs at once make of the same users says nothing of the system. Where the service cannot
  /// be asked, what was found stands.
  func checkAlone(_ report: SelfTestReport) throws(CommandFailure) {
    for state in SelfTestState.allCases {
      guard let reply = try? service.ask("GET", "/v1/users/\(state.userID)/preferences"),
        reply.isGood || reply.status == 404
      else { continue }
      let version = reply.json?.at("version")?.integer
      guard found[state]!.isDisturbed(now: version) else { continue }
      let names = report.disagreements.map(\.what).joined(separator: ", ")
      throw CommandFailure(
        ExitCode.notRun,
        "\(state.userID) was changed by somebody else meanwhile, most likely by another self-test at"
          + " the same time: run it again, alone. What did not agree says nothing: \(names)")
    }
  }
}
