/// `sendgate serve`: the preference service.
enum ServeCommand {
  static let command = Command(
    name: "serve",
    summary: "keep preferences and serve them over HTTP, until told to stop",
    details: """
      Takes changes over HTTP (docs/preferences-api.md), keeps them with their audit in the database,
      and publishes what the gate and auditors read. SIGTERM or SIGINT ends it: requests that have
      begun are answered, what waits is written, exit code 0. A second one leaves at once; nothing
      that was answered is lost.
      """,
    flags: RunFlags.configuration,
    run: { (arguments) throws(CommandFailure) in
      Signals.block()
      let configuration = try ServeConfiguration(try arguments.loadSettings())
      return try ServeProcess(configuration).run()
    })
}
