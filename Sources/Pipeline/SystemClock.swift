import Glibc

/// The system's clocks.
public final class SystemClock: LoopClock, Sendable {
  public init() {}

  public func wallMs() -> Int64 { Self.read(CLOCK_REALTIME) }
  public func monotonicMs() -> Int64 { Self.read(CLOCK_MONOTONIC) }
  public func processMs() -> Int64 { Self.read(CLOCK_PROCESS_CPUTIME_ID) }

  public func sleep(ms: Int64) {
    var time = timespec(tv_sec: Int(ms / 1000), tv_nsec: Int(ms % 1000) * 1_000_000)
    var rest = timespec()
    while nanosleep(&time, &rest) != 0 && errno == EINTR { time = rest }
  }

  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
