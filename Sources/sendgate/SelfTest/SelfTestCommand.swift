import Glibc
import Telemetry

/// `sendgate selftest`: one run against a running system.
enum SelfTestCommand {
  static let command = Command(
    name: "selftest",
    summary: "drive made-up users through the running system and compare what every part says",
    details: """
      Puts three users that nobody is into three states through the preference service (token active,
      token expired, system permission denied), sends a notification to each through the gate, and
      holds against each other: what the service keeps and shows, what is on its topic, what the gate
      decided and by which versions, and what the index has of it (docs/selftest.md). The run is kept
      as evidence. Exit code 0 where everything agrees, 81 where something does not, each named with
      where to look; 82 where it could not be run.
      """,
    flags: RunFlags.configuration + [
      .text(
        "token-file", "FILE", "holds a token of role selftest; open to its owner alone",
        isRequired: true),
      .text("url", "URL", "the preference service (made of serve.address)"),
      .text("ca-file", "FILE", "authorities to trust for https, in PEM (the system's)"),
      .integer("step-timeout-seconds", "N", 1...600, "how long each step may take (15)"),
      .toggle("json", "print the report as one JSON object"),
    ],
    run: run)

  private static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> Int32 {
    let settings = try SelfTestSettings(arguments)
    let log = settings.gate.makeLogger()
    defer { log.flush() }
    let isJSON = arguments.has("json")
    let session = try SelfTestSession(settings, log)
    defer { session.close() }
    var report: SelfTestReport
    do throws(CommandFailure) {
      report = try session.run()
    } catch {
      if isJSON {
        let line = JSONLine.make { line in
          line.addNull("passed")
          line.add("not_run", error.description)
        }
        Process.print(line + "\n", to: STDOUT_FILENO)
      }
      throw error
    }
    if let unkept = session.keep(report) { report.others.append(unkept) }
    Process.print(isJSON ? report.json + "\n" : report.text, to: STDOUT_FILENO)
    return report.passed ? ExitCode.ok : ExitCode.disagreement
  }
}
