import Gate
import Glibc
import Kafka
import Pipeline
import Producer
import Telemetry

/// `sendgate publish`: JSON lines to the topics that the gate reads, checked first.
enum PublishCommand {
  static let command = Command(
    name: "publish",
    summary: "write candidates or preference documents to their topic, line by line",
    details: """
      Reads one JSON object a line and writes each under its user_id, by the partitioner that the
      gate expects. A line that the gate could not read ends the command at once, with the line's
      number and the reason; so does a document with a time zone, category, time or region that does
      not exist, a window that cannot be read, or security switched off by anybody but an
      administrator. The lines before it are written. A candidate that is readable but will be
      dropped is written: that is the gate's to say.
      """,
    flags: RunFlags.configuration + [
      .text("file", "FILE", "what to read; standard input where not given"),
      .toggle("preferences", "the lines are preference documents"),
      .choice("source", ["candidate", "security"], "the candidate topic to write to (candidate)"),
    ],
    run: run)

  private enum Kind {
    case candidates(Lane)
    case documents

    var role: TopicRole {
      switch self {
      case .candidates(.ordinary): .candidate
      case .candidates(.security): .candidateSecurity
      case .documents: .preferences
      }
    }
  }

  /// For how long records may stay unacknowledged at the end.
  private static let finishTimeoutMs: Int32 = 120_000
  private static let linesBetweenEvents = 1000

  private static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> Int32 {
    let kind: Kind
    if arguments.has("preferences") {
      guard !arguments.has("source") else {
        throw .usage("--source is for candidates, and --preferences is given")
      }
      kind = .documents
    } else {
      kind = .candidates(arguments.text("source") == "security" ? .security : .ordinary)
    }
    let configuration = try arguments.loadConfiguration()
    let log = configuration.makeLogger()
    let topic = configuration.topics[kind.role]
    try requireTopic(topic, configuration, log)
    let publisher: CandidatePublisher
    do throws(ConfigurationError) {
      publisher = try CandidatePublisher(
        topic: topic, properties: configuration.kafkaProperties,
        onEvent: kafkaEvents(to: log, client: "publisher"))
    } catch {
      throw CommandFailure(error)
    }
    defer { publisher.close() }
    let lines = try publish(arguments.text("file"), kind, configuration, to: publisher)
    Process.print("published \(lines) records to \(topic)\n", to: STDOUT_FILENO)
    return ExitCode.ok
  }

  /// A topic that is not there would swallow records until they time out.
  private static func requireTopic(
    _ topic: String, _ configuration: GateConfiguration, _ log: Logger
  ) throws(CommandFailure) {
    try withAdmin(configuration, log) { (admin) throws(CommandFailure) in
      let patience = BrokerPatience(configuration, log)
      let found = try patience { () throws(KafkaError) in
        try admin.metadata(of: [topic], timeoutMs: BrokerPatience.requestTimeoutMs)
      }
      guard found[0].partitionCount != nil else {
        throw CommandFailure(
          ExitCode.unavailable, "there is no topic \(topic); sendgate topics create makes it")
      }
    }
  }

  /// Returns how many lines were written.
  private static func publish(
    _ file: String?, _ kind: Kind, _ configuration: GateConfiguration,
    to publisher: CandidatePublisher
  ) throws(CommandFailure) -> Int {
    let name = file ?? "standard input"
    var check = try LineCheck(kind, configuration)
    var lines =
      try file.map { (path) throws(CommandFailure) in try LineReader(path: path) }
      ?? LineReader(descriptor: STDIN_FILENO, name: name)
    var count = 0
    while let line = try lines.next() {
      switch check.check(line) {
      case .good(let userID):
        do throws(KafkaError) {
          try publisher.publish(key: userID, value: line)
        } catch {
          throw CommandFailure(
            ExitCode.unavailable, "line \(count + 1) of \(name) could not be written: \(error)")
        }
        count += 1
        if count % linesBetweenEvents == 0 { publisher.serveEvents() }
      case .refused(let reason):
        try finish(publisher)
        throw CommandFailure(
          ExitCode.badData,
          "line \(count + 1) of \(name) is refused: \(reason)\n\(count) lines before it are written"
        )
      }
    }
    try finish(publisher)
    return count
  }

  private static func finish(_ publisher: CandidatePublisher) throws(CommandFailure) {
    do throws(KafkaError) {
      try publisher.finish(timeoutMs: finishTimeoutMs)
    } catch {
      throw CommandFailure(ExitCode.unavailable, "not every record was written: \(error)")
    }
  }

  /// The check of the kind of line at hand.
  private struct LineCheck: ~Copyable {
    private var candidates: CandidateCheck?
    private var documents: DocumentCheck?

    init(_ kind: Kind, _ configuration: GateConfiguration) throws(CommandFailure) {
      switch kind {
      case .candidates(let lane):
        candidates = CandidateCheck(
          lane: lane, policy: try PolicyFile.read(configuration.policyFile))
      case .documents:
        let zones = ZonePublisher(epochs: Epochs())
        do throws(TimeZoneDatabaseError) {
          try TimeZoneDatabase().load(into: zones)
        } catch {
          throw CommandFailure(ExitCode.noInput, "\(error)")
        }
        documents = DocumentCheck(zones: zones)
      }
    }

    mutating func check(_ line: UnsafeRawBufferPointer) -> WriteVerdict {
      if candidates != nil { return candidates!.check(line) }
      return documents!.check(line)
    }
  }
}
