/// `sendgate run`: the gate.
enum RunCommand {
  static let command = Command(
    name: "run",
    summary: "decide what arrives on the candidate topics, until told to stop",
    details: """
      SIGTERM or SIGINT drains: the open transaction is finished, the group is left, exit code 0. A
      second one leaves at once; the coordinator then aborts what was open. With --until-idle the gate
      drains by itself after that many seconds without input, and prints a summary as one JSON line;
      where some input cannot be read it ends with 75 and says what stands in the way.
      """,
    flags: RunFlags.configuration + [
      .integer("until-idle", "SECONDS", 1...86_400, "end after so long without input")
    ],
    run: { (arguments) throws(CommandFailure) in
      Signals.block()
      let configuration = try arguments.loadConfiguration()
      let process = try GateProcess(
        configuration, untilIdleMs: arguments.integer("until-idle").map { Int64($0) * 1_000 })
      return process.run()
    })
}
