/// A command line that has passed every check its command's table asks for.
struct ParsedArguments: Sendable {
  let command: Command
  fileprivate(set) var operands: [String] = []
  fileprivate var given: [String: [String]] = [:]

  /// The value of a flag, nil where it was not given. Asking for a flag that the command does not
  /// have is a bug and traps, here and below.
  func text(_ name: String) -> String? {
    declared(name)
    return given[name]?.last
  }

  /// The value of a flag that its table says is required.
  func requiredText(_ name: String) -> String {
    precondition(declared(name).isRequired, "--\(name) is not a required flag")
    return given[name]!.last!
  }

  func texts(_ name: String) -> [String] {
    declared(name)
    return given[name] ?? []
  }

  func has(_ name: String) -> Bool {
    declared(name)
    return given[name] != nil
  }

  func integer(_ name: String) -> Int? {
    // The parser has read it once already, so it is one.
    text(name).map { Int($0)! }
  }

  @discardableResult
  private func declared(_ name: String) -> Flag {
    guard let flag = command.flags.first(where: { $0.name == name }) else {
      preconditionFailure("\(command.name) has no flag --\(name)")
    }
    return flag
  }
}

extension ParsedArguments {
  /// Reads the words after the command's name.
  init(
    _ words: [String], for command: Command, environment: [String: String] = [:]
  ) throws(CommandFailure) {
    self.command = command
    var rest = words[...]
    var flagsEnded = false
    while let word = rest.popFirst() {
      if word == "--" && !flagsEnded {
        flagsEnded = true
      } else if word.hasPrefix("-") && word != "-" && !flagsEnded {
        try take(flagWord: word, &rest)
      } else {
        operands.append(word)
      }
    }
    for flag in command.flags where given[flag.name] == nil {
      if let variable = flag.environment, let value = environment[variable] {
        try check(value, of: flag, spelled: variable)
        given[flag.name] = [value]
      } else if flag.isRequired {
        throw .usage("\(flag.spelling) is required: \(flag.summary)")
      }
    }
    try checkOperands()
  }

  private mutating func take(
    flagWord word: String, _ rest: inout ArraySlice<String>
  ) throws(CommandFailure) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let spelled = String(parts[0])
    guard spelled.hasPrefix("--"),
      let flag = command.flags.first(where: { "--\($0.name)" == spelled })
    else {
      let names = command.flags.map { "--\($0.name)" } + ["--help", "--version"]
      throw .usage("unknown flag \(spelled)\(CloseMatch.hint(for: spelled, among: names))")
    }
    let hasInline = parts.count == 2
    if case .none = flag.value {
      guard !hasInline else { throw .usage("\(spelled) takes no value, got \(word)") }
      given[flag.name] = [""]
      return
    }
    let value: String
    if hasInline {
      value = String(parts[1])
    } else if let next = rest.first, !next.hasPrefix("--") {
      value = next
      rest.removeFirst()
    } else {
      let got = rest.first.map { ", got \($0)" } ?? ""
      throw .usage("\(spelled) wants a value \(flag.placeholder)\(got)")
    }
    guard flag.isRepeatable || given[flag.name] == nil else {
      throw .usage("\(spelled) is given twice")
    }
    try check(value, of: flag, spelled: spelled)
    given[flag.name, default: []].append(value)
  }

  private func check(
    _ value: String, of flag: Flag, spelled: String
  ) throws(CommandFailure) {
    switch flag.value {
    case .none, .text: return
    case .integer(let range):
      guard let number = Int(value), range.contains(number) else {
        throw .usage(
          "\(spelled) wants a whole number from \(range.lowerBound) to \(range.upperBound),"
            + " got '\(value)'")
      }
    case .choice(let choices):
      guard choices.contains(value) else {
        throw .usage(
          "\(spelled) wants one of \(choices.joined(separator: ", ")), got '\(value)'")
      }
    }
  }

  private func checkOperands() throws(CommandFailure) {
    for (i, operand) in command.operands.enumerated() {
      guard i < operands.count else {
        throw .usage("\(operand.name) is missing: one of \(list(operand.choices))")
      }
      guard operand.choices.contains(operands[i]) else {
        throw .usage("\(operand.name) is one of \(list(operand.choices)), got '\(operands[i])'")
      }
    }
    if operands.count > command.operands.count {
      throw .usage("'\(operands[command.operands.count])' is not expected here")
    }
  }

  private func list(_ words: [String]) -> String { words.joined(separator: ", ") }
}
