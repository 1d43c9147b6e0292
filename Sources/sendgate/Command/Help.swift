/// Help texts, made from the same tables that the parser reads.
enum Help {
  static let width = 96

  /// `sendgate --help`.
  static func overview(_ commands: [Command]) -> String {
    var text = """
      sendgate: decides which notifications go out, wait, or are dropped, and says why

      usage: sendgate COMMAND [FLAG ...]


      """
    let column = (commands.map(\.name.count).max() ?? 0) + 4
    for command in commands { text += row(command.name, command.summary, column: column) }
    return text + """

      sendgate COMMAND --help tells more; sendgate --version tells the version.

      exit codes: 0 done, 64 wrong usage, 65 wrong data, 66 no input, 69 something does not answer,
      70 a bug, 73 cannot create a file, 74 reading or writing failed, 75 input that cannot be read,
      78 wrong configuration, 80 fenced: another process has taken this one's place

      """
  }

  /// `sendgate COMMAND --help`.
  static func page(_ command: Command) -> String {
    var text = "sendgate \(command.name): \(command.summary)\n\n"
    text += wrap(words: usageWords(command), indent: 6, first: "usage:") + "\n"
    if !command.details.isEmpty { text += "\n\(command.details)\n" }
    let rows =
      command.operands.map { ($0.choices.joined(separator: "|"), $0.summary) }
      + command.flags.map { ($0.spelling, describe($0)) }
      + [("--help", "print this and exit"), ("--version", "print the version and exit")]
    let column = min(34, rows.map(\.0.count).max()! + 4)
    text += "\n"
    for (name, summary) in rows { text += row(name, summary, column: column) }
    return text
  }

  private static func usageWords(_ command: Command) -> [String] {
    let flags = command.flags.map { flag in
      let word = flag.isRepeatable ? "\(flag.spelling) ..." : flag.spelling
      return flag.isRequired ? word : "[\(word)]"
    }
    return ["sendgate \(command.name)"]
      + command.operands.map { $0.choices.joined(separator: "|") } + flags
  }

  private static func describe(_ flag: Flag) -> String {
    var text = flag.summary
    if flag.isRepeatable { text += " (may be repeated)" }
    if let variable = flag.environment { text += " (else from \(variable))" }
    return text
  }

  /// Two columns; a name too long for the first has a line of its own.
  private static func row(_ name: String, _ summary: String, column: Int) -> String {
    let words = summary.split(separator: " ").map(String.init)
    let margin = "  " + name
    if margin.count + 2 <= column + 2 {
      let padded = margin + String(repeating: " ", count: column + 1 - margin.count)
      return wrap(words: words, indent: column + 1, first: padded) + "\n"
    }
    let blank = String(repeating: " ", count: column + 1)
    return margin + "\n" + wrap(words: words, indent: column + 1, first: blank) + "\n"
  }

  private static func wrap(words: [String], indent: Int, first: String) -> String {
    var lines = [first]
    for word in words {
      if lines[lines.count - 1].count + 1 + word.count > width {
        lines.append(String(repeating: " ", count: indent))
      }
      lines[lines.count - 1] += " " + word
    }
    return lines.joined(separator: "\n")
  }
}
