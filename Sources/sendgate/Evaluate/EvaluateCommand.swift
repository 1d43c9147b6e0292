import Gate
import Glibc
import Pipeline
import Telemetry

/// `sendgate evaluate`: decisions without a broker, for reading and for tests.
enum EvaluateCommand {
  static let command = Command(
    name: "evaluate",
    summary: "decide candidates from standard input, without a broker",
    details: """
      Reads one candidate a line and writes one record a line to standard output, in order, devices
      in the order of the document. Keys and partitions are not checked: a line has neither. Nothing is
      remembered from line to line: no candidate is a duplicate.
      With --clock record each candidate is decided at its created_at; one without is decided at the
      present, as a record that arrives now would be.
      """,
    flags: [
      .text("policy", "FILE", "the policy; the built-in one where not given"),
      .text("preferences", "FILE", "preference documents, one a line", isRequired: true),
      .text("defaults", "FILE", "records of preferences.defaults, one a line"),
      .choice("source", ["candidate", "security"], "the topic the candidates arrive on"),
      .text("now", "INSTANT", "the instant of every decision, such as 2026-03-09T22:30:00Z"),
      .choice("clock", ["record"], "decide each candidate at its own created_at"),
    ],
    run: { (arguments) throws(CommandFailure) in
      let evaluation = try Evaluation(arguments)
      try evaluation.run()
      return ExitCode.ok
    })
}

private struct Evaluation {
  private let engine: Engine
  /// Nil: each record's own.
  private let nowMs: Int64?

  init(_ arguments: ParsedArguments) throws(CommandFailure) {
    guard (arguments.text("now") != nil) != arguments.has("clock") else {
      throw .usage("give either --now INSTANT or --clock record")
    }
    nowMs = try arguments.text("now").map { (text) throws(CommandFailure) in
      guard let ms = Instant.parse(text: text) else {
        throw .usage("--now wants an instant such as 2026-03-09T22:30:00Z, got '\(text)'")
      }
      return ms
    }
    let lane: Lane = arguments.text("source") == "security" ? .security : .ordinary
    let world = try World(policyFile: arguments.text("policy"))
    try world.readPreferences(arguments.requiredText("preferences"))
    if let defaults = arguments.text("defaults") { try world.readDefaults(defaults) }
    engine = world.engine(lane)
  }

  func run() throws(CommandFailure) {
    var lines = LineReader(descriptor: STDIN_FILENO, name: "standard input")
    var output = OutputBuffer(descriptor: STDOUT_FILENO)
    while let line = try lines.next() {
      let value = UnsafeRawBufferPointer(line)
      let at = nowMs ?? engine.createdAtMs(of: value) ?? SystemTime.wallClockMs()
      let record = InputRecord(
        partition: 0, offset: 0, timestampMs: at, key: nil, value: value, handle: nil)
      try withUnsafePointer(to: record) { (pointer) throws(CommandFailure) in
        for decided in engine.decide(UnsafeBufferPointer(start: pointer, count: 1), nowMs: at) {
          try output.line(decided.value)
        }
      }
    }
    try output.flush()
  }
}
