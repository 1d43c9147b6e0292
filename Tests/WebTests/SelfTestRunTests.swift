import Evidence
import Preferences
import Synchronization
import Testing

@testable import Web

private let report = """
  {"run":"r","at":"2026-03-09T22:30:00.000Z","version":"0.1.0","passed":true,"more":{"a":["ü"]}}
  """

private final class Kept: Sendable {
  private let runs = Mutex<[SelfTestRun]>([])

  func add(_ run: SelfTestRun) { runs.withLock { $0.append(run) } }
  var all: [SelfTestRun] { runs.withLock { $0 } }
}

private func withKept(_ body: (APIWorld, Kept) throws -> Void) throws {
  let kept = Kept()
  let world = try APIWorld(keepSelfTest: { run in kept.add(run) })
  defer { world.close() }
  try body(world, kept)
}

@Test func aRunIsKeptAsItCame() throws {
  try withKept { world, kept in
    for (role, outcome) in [(Role.selftest, SelfTestRun.Outcome.passed), (.admin, .failed)] {
      let body = outcome == .passed ? report : report.replacing("true", with: "false")
      #expect(world.ask("POST", "/v1/evidence/selftests", role, body: body).status == 204)
      let run = SelfTestRun(
        atMs: 1_773_095_400_000, version: "0.1.0", outcome: outcome, report: body)
      #expect(kept.all.last == run)
    }
    for role in [Role.app, .support] {
      #expect(world.ask("POST", "/v1/evidence/selftests", role, body: report).status == 403)
    }
    #expect(kept.all.count == 2)
  }
}

@Test(arguments: [
  "", "[]", "{", #"{"at":"2026-03-09T22:30:00Z","version":"1"}"#,
  report.replacing("2026-03-09T", with: "soon"), report.replacing("true", with: "\"yes\""),
  report.replacing("0.1.0", with: ""),
  report.replacing("0.1.0", with: String(repeating: "1", count: 65)),
])
func whatIsNoReportIsRefused(body: String) throws {
  try withKept { world, kept in
    #expect(world.ask("POST", "/v1/evidence/selftests", .selftest, body: body).status == 400)
    #expect(kept.all.isEmpty)
  }
}

@Test func withoutAnIndexNothingIsKept() throws {
  try withAPI { world in
    let answer = world.ask("POST", "/v1/evidence/selftests", .selftest, body: report)
    #expect(answer.status == 404 && answer.code == "no_index")
  }
}

/// Of its own users the self-test may read what support may; of nobody else.
@Test func theSelfTestReadsTheEvidenceOfItsUsers() throws {
  try withAPI { world in
    let user = "sendgate-selftest.active"
    let seen = #"{"platform":"ios","os_permission":"granted"}"#
    let device = "/v1/users/\(user)/devices/\(user).d"
    #expect(world.ask("PUT", device, .selftest, body: seen).status == 200)
    #expect(world.ask("GET", "/v1/evidence/users/\(user)", .selftest).status == 200)
    #expect(world.ask("GET", "/v1/evidence/users/\(user)/now", .selftest).status == 200)
    #expect(world.ask("GET", "/v1/evidence/state", .selftest).status == 200)
    for path in ["users/u", "users/u/now", "notifications/n", "devices/d", "outcomes"] {
      #expect(world.ask("GET", "/v1/evidence/\(path)", .selftest).status == 403, "\(path)")
    }
  }
}
