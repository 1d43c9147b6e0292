import Testing

@testable import sendgate

private let sample = Command(
  name: "sample", summary: "tries the parser",
  operands: [Operand(name: "ACTION", choices: ["create", "check"], summary: "what to do")],
  flags: [
    .text("policy", "FILE", "the policy", environment: "SENDGATE_POLICY"),
    .text("out", "DIR", "where to", isRequired: true),
    .text("set", "KEY=VALUE", "overrides", isRepeatable: true),
    .integer("users", "N", 0...100, "how many"),
    .choice("source", ["candidate", "security"], "which topic"),
    .toggle("force", "does it anyway"),
  ],
  run: { _ in 0 })

private func parse(
  _ words: String..., environment: [String: String] = [:]
) throws(CommandFailure) -> ParsedArguments {
  try ParsedArguments(words, for: sample, environment: environment)
}

@Test func everyFormOfAFlagIsRead() throws {
  let parsed = try parse(
    "create", "--out=/tmp/x=y", "--users", "42", "--set", "a=b", "--force", "--set=c=",
    "--source", "security", "--policy", "-")
  #expect(parsed.operands == ["create"])
  #expect(parsed.requiredText("out") == "/tmp/x=y")
  #expect(parsed.integer("users") == 42)
  #expect(parsed.texts("set") == ["a=b", "c="])
  #expect(parsed.has("force"))
  #expect(parsed.text("source") == "security")
  #expect(parsed.text("policy") == "-")
}

@Test func whatIsNotGivenIsAbsent() throws {
  let parsed = try parse("check", "--out", "x")
  #expect(parsed.text("policy") == nil)
  #expect(parsed.integer("users") == nil)
  #expect(parsed.texts("set") == [])
  #expect(!parsed.has("force"))
}

@Test func theEnvironmentStandsInForAFlagAndLosesToIt() throws {
  let environment = ["SENDGATE_POLICY": "from-environment"]
  #expect(
    try parse("check", "--out", "x", environment: environment).text("policy")
      == "from-environment")
  #expect(
    try parse("check", "--out", "x", "--policy", "p", environment: environment).text("policy")
      == "p")
}

@Test(arguments: [
  (["create"], "--out DIR is required: where to"),
  (["create", "--out"], "--out wants a value DIR"),
  (["create", "--out", "--force"], "--out wants a value DIR, got --force"),
  (["create", "--out", "a", "--out", "b"], "--out is given twice"),
  (["create", "--out=a", "--force=yes"], "--force takes no value, got --force=yes"),
  (["create", "--out=a", "--usrs=4"], "unknown flag --usrs; did you mean --users?"),
  (["create", "--out=a", "--entirely-else"], "unknown flag --entirely-else"),
  (["create", "--out=a", "-o"], "unknown flag -o"),
  (["create", "--out=a", "--users=x"], "--users wants a whole number from 0 to 100, got 'x'"),
  (["create", "--out=a", "--users=101"], "--users wants a whole number from 0 to 100, got '101'"),
  (["create", "--out=a", "--users", "-1"], "--users wants a whole number from 0 to 100, got '-1'"),
  (["create", "--out=a", "--users="], "--users wants a whole number from 0 to 100, got ''"),
  (
    ["create", "--out=a", "--source=both"],
    "--source wants one of candidate, security, got 'both'"
  ),
  (["--out=a"], "ACTION is missing: one of create, check"),
  (["--out=a", "delete"], "ACTION is one of create, check, got 'delete'"),
  (["--out=a", "create", "more"], "'more' is not expected here"),
  (["--out=a", "create", "--", "--force"], "'--force' is not expected here"),
])
func mistakesAreNamed(_ words: [String], _ message: String) {
  let error = #expect(throws: CommandFailure.self) {
    try ParsedArguments(words, for: sample)
  }
  #expect(error?.description == message)
  #expect(error?.exitCode == 64)
}

@Test func distancesAreThoseOfAnExhaustiveSearch() {
  // Oracle: the definition, by recursion, over every pair of words of up to three letters of {a, b}.
  func distance(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Int {
    if a.isEmpty || b.isEmpty { return a.count + b.count }
    let replaced =
      distance(a.dropLast(), b.dropLast()) + (a.last == b.last ? 0 : 1)
    var best = min(replaced, distance(a.dropLast(), b) + 1, distance(a, b.dropLast()) + 1)
    if a.count > 1 && b.count > 1 && a.last == b.dropLast().last && a.dropLast().last == b.last {
      best = min(best, distance(a.dropLast(2), b.dropLast(2)) + 1)
    }
    return best
  }
  var words: [[UInt8]] = [[]]
  for _ in 0..<3 { words += words.flatMap { [$0 + [97], $0 + [98]] } }
  for a in Set(words) {
    for b in Set(words) { #expect(CloseMatch.distance(a, b) == distance(a[...], b[...])) }
  }
}

@Test func exitCodesAndStreamsOfTheDispatcher() {
  let failing = Command(
    name: "failing", summary: "fails",
    run: { _ throws(CommandFailure) in throw CommandFailure(ExitCode.noInput, "no such file") })
  let commands = [sample, failing]
  let none = dispatch([], commands: commands)
  #expect(none.code == 64 && none.out.isEmpty && none.error.contains("usage: sendgate COMMAND"))
  let help = dispatch(["--help"], commands: commands)
  #expect(help.code == 0 && help.error.isEmpty && help.out.contains("failing"))
  let unknown = dispatch(["sampel"], commands: commands)
  #expect(unknown.code == 64)
  #expect(unknown.error.hasPrefix("sendgate: unknown command 'sampel'; did you mean sample?\n"))
  let failed = dispatch(["failing"], commands: commands)
  #expect(failed.code == 66 && failed.error == "sendgate failing: no such file\n")
  let hostile = dispatch(
    ["sample", "create", "--out=x", "--source=\u{1B}[2J\u{9B}1m\rü"], commands: commands)
  #expect(hostile.error.contains("got '\\u{1B}[2J\\u{009B}1m\\rü'"))
  let wrong = dispatch(["sample", "--no"], commands: commands)
  #expect(wrong.code == 64)
  #expect(wrong.error.hasSuffix("sendgate sample --help tells what it takes\n"))
  #expect(dispatch(["sample", "create", "--out", "x"], commands: commands).code == 0)
}

@Test func helpAndVersionAreEverywhere() {
  for command in CommandTable.all {
    for words in [[command.name, "--help"], [command.name, "--nonsense", "-h"]] {
      let help = dispatch(words)
      #expect(help.code == 0)
      #expect(help.out.hasPrefix("sendgate \(command.name): "))
    }
    let version = dispatch([command.name, "--version"])
    #expect(version.code == 0)
    #expect(version.out == dispatch(["--version"]).out)
  }
  #expect(dispatch(["--version"]).out == "sendgate 0.1.0\n")
}

/// Every page is compared with its snapshot, so that a change of help is seen in review. A page whose
/// snapshot is missing fails too: write it with `sendgate COMMAND --help`.
@Test func helpPagesMatchTheirSnapshots() throws {
  let folder = "\(repositoryRoot)/Tests/CommandTests/Snapshots"
  #expect(try readText("\(folder)/overview.txt") == dispatch(["--help"]).out)
  for command in CommandTable.all {
    let page = dispatch([command.name, "--help"]).out
    #expect(try readText("\(folder)/\(command.name).txt") == page, "\(command.name)")
    for line in page.split(separator: "\n") { #expect(line.count <= 100, "\(line)") }
  }
}

@Test func aRequiredFlagIsShownWithoutBracketsAndLongOnesWrap() {
  #expect(
    Help.page(sample) == """
      sendgate sample: tries the parser

      usage: sendgate sample create|check [--policy FILE] --out DIR [--set KEY=VALUE ...] [--users N]
             [--source candidate|security] [--force]

        create|check                   what to do
        --policy FILE                  the policy (else from SENDGATE_POLICY)
        --out DIR                      where to
        --set KEY=VALUE                overrides (may be repeated)
        --users N                      how many
        --source candidate|security    which topic
        --force                        does it anyway
        --help                         print this and exit
        --version                      print the version and exit

      """)
}
