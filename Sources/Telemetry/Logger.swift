import Glibc
import Synchronization

/// Log lines on standard error, one write a line, usable from any thread. A line is
/// `log.warning("The broker does not answer.", ["kafka.bootstrap": "\(servers)"])`: a constant
/// sentence, and dotted keys for what varies. Repeats are limited, values escaped and cut.
///
/// A write may block for as long as whoever reads standard error does not read: log per event,
/// never per record.
public final class Logger: Sendable {
  private struct State {
    var limit = RepeatLimit()
    var text = TextBuffer()
  }

  public let format: LogFormat
  public let levelMin: LogLevel
  private let state = Mutex(State())
  private let nowMs: @Sendable () -> Int64
  private let sink: @Sendable (UnsafeRawBufferPointer) -> Void

  /// - Parameters:
  ///   - nowMs: the wall clock, milliseconds since the epoch.
  ///   - sink: takes one whole line; called under the logger's lock, so it must not log.
  public init(
    format: LogFormat, levelMin: LogLevel = .info,
    nowMs: @escaping @Sendable () -> Int64 = SystemTime.wallClockMs,
    sink: @escaping @Sendable (UnsafeRawBufferPointer) -> Void = Logger.writeToStandardError
  ) {
    self.format = format
    self.levelMin = levelMin
    self.nowMs = nowMs
    self.sink = sink
  }

  public func debug(_ message: StaticString, _ fields: LogFields = [:]) {
    log(.debug, message, fields)
  }

  public func info(_ message: StaticString, _ fields: LogFields = [:]) {
    log(.info, message, fields)
  }

  public func warning(_ message: StaticString, _ fields: LogFields = [:]) {
    log(.warning, message, fields)
  }

  public func error(_ message: StaticString, _ fields: LogFields = [:]) {
    log(.error, message, fields)
  }

  public func log(_ level: LogLevel, _ message: StaticString, _ fields: LogFields = [:]) {
    guard level >= levelMin else { return }
    let message = "\(message)"
    let now = nowMs()
    state.withLock { state in
      if case .write(let before) = state.limit.admit(message, level: level, nowMs: now) {
        write(
          LogLine(
            timeMs: now, level: level, message: message, fields: fields, suppressed: before),
          &state)
      }
      writeSuppressed(nowMs: now, all: false, &state)
    }
  }

  /// Writes what is still owed: the counts of suppressed repeats. For the end of the process.
  public func flush() {
    let now = nowMs()
    state.withLock { state in writeSuppressed(nowMs: now, all: true, &state) }
  }

  private func writeSuppressed(nowMs: Int64, all: Bool, _ state: inout State) {
    for (message, level, count) in state.limit.takeSuppressed(nowMs: nowMs, all: all) {
      let fields: LogFields = ["log.message": .string(message)]
      write(
        LogLine(
          timeMs: nowMs, level: level, message: "Repeats of a message were suppressed.",
          fields: fields, suppressed: count),
        &state)
    }
  }

  private func write(_ line: LogLine, _ state: inout State) {
    state.text.removeAll()
    format.append(line, to: &state.text)
    state.text.bytes.withUnsafeBytes { sink($0) }
  }

  /// The whole line or, where standard error is gone, nothing: there is nowhere left to say so.
  @Sendable public static func writeToStandardError(_ line: UnsafeRawBufferPointer) {
    var rest = line
    while !rest.isEmpty {
      let written = Glibc.write(STDERR_FILENO, rest.baseAddress, rest.count)
      if written < 0 && errno == EINTR { continue }
      guard written > 0 else { return }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
    }
  }
}

extension LogFormat {
  /// For a person where standard error is a terminal, JSON elsewhere. Colours unless `NO_COLOR` is
  /// set or the terminal is a dumb one.
  public static func forStandardError() -> LogFormat {
    guard isatty(STDERR_FILENO) == 1 else { return .json }
    return .terminalAsWanted()
  }

  /// The form for people, coloured only where that reaches a terminal.
  public static func terminalAsWanted() -> LogFormat {
    let isDumb = getenv("TERM").map { strcmp($0, "dumb") == 0 } ?? true
    return .terminal(
      colour: isatty(STDERR_FILENO) == 1 && !isDumb && getenv("NO_COLOR") == nil)
  }
}
