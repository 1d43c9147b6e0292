import Gate
import Glibc
import Pipeline

/// A line a second on a terminal: rate, outcomes, lag. Nothing where standard error is a file or a
/// pipe, whose reader gets log lines and metrics.
struct StatusLine {
  private let isTerminal = isatty(STDERR_FILENO) == 1
  private var shownAtMs: Int64 = 0
  private var shownRecords: UInt64 = 0

  mutating func show(_ runners: [LaneRunner], isReady: Bool, users: Int, _ nowMs: Int64) {
    guard isTerminal, nowMs - shownAtMs >= 1_000 else { return }
    let records = runners.reduce(0) { $0 + $1.counters[.records] }
    let rate = shownAtMs == 0 ? 0 : Int64(records - shownRecords) * 1_000 / (nowMs - shownAtMs)
    shownAtMs = nowMs
    shownRecords = records
    var state = isReady ? "" : "reading preferences: \(users) users; "
    state += RestoreBar.text(runners)
    let held = runners.reduce(0) { $0 + $1.counters[.holds] }
    if held > 0 { state += "held \(held); " }
    let lag = runners.reduce(0) { $0 + max(0, $1.counters[.lag]) }
    let outcomes = Outcome.allCases
      .map { "\($0.name) \(Self.count($0, runners))" }.joined(separator: ", ")
    Process.print("\r\u{1B}[K\(state)\(rate)/s; \(outcomes); lag \(lag)", to: STDERR_FILENO)
  }

  mutating func finish(_ runners: [LaneRunner], nowMs: Int64) {
    guard isTerminal, shownAtMs > 0 else { return }
    shownAtMs = min(shownAtMs, nowMs - 1_000)
    show(runners, isReady: true, users: 0, nowMs)
    Process.print("\n", to: STDERR_FILENO)
  }

  static func count(_ outcome: Outcome, _ runners: [LaneRunner]) -> UInt64 {
    var total: UInt64 = 0
    for runner in runners {
      for reason in Reason.allCases {
        for category in Category.allCases.map(Optional.some) + [nil] {
          total += runner.counters.decided(outcome, category, reason)
        }
      }
    }
    return total
  }
}
