import Gate

/// From a command line to an exit code, with everything it touches given to it.
struct Dispatch {
  var commands: [Command]
  var environment: [String: String]
  var printOut: (String) -> Void
  var printError: (String) -> Void

  /// - Parameter words: the command line without the program's name.
  func run(_ words: [String]) -> Int32 {
    guard let name = words.first else {
      printError(Help.overview(commands))
      return ExitCode.usage
    }
    if Self.asksForHelp(name) {
      printOut(Help.overview(commands))
      return ExitCode.ok
    }
    if name == "--version" { return printVersion() }
    guard let command = commands.first(where: { $0.name == name }) else {
      let hint = CloseMatch.hint(for: name, among: commands.map(\.name))
      printError("sendgate: unknown command '\(name)'\(hint)\nsendgate --help lists them\n")
      return ExitCode.usage
    }
    // Before anything else, so that help is never refused for a flag that is missing beside it.
    let flagWords = words.dropFirst().prefix { $0 != "--" }
    if flagWords.contains(where: Self.asksForHelp) {
      printOut(Help.page(command))
      return ExitCode.ok
    }
    if flagWords.contains("--version") { return printVersion() }
    do {
      let arguments = try ParsedArguments(
        Array(words.dropFirst()), for: command, environment: environment)
      return try command.run(arguments)
    } catch {
      printError("sendgate \(command.name): \(Self.printable("\(error)"))\n")
      if error.exitCode == ExitCode.usage {
        printError("sendgate \(command.name) --help tells what it takes\n")
      }
      return error.exitCode
    }
  }

  private func printVersion() -> Int32 {
    printOut("sendgate \(GateVersion.text)\n")
    return ExitCode.ok
  }

  /// Messages name values that came from files and records; none of those may steer a terminal.
  private static func printable(_ text: String) -> String {
    var shown = ""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x0A: shown.unicodeScalars.append(scalar)
      case 0..<0x20, 0x7F...0x9F: shown += scalar.escaped(asASCII: true)
      default: shown.unicodeScalars.append(scalar)
      }
    }
    return shown
  }

  private static func asksForHelp(_ word: String) -> Bool { word == "--help" || word == "-h" }
}
