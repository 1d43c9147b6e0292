import Glibc

extension Process {
  /// The wall clock, milliseconds since the epoch.
  static func nowMs() -> Int64 {
    var now = timespec()
    precondition(clock_gettime(CLOCK_REALTIME, &now) == 0, "no clock")
    return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
  }
}
