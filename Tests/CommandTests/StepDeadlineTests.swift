import Testing

@testable import sendgate

@Suite struct StepDeadlineTests {
  private let deadline = StepDeadline("preferences", limitMs: 2_000, nowNs: 5_000_000_000)

  @Test(
    arguments: [
      (5_000_000_000, 2_000), (5_000_000_001, 2_000), (5_001_000_000, 1_999), (6_999_999_999, 1),
      (7_000_000_000, 0), (9_000_000_000, 0),
    ] as [(Int64, Int)])
  func whatIsLeftGrowsLess(nowNs: Int64, leftMs: Int) {
    #expect(deadline.leftMs(nowNs: nowNs) == leftMs)
  }

  @Test func theStepIsNamedOnceItsTimeIsUp() {
    let early = deadline.failure("no answer", nowNs: 6_000_000_000)
    #expect(early == CommandFailure(ExitCode.notRun, "no answer"))
    let late = deadline.failure("no answer", nowNs: 7_000_000_000)
    #expect(late.exitCode == ExitCode.notRun)
    #expect(
      late.description
        == "the step preferences was not over in its 2 s (--step-timeout-seconds): no answer")
  }

  /// A client that has no time left asks nobody for long.
  @Test func withoutTimeLeftNothingIsWaitedFor() throws {
    let address = try #require(ServiceAddress("http://127.0.0.1:1"))
    let client = ServiceClient(address: address, token: "t", caFile: nil, timeoutMs: 60_000)
    #expect(throws: ServiceFailure.self) { _ = try client.ask("GET", "/", withinMs: 0) }
  }
}
