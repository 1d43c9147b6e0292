import Pipeline
import Preferences
import Telemetry
import Web

/// Counts every quarter of an hour who is in their quiet hours, since that looks at everybody.
final class QuietMapThread: @unchecked Sendable {
  // Unchecked because of the thread's handle, which only the owner that stops it touches.
  static let intervalMs: Int64 = 15 * 60_000
  private static let turnMs: Int64 = 100
  private let map: QuietMap
  private let log: Logger
  private let control = LaneControl()
  private let clock = SystemClock()
  private var thread: NamedThread!

  /// Starts at once.
  init(_ map: QuietMap, _ log: Logger) {
    self.map = map
    self.log = log
    thread = NamedThread(name: "quiet-map") { [unowned self] in run() }
  }

  /// Ends behind the step that is being done.
  func stop() {
    control.ask(.drain)
    thread.join()
  }

  private func run() {
    var nextAtMs = clock.monotonicMs()
    while control.request == .none {
      if clock.monotonicMs() >= nextAtMs {
        count()
        nextAtMs = clock.monotonicMs() + Self.intervalMs
      }
      clock.sleep(ms: Self.turnMs)
    }
  }

  private func count() {
    do throws(StoreError) {
      try map.renew(while: { control.request == .none })
    } catch {
      log.error(
        "Quiet hours could not be counted; the figures before stay", ["reason": .string("\(error)")]
      )
    }
  }
}
