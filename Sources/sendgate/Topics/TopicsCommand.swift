import Glibc
import Kafka
import Telemetry

/// `sendgate topics create|check`: the topics as the gate needs them.
enum TopicsCommand {
  static let command = Command(
    name: "topics",
    summary: "create the topics that are missing, or check those that are there",
    details: """
      create makes what is missing, by the topics.create.* settings, and leaves the rest alone; both
      actions then name everything that is not as the gate needs it: topics that are not there,
      partition counts that do not go together, settings that differ. Exit code 78 where something
      is wrong.
      """,
    operands: [
      Operand(name: "ACTION", choices: ["create", "check"], summary: "what to do")
    ],
    flags: RunFlags.configuration,
    run: run)

  private static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> Int32 {
    let configuration = try arguments.loadConfiguration()
    let log = configuration.makeLogger()
    try check(configuration, log, creating: arguments.operands[0] == "create")
    Process.print(
      "all \(configuration.topicPlan.topics.count) topics are as they must be\n",
      to: STDOUT_FILENO)
    return ExitCode.ok
  }

  /// Throws where something is not as the gate needs it, with all of it named.
  /// - Parameter isCreating: makes what is missing first.
  static func check(
    _ configuration: GateConfiguration, _ log: Logger, creating isCreating: Bool = false
  ) throws(CommandFailure) {
    let findings = try withAdmin(configuration, log) { (admin) throws(CommandFailure) in
      let patience = BrokerPatience(configuration, log)
      if isCreating { try create(configuration.topicPlan, admin, patience) }
      return try patience { () throws(KafkaError) in
        try configuration.topicPlan.check(with: admin, timeoutMs: BrokerPatience.requestTimeoutMs)
      }
    }
    guard findings.isEmpty else {
      let lines = findings.map(\.description).joined(separator: "\n  ")
      throw CommandFailure(ExitCode.configuration, "not as the gate needs it:\n  \(lines)")
    }
  }

  private static func create(
    _ plan: TopicPlan, _ admin: KafkaAdmin, _ patience: BrokerPatience
  ) throws(CommandFailure) {
    let (created, failures) = try patience { () throws(KafkaError) in
      try plan.create(with: admin, timeoutMs: BrokerPatience.requestTimeoutMs)
    }
    for name in created { Process.print("created \(name)\n", to: STDOUT_FILENO) }
    guard failures.isEmpty else {
      let lines = failures.map(\.description).joined(separator: "\n  ")
      throw CommandFailure(ExitCode.cannotCreate, "could not create:\n  \(lines)")
    }
    // A broker answers before every other one knows of the topic.
    try patience { () throws(KafkaError) in
      try plan.waitForAll(with: admin, timeoutMs: BrokerPatience.requestTimeoutMs)
    }
  }
}

extension TopicPlan {
  /// Returns when every topic shows, or when the time is up: the check that follows names the rest.
  fileprivate func waitForAll(with admin: KafkaAdmin, timeoutMs: Int32) throws(KafkaError) {
    let deadlineNs = SystemTime.monotonicNs() + Int64(timeoutMs) * 1_000_000
    while SystemTime.monotonicNs() < deadlineNs {
      let found = try admin.metadata(of: topics.map(\.name), timeoutMs: timeoutMs)
      if found.allSatisfy({ $0.partitionCount != nil }) { return }
      usleep(50_000)
    }
  }
}
