/// Holds back repeats of a message: so many in a window, then silence and a count. A broker that is
/// away makes the same line a thousand times a second; a full disk of logs helps nobody.
struct RepeatLimit {
  static let linesMax = 20
  static let windowMs: Int64 = 10_000

  private struct Window {
    var startMs: Int64
    var written: Int
    var suppressed: Int
    var level: LogLevel
  }

  /// By message. Messages are constants of the program, so this cannot grow without bound.
  private var windows: [String: Window] = [:]

  enum Admission: Equatable {
    /// Write it; so many like it were held back since the last one written.
    case write(suppressedBefore: Int)
    case suppress
  }

  mutating func admit(_ message: String, level: LogLevel, nowMs: Int64) -> Admission {
    var window =
      windows[message] ?? Window(startMs: nowMs, written: 0, suppressed: 0, level: level)
    // A clock that was set back must not close the window for as long as it was set back by.
    if nowMs >= window.startMs + Self.windowMs || nowMs < window.startMs {
      window.startMs = nowMs
      window.written = 0
    }
    window.level = level
    defer { windows[message] = window }
    guard window.written < Self.linesMax else {
      window.suppressed += 1
      return .suppress
    }
    window.written += 1
    defer { window.suppressed = 0 }
    return .write(suppressedBefore: window.suppressed)
  }

  /// Takes the counts of windows that have ended (or of all), so that a message that never comes
  /// again is still accounted for. In the order of the messages.
  mutating func takeSuppressed(
    nowMs: Int64, all: Bool = false
  ) -> [(message: String, level: LogLevel, count: Int)] {
    var taken: [(message: String, level: LogLevel, count: Int)] = []
    for (message, window) in windows
    where window.suppressed > 0 && (all || nowMs >= window.startMs + Self.windowMs) {
      taken.append((message, window.level, window.suppressed))
      windows[message]!.suppressed = 0
    }
    return taken.sorted { $0.message < $1.message }
  }
}
