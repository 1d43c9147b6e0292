/// How log lines look.
public enum LogFormat: Sendable {
  /// One JSON object a line, for machines.
  case json
  /// One short line for a person; with colours where the terminal has them.
  case terminal(colour: Bool)
}

extension LogFormat {
  func append(_ line: LogLine, to text: inout TextBuffer) {
    switch self {
    case .json: Self.appendJSON(line, to: &text)
    case .terminal(let colour): Self.appendTerminal(line, colour: colour, to: &text)
    }
    text.append("\n")
  }

  private static func appendJSON(_ line: LogLine, to text: inout TextBuffer) {
    text.append("{\"time\":\"\(RFC3339.text(ms: line.timeMs))\",\"level\":\"\(line.level.name)\"")
    text.append(",\"message\":\"")
    text.appendJSONEscaped(LogLine.bounded(line.message))
    text.append("\"")
    for (key, value) in line.fields {
      text.append(",\"\(key)\":")
      switch value {
      case .string(let string):
        text.append("\"")
        text.appendJSONEscaped(LogLine.bounded(string))
        text.append("\"")
      case .integer(let integer): text.append("\(integer)")
      // JSON has no word for these; as strings they stay readable and the line stays valid.
      case .real(let real): text.append(real.isFinite ? "\(real)" : "\"\(real)\"")
      case .boolean(let boolean): text.append(boolean ? "true" : "false")
      }
    }
    if line.suppressed > 0 { text.append(",\"log.suppressed\":\(line.suppressed)") }
    text.append("}")
  }

  private static func appendTerminal(
    _ line: LogLine, colour: Bool, to text: inout TextBuffer
  ) {
    text.appendTime(ms: line.timeMs)
    text.append(colour ? " \(colourCode(line.level))" : " ")
    text.append(label(line.level))
    text.append(colour ? "\u{1B}[0m " : " ")
    text.appendJSONEscaped(LogLine.bounded(line.message))
    for (key, value) in line.fields {
      text.append("  \(key)=")
      switch value {
      case .string(let string):
        let bounded = LogLine.bounded(string)
        // Quoted where a bare word would be misread; escaped always, so that a value cannot move
        // the cursor or fake a line.
        let isBare =
          !bounded.isEmpty && bounded.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x3D }
        if !isBare { text.append("\"") }
        text.appendJSONEscaped(bounded)
        if !isBare { text.append("\"") }
      case .integer(let integer): text.append("\(integer)")
      case .real(let real): text.append("\(real)")
      case .boolean(let boolean): text.append(boolean ? "true" : "false")
      }
    }
    if line.suppressed > 0 { text.append("  (\(line.suppressed) more like this suppressed)") }
  }

  private static func label(_ level: LogLevel) -> String {
    switch level {
    case .debug: "debug"
    case .info: "info "
    case .warning: "warn "
    case .error: "error"
    }
  }

  private static func colourCode(_ level: LogLevel) -> String {
    switch level {
    case .debug: "\u{1B}[2m"
    case .info: "\u{1B}[32m"
    case .warning: "\u{1B}[33m"
    case .error: "\u{1B}[31m"
    }
  }
}
