import Glibc
import Pipeline
import Telemetry

/// When a dispatcher is to end: by a signal, or because nothing comes any more.
final class DispatchControl {
  private let untilIdleMs: Int64?
  private let log: Logger
  private let clock = SystemClock()
  private var inputAtMs: Int64
  private(set) var isStopping = false

  init(untilIdleMs: Int64?, log: Logger) {
    self.untilIdleMs = untilIdleMs
    self.log = log
    inputAtMs = clock.monotonicMs()
  }

  func noteInput() { inputAtMs = clock.monotonicMs() }

  /// Looks for a signal; to be called wherever something is waited for. A second one ends the process
  /// where it stands: the coordinator aborts what is open.
  func heedSignals() {
    guard let signal = Signals.wait(ms: 0) else { return }
    if isStopping {
      log.warning("Leaving without waiting.", ["signal": .string(signal)])
      log.flush()
      _exit(ExitCode.ok)
    }
    log.info("Ending.", ["signal": .string(signal)])
    isStopping = true
  }

  /// - Parameter mayBeIdle: something is owned, and nothing is open.
  func heedIdleness(mayBeIdle: Bool) {
    guard mayBeIdle, let untilIdleMs, !isStopping else { return }
    guard clock.monotonicMs() - inputAtMs >= untilIdleMs else { return }
    log.info("No approval for long enough; ending.")
    isStopping = true
  }
}
