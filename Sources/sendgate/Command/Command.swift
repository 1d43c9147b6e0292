/// One subcommand, as a row of a table: help, parsing and checks all come from it.
struct Command: Sendable {
  var name: String
  /// One line, for the list of commands.
  var summary: String
  /// Further paragraphs for the command's own help.
  var details: String = ""
  var operands: [Operand] = []
  var flags: [Flag] = []
  /// Returns the exit code; what it throws is printed and ends the process with its own.
  var run: @Sendable (ParsedArguments) throws(CommandFailure) -> Int32
}

/// A word without a dash: `create` in `topics create`.
struct Operand: Sendable {
  var name: String
  /// The words that are accepted.
  var choices: [String]
  var summary: String
}

struct Flag: Sendable {
  enum Value: Sendable {
    /// Given or not.
    case none
    case text
    case integer(ClosedRange<Int>)
    case choice([String])
  }

  var name: String
  /// What stands for the value in the help: `FILE`. Empty where there is no value.
  var placeholder = ""
  var value: Value = .none
  var summary: String
  var isRequired = false
  var isRepeatable = false
  /// The environment variable that stands in where the flag is not given.
  var environment: String?

  static func toggle(_ name: String, _ summary: String) -> Flag {
    Flag(name: name, summary: summary)
  }

  static func text(
    _ name: String, _ placeholder: String, _ summary: String, isRequired: Bool = false,
    isRepeatable: Bool = false, environment: String? = nil
  ) -> Flag {
    Flag(
      name: name, placeholder: placeholder, value: .text, summary: summary,
      isRequired: isRequired, isRepeatable: isRepeatable, environment: environment)
  }

  static func integer(
    _ name: String, _ placeholder: String, _ range: ClosedRange<Int>, _ summary: String,
    isRequired: Bool = false
  ) -> Flag {
    Flag(
      name: name, placeholder: placeholder, value: .integer(range), summary: summary,
      isRequired: isRequired)
  }

  static func choice(_ name: String, _ choices: [String], _ summary: String) -> Flag {
    Flag(
      name: name, placeholder: choices.joined(separator: "|"), value: .choice(choices),
      summary: summary)
  }

  /// `--policy FILE`, as the help writes it.
  var spelling: String { placeholder.isEmpty ? "--\(name)" : "--\(name) \(placeholder)" }
}
