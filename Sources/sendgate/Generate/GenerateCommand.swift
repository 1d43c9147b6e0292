import Gate
import Glibc
import Telemetry

/// `sendgate generate`: a workload to try the gate with.
enum GenerateCommand {
  static let command = Command(
    name: "generate",
    summary: "write a workload: users with their choices, and candidates for them",
    details: """
      Writes JSON lines to DIR: preferences.jsonl (one document a user), candidates.jsonl and
      security.jsonl (the two candidate topics), and with --hostile hostile.jsonl (lines that no
      producer should send). Users live where people do, by the table of places. Equal flags give
      equal bytes on any machine. Candidates expire: to run a workload, start it now, as with
      --start "$(date -u +%FT%TZ)".
      """,
    flags: [
      .integer("users", "N", 0...1_000_000_000, "how many users", isRequired: true),
      .integer(
        "candidates", "M", 0...1_000_000_000, "how many candidates, both files together",
        isRequired: true),
      .text("out", "DIR", "the folder to write to; made if it is not there", isRequired: true),
      .integer("seed", "S", 0...Int.max, "what all chance comes from (1)"),
      .text("places", "FILE", "region, timezone, population by tabs (the one that comes along)"),
      .text("start", "INSTANT", "when the first candidate was created (2026-03-09T00:00:00Z)"),
      .integer("span", "SECONDS", 1...31_536_000, "how long candidates are spread over (86400)"),
      .integer("hostile", "N", 0...10_000_000, "how many hostile lines (0)"),
    ],
    run: run)

  /// Choices were made up to three years before the start, candidates expire up to a year and some days
  /// after it: all of them within the years that records may name.
  private static let startRange: ClosedRange<Int64> = 1_072_915_200_000...7_226_582_399_999

  private static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> Int32 {
    let startText = arguments.text("start") ?? "2026-03-09T00:00:00Z"
    guard let startMs = Instant.parse(text: startText), startRange.contains(startMs) else {
      throw .usage(
        "--start wants an instant of the years 2004 to 2198, as 2026-03-09T22:30:00Z, got"
          + " '\(startText)'")
    }
    let path: String
    if let given = arguments.text("places") {
      path = given
    } else {
      path = try Places.shippedPath()
    }
    let workload = Workload(
      users: arguments.integer("users")!, candidates: arguments.integer("candidates")!,
      seed: UInt64(arguments.integer("seed") ?? 1), startMs: startMs,
      spanSeconds: arguments.integer("span") ?? 86_400,
      hostile: arguments.integer("hostile") ?? 0,
      places: try Places(table: FileIO.read(path, bytesMax: Places.bytesMax), name: path))
    let startedNs = SystemTime.monotonicNs()
    let written = try write(workload, to: arguments.requiredText("out"))
    let seconds = Double(SystemTime.monotonicNs() - startedNs) / 1e9
    for file in written {
      Process.print("\(file.path): \(file.lines) lines, \(file.bytes) bytes\n", to: STDOUT_FILENO)
    }
    let tenths = Int(seconds * 10)
    Process.print("written in \(tenths / 10).\(tenths % 10) s\n", to: STDERR_FILENO)
    return ExitCode.ok
  }

  /// Writes every file of a workload, and returns the writers for their counts.
  @discardableResult
  static func write(
    _ workload: Workload, to folder: String
  ) throws(CommandFailure) -> [LineWriter] {
    if mkdir(folder, 0o755) != 0 && errno != EEXIST {
      throw CommandFailure(
        ExitCode.cannotCreate, "cannot make the folder \(folder): \(Process.reason(errno))")
    }
    let preferences = try LineWriter(path: "\(folder)/preferences.jsonl")
    PreferenceWriter(workload: workload, out: preferences).writeAll()
    try preferences.finish()
    let candidates = try LineWriter(path: "\(folder)/candidates.jsonl")
    let security = try LineWriter(path: "\(folder)/security.jsonl")
    CandidateWriter(workload: workload, ordinary: candidates, security: security).writeAll()
    try candidates.finish()
    try security.finish()
    guard workload.hostile > 0 else { return [preferences, candidates, security] }
    let hostile = try LineWriter(path: "\(folder)/hostile.jsonl")
    HostileWriter(workload: workload, out: hostile).writeAll()
    try hostile.finish()
    return [preferences, candidates, security, hostile]
  }
}
