import Gate
import Glibc
import Kafka
import Pipeline

/// `sendgate check`: what `run` and `serve` would refuse to start with, told without starting.
enum CheckCommand {
  static let command = Command(
    name: "check",
    summary: "hold configuration, policy and tz database against what run and serve need",
    details: """
      Reads what run would read and ends with the code that run would end with: 78 where the
      configuration or the policy is wrong, 66 where a file or the tz database cannot be read. Where
      any serve. setting differs from its default, what serve would read is checked too: its
      settings, tokens, certificate and the database's place; --for looks at one of the two alone.
      No broker is waited for, no group joined, nothing decided, no store opened. With --bootstrap
      the topics of those brokers are checked too, as topics check does.
      """,
    flags: RunFlags.configuration + [
      .text("bootstrap", "HOST:PORT", "check the topics of these brokers too"),
      .choice("for", ["run", "serve"], "only what this command needs"),
    ],
    run: run)

  private static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> Int32 {
    let brokers = arguments.text("bootstrap")
    let settings = try Settings.load(
      file: arguments.text("config"),
      overrides: arguments.texts("set")
        + (brokers.map { ["\(KafkaKeys.bootstrapServers)=\($0)"] } ?? []),
      environment: Process.environment())
    let configuration = try GateConfiguration(settings)
    let only = arguments.text("for")
    var service: ServeConfiguration?
    if only == "serve" || (only == nil && settings.wantsService) {
      service = try ServeConfiguration(settings)
    }
    if only != "serve" {
      try KafkaClients.check(configuration)
      if let file = configuration.hashKeyFile { try checkHashKey(file) }
    }
    if service != nil { try KafkaClients.checkService(configuration) }
    let links = try configuration.links()
    say("configuration: every key, and every kafka. property, is good")

    if let links {
      say(
        "links: \(links.baseURL)/u/…, \(links.keys.count) keys, key \(links.keys.signingID) signs")
    }
    if let service {
      for line in try ServeFiles.check(service) { say(line) }
    }

    let policy = try PolicyFile.read(configuration.policyFile)
    let zones = ZonePublisher(epochs: Epochs())
    do throws(TimeZoneDatabaseError) {
      try TimeZoneDatabase().load(into: zones)
    } catch {
      throw CommandFailure(ExitCode.noInput, "\(error)")
    }
    try PolicyFile.check(policy, zones)
    say("policy: version \(policy.version), \(configuration.policyFile ?? "built in")")
    let version = String(decoding: zones.current.version, as: UTF8.self)
    say("time zones: tz database \(version), \(zones.current.knownCount) names")

    guard brokers != nil else { return ExitCode.ok }
    try TopicsCommand.check(configuration, configuration.makeLogger())
    say("topics: all \(configuration.topicPlan.topics.count) are as they must be")
    return ExitCode.ok
  }

  /// One that is not there yet is made by `run`, not here.
  private static func checkHashKey(_ file: String) throws(CommandFailure) {
    guard access(file, F_OK) == 0 else { return }
    _ = try HashKeyFile.load(file)
  }

  private static func say(_ line: String) { Process.print(line + "\n", to: STDOUT_FILENO) }
}
