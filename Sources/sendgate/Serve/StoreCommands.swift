import Evidence
import Gate
import Glibc
import Preferences
import Telemetry
import Web

/// What the commands that look into the store share.
enum StoreCommands {
  static func id(_ text: String, _ flag: String) throws(CommandFailure) -> Identifier {
    guard RecordText.isID(text) else {
      throw .usage("--\(flag) wants an id of 1 to 128 bytes without control characters")
    }
    return Identifier(text)
  }

  /// Prints what `body` finds; 66 where nothing is kept of it.
  static func read(
    _ arguments: ParsedArguments, _ body: (PreferenceService) throws(StoreError) -> String?
  ) throws(CommandFailure) -> Int32 {
    let found = try with(arguments, isReading: true, body)
    guard let found else {
      throw CommandFailure(ExitCode.noInput, "nothing is kept of such a user, or of such a device")
    }
    Process.print(found + "\n", to: STDOUT_FILENO)
    return ExitCode.ok
  }

  /// The same of what support sees, which is the store and the index of evidence together.
  static func explain(
    _ arguments: ParsedArguments, _ body: (SupportDesk) throws(StoreError) -> String?
  ) throws(CommandFailure) -> Int32 {
    let (store, evidence) = try configuration(arguments)
    let opened = try OpenStore(store, isReading: true)
    defer { opened.service.close() }
    let found: String?
    var behind: [String] = []
    do throws(StoreError) {
      let reader = try evidence.map { (database) throws(StoreError) in
        try EvidenceReader(reading: database)
      }
      defer { reader?.close() }
      let desk = opened.desk(evidence: reader)
      found = try body(desk)
      if found == nil { behind = try ExplainText(desk: desk, language: "en").behind() }
    } catch {
      throw CommandFailure(OpenStore.exitCode(error), "\(error)")
    }
    guard let found else {
      let told = ["nothing is on record of such a user or notification"] + behind
      throw CommandFailure(ExitCode.noInput, told.joined(separator: ". "))
    }
    Process.print(found + "\n", to: STDOUT_FILENO)
    return ExitCode.ok
  }

  /// Applies one event and prints what became of it; 65 where it is refused.
  static func apply(
    _ arguments: ParsedArguments, _ user: Identifier, source: ChoiceSource?, _ body: EventBody
  ) throws(CommandFailure) -> Int32 {
    let event = PreferenceEvent(
      eventID: Identifier(NewEventID.make("command")), userID: user,
      atMs: SystemTime.wallClockMs(), isOfNow: true, source: source, body: body)
    let answer = try with(arguments, isReading: false) { (service) throws(StoreError) in
      try service.apply(event)
    }
    if let refusal = answer.refusal {
      throw CommandFailure(ExitCode.badData, "\(refusal.code): \(refusal.words)")
    }
    let line = JSONLine.make { line in
      line.add("event_id", event.eventID.text)
      line.add("outcome", answer.outcome.rawValue)
      line.add("version", number: Int(answer.version))
    }
    Process.print(line + "\n", to: STDOUT_FILENO)
    return ExitCode.ok
  }

  static func with<R>(
    _ arguments: ParsedArguments, isReading: Bool,
    _ body: (PreferenceService) throws(StoreError) -> R
  ) throws(CommandFailure) -> R {
    let opened = try OpenStore(try configuration(arguments).store, isReading: isReading)
    defer { opened.service.close() }
    do throws(StoreError) {
      return try body(opened.service)
    } catch {
      throw CommandFailure(OpenStore.exitCode(error), "\(error)")
    }
  }

  private static func configuration(
    _ arguments: ParsedArguments
  ) throws(CommandFailure) -> (store: StoreConfiguration, evidence: EvidenceDatabase?) {
    let settings = try arguments.loadSettings()
    // Kafka is not asked for here, but a misspelt key is a mistake for every command.
    var problems = settings.problems().filter {
      !$0.hasPrefix("\(KafkaKeys.bootstrapServers) is missing")
    }
    if problems.isEmpty, let store = StoreConfiguration(settings, problems: &problems) {
      let evidence = EvidenceConfiguration(settings, problems: &problems)
      if problems.isEmpty { return (store, evidence.database) }
    }
    throw CommandFailure(
      ExitCode.configuration,
      "the configuration is wrong:\n  " + problems.joined(separator: "\n  "))
  }
}
