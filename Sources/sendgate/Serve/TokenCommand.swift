import Glibc
import Preferences
import Web

/// `sendgate token new`: a token for the preference service.
enum TokenCommand {
  static let command = Command(
    name: "token",
    summary: "make a bearer token for the preference service",
    details: """
      Prints a new token, which nobody can print again: what is kept is its hash. With --file the line
      of the token goes to the end of that tokens file, made if it is not there; without, the line is
      printed for you to add. A running sendgate serve reads the file again by itself.
      """,
    operands: [Operand(name: "action", choices: ["new"], summary: "make one")],
    flags: [
      Flag(
        name: "role", placeholder: Role.allCases.map(\.rawValue).joined(separator: "|"),
        value: .choice(Role.allCases.map(\.rawValue)),
        summary: "what its bearer may do (docs/preferences-api.md)", isRequired: true),
      .text("name", "NAME", "what people call it, to take it away one day", isRequired: true),
      .text("file", "FILE", "append its line to this tokens file"),
    ],
    run: run)

  private static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> Int32 {
    let name = arguments.requiredText("name")
    guard TokenTable.isID(name) else {
      throw .usage("--name wants 1 to 64 letters, digits, '.', '_' or '-', got '\(name)'")
    }
    let token = AccessToken.make()
    let line = TokenTable.line(
      id: name, role: Role(rawValue: arguments.requiredText("role"))!, token: token)
    if let path = arguments.text("file") {
      try TokensFile.append(line, named: name, to: path)
      Process.print("\(token)\n", to: STDOUT_FILENO)
    } else {
      Process.print("token: \(token)\nline for the tokens file: \(line)\n", to: STDOUT_FILENO)
    }
    return ExitCode.ok
  }
}
