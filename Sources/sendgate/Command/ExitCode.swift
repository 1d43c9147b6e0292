/// How the command ends: the codes of sysexits.h, and some of its own.
enum ExitCode {
  static let ok: Int32 = 0
  /// The command line is wrong.
  static let usage: Int32 = 64
  /// The input can be read but is wrong.
  static let badData: Int32 = 65
  /// An input file is not there or cannot be read.
  static let noInput: Int32 = 66
  /// Something outside that is needed does not answer.
  static let unavailable: Int32 = 69
  /// A bug in this program.
  static let software: Int32 = 70
  /// An output file cannot be made.
  static let cannotCreate: Int32 = 73
  /// Reading or writing failed on the way.
  static let ioError: Int32 = 74
  /// A run that was to end by itself could not read all its input.
  static let inputUnread: Int32 = 75
  /// The configuration is wrong.
  static let configuration: Int32 = 78
  /// Another process has taken this one's place. Its own code, so that a supervisor waits before it
  /// starts this one again, instead of fencing the other in turn.
  static let fenced: Int32 = 80
  /// The self-test ran, and something does not agree.
  static let disagreement: Int32 = 81
  /// The self-test could not be run, so that nothing is known.
  static let notRun: Int32 = 82
}

/// Why a command cannot go on: what to say, and how to end.
struct CommandFailure: Error, Equatable, CustomStringConvertible {
  var exitCode: Int32
  /// A sentence or two: what, where, and what to do. Lines may follow.
  var description: String

  init(_ exitCode: Int32, _ description: String) {
    self.exitCode = exitCode
    self.description = description
  }

  static func usage(_ description: String) -> CommandFailure {
    CommandFailure(ExitCode.usage, description)
  }
}
