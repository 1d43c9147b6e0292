import Telemetry

/// When a step of a run has to be over: whatever is done in it waits for no longer than what is left.
struct StepDeadline {
  let step: String
  private let limitMs: Int
  private let endNs: Int64
  private static let nsInMs: Int64 = 1_000_000

  init(_ step: String, limitMs: Int, nowNs: Int64 = SystemTime.monotonicNs()) {
    self.step = step
    self.limitMs = limitMs
    endNs = nowNs + Int64(limitMs) * Self.nsInMs
  }

  /// Rounded up, so that it is 0 only once the time is up.
  func leftMs(nowNs: Int64 = SystemTime.monotonicNs()) -> Int {
    Int(max(0, endNs - nowNs + Self.nsInMs - 1) / Self.nsInMs)
  }

  /// What went wrong: that the step's time is up, where it is, which says more than what was cut short.
  func failure(
    _ words: String, nowNs: Int64 = SystemTime.monotonicNs()
  ) -> CommandFailure {
    guard leftMs(nowNs: nowNs) == 0 else { return CommandFailure(ExitCode.notRun, words) }
    return CommandFailure(
      ExitCode.notRun,
      "the step \(step) was not over in its \(limitMs / 1_000) s (--step-timeout-seconds): \(words)"
    )
  }
}
