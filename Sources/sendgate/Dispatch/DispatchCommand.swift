import Gate
import Glibc
import Kafka
import Pipeline
import Telemetry

/// `sendgate dispatch --stub`: a dispatcher without a provider behind it.
enum DispatchCommand {
  static let command = Command(
    name: "dispatch",
    summary: "answer approvals with receipts as a dispatcher would; for demos and tests",
    details: """
      Reads the approved topic as docs/dispatcher.md asks of a dispatcher and answers each (notification,
      device) once on the receipts topic. No push leaves: the answers are made up, by the seed and
      the shares, the same for the same send each time. With --calls every call to the provider is a
      line of JSON in the provider's own names; after a crash a call may stand there twice, under one
      id, its receipt once. SIGTERM or SIGINT ends it; with --until-idle it ends by itself after that
      many seconds without an approval, and prints a summary as one JSON line.
      """,
    flags: RunFlags.configuration + [
      Flag(name: "stub", summary: "no provider, only made-up answers", isRequired: true),
      .integer(
        "accepted", "PERCENT", 0...100,
        "share that the provider accepts (97; the rest, where another share is given)"),
      .integer(
        "unregistered", "PERCENT", 0...100,
        "share whose token is not registered any more (2; 0, where another share is given)"),
      .integer(
        "rejected", "PERCENT", 0...100,
        "share refused for another reason (1; 0, where another share is given)"),
      .integer(
        "observed", "PERCENT", 0...100,
        "share of the accepted ones that the user is said to have seen (20)"),
      .integer("seed", "N", 0...Int.max, "seed of all answers (1)"),
      .text("calls", "FILE", "append each call to the provider; - for standard output"),
      .integer("until-idle", "SECONDS", 1...86_400, "end after so long without an approval"),
    ],
    run: run)

  /// So many sessions in a row without one commit: what is wrong does not pass by itself.
  private static let fruitlessMax = 5

  private static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> Int32 {
    Signals.block()
    let provider = StubProvider(
      seed: UInt64(arguments.integer("seed") ?? 1),
      shares: try StubProvider.Shares(
        accepted: arguments.integer("accepted"), unregistered: arguments.integer("unregistered"),
        rejected: arguments.integer("rejected")),
      observed: arguments.integer("observed") ?? 20)
    let configuration = try arguments.loadConfiguration()
    let log = configuration.makeLogger()
    defer { log.flush() }
    let untilIdle = arguments.integer("until-idle")
    let control = DispatchControl(untilIdleMs: untilIdle.map { Int64($0) * 1_000 }, log: log)
    let calls = try CallLog(path: arguments.text("calls"))
    let settings: DispatchSettings
    do throws(ConfigurationError) {
      settings = try DispatchSettings(configuration, provider)
    } catch {
      throw CommandFailure(error)
    }
    try checkTopics(settings, configuration, log)
    let counts = try dispatch(settings, control, calls, log)
    if untilIdle != nil { Process.print(summary(counts) + "\n", to: STDOUT_FILENO) }
    return ExitCode.ok
  }

  /// Sessions, one after the other, until one ends well.
  private static func dispatch(
    _ settings: DispatchSettings, _ control: DispatchControl, _ calls: CallLog, _ log: Logger
  ) throws(CommandFailure) -> StubDispatcher.Counts {
    var counts = StubDispatcher.Counts()
    var fruitless = 0
    while true {
      let session = try open(settings, control, calls, log)
      let failure: Failure
      do throws(Failure) {
        try session.run()
        session.close()
        counts.add(session.counts)
        return counts
      } catch {
        failure = error
      }
      let wasOpen = session.isOpen
      let isOverdue = session.isOverdue
      session.close()
      counts.add(session.counts)
      if let end = calls.failure ?? end(after: failure, isOverdue: isOverdue) { throw end }
      if control.isStopping {
        if !wasOpen { return counts }
        throw CommandFailure(
          ExitCode.unavailable, "the last transaction was not committed: \(failure.message)")
      }
      fruitless = session.counts.approvals > 0 ? 0 : fruitless + 1
      if fruitless >= fruitlessMax { throw CommandFailure(ExitCode.unavailable, failure.message) }
      log.warning("Starting over.", ["reason": .string(failure.message)])
      SystemClock().sleep(ms: 100 << Int64(fruitless))
    }
  }

  private static func open(
    _ settings: DispatchSettings, _ control: DispatchControl, _ calls: CallLog, _ log: Logger
  ) throws(CommandFailure) -> DispatchSession {
    do throws(ConfigurationError) {
      return try DispatchSession(settings, control, calls, log)
    } catch {
      throw CommandFailure(error)
    }
  }

  /// Nil where a new session may help.
  private static func end(after failure: Failure, isOverdue: Bool) -> CommandFailure? {
    switch failure.kind {
    case .fenced: isOverdue ? nil : CommandFailure(ExitCode.fenced, failure.message)
    case .offsetOutOfRange: CommandFailure(ExitCode.badData, failure.message)
    case .fatal: CommandFailure(ExitCode.unavailable, failure.message)
    case .retriable, .abort, .lostTransaction: nil
    }
  }

  /// A receipt goes to its approval's partition, and is looked for there after a restart.
  private static func checkTopics(
    _ settings: DispatchSettings, _ configuration: GateConfiguration, _ log: Logger
  ) throws(CommandFailure) {
    let topics = [settings.approvals, settings.receipts]
    try withAdmin(configuration, log) { (admin) throws(CommandFailure) in
      let patience = BrokerPatience(configuration, log)
      let found = try patience { () throws(KafkaError) in
        try admin.metadata(of: topics, timeoutMs: BrokerPatience.requestTimeoutMs)
      }
      for topic in found where topic.partitionCount == nil {
        throw CommandFailure(
          ExitCode.unavailable, "there is no topic \(topic.name); sendgate topics create makes it")
      }
      guard found[0].partitionCount == found[1].partitionCount else {
        throw CommandFailure(
          ExitCode.configuration,
          "\(topics[0]) has \(found[0].partitionCount!) partitions, \(topics[1]) has "
            + "\(found[1].partitionCount!); they must have the same number")
      }
    }
  }

  static func summary(_ counts: StubDispatcher.Counts) -> String {
    JSONLine.make { line in
      for (name, value) in StubDispatcher.Counts.all {
        line.add(name, number: counts[keyPath: value])
      }
    }
  }
}
