/// How every topic is to be made: counts, cleanup, and the settings that the gate depends on.
public struct TopicPlan: Sendable {
  public struct Topic: Sendable {
    public var role: TopicRole
    public var name: String
    public var partitionCount: Int32
    public var settings: [(key: String, value: String)]
    /// Of these a larger value is as good; they are set where the topic is made.
    public var settingsMin: [(key: String, value: Int)] = []
  }

  /// Something that is not as planned.
  public struct Finding: Sendable, Equatable, CustomStringConvertible {
    public var topic: String
    public var description: String
  }

  public let names: TopicNames
  public let topics: [Topic]
  public let replicationFactor: Int32

  /// - Parameters:
  ///   - securityPartitionCount: of the security candidates; at most `partitionCount`.
  ///   - replicationFactor: below 1, the broker's default.
  public init(
    names: TopicNames, partitionCount: Int32, securityPartitionCount: Int32,
    replicationFactor: Int32
  ) {
    self.names = names
    self.replicationFactor = replicationFactor
    topics = TopicRole.allCases.map { role in
      let count: Int32 =
        switch role {
        case .candidateSecurity, .stateSecurity: securityPartitionCount
        // Four keys; one partition gives them one order.
        case .defaults: 1
        default: partitionCount
        }
      return Topic(
        role: role, name: names[role], partitionCount: count, settings: Self.settings(of: role),
        settingsMin: Self.settingsMin(of: role))
    }
  }

  /// Kafka's own default for `max.message.bytes`.
  private static let messageBytesMax = 1_048_588

  private static func settingsMin(of role: TopicRole) -> [(key: String, value: Int)] {
    switch role {
    // A decision carries its candidate's headers, so it must have as much room as its candidate: one
    // that is refused for its size is written again and again, and its partition stands still.
    case .approved, .deferred, .dropped: [("max.message.bytes", messageBytesMax)]
    // Behind an erasure that the user came back from, compaction leaves the new document alone: a
    // gate that is down for less than this still sees both, and ends what was held before.
    case .preferences: [("min.compaction.lag.ms", 86_400_000)]
    default: []
    }
  }

  private static func settings(of role: TopicRole) -> [(key: String, value: String)] {
    switch role {
    case .preferences:
      // What an erased user's documents said is gone within this, and one run of the cleaner.
      compacted + [("max.compaction.lag.ms", "604800000")]
    case .deferred, .state, .stateSecurity, .defaults: compacted
    case .audit:
      [("cleanup.policy", "delete"), ("retention.ms", "-1"), ("retention.bytes", "-1")]
    case .candidate, .candidateSecurity:
      // Stated: a larger candidate is refused where it is produced. Up to here the gate reads it,
      // and drops it with a reason.
      [("cleanup.policy", "delete"), ("max.message.bytes", "\(messageBytesMax)")]
    case .approved, .dropped, .receipts, .preferenceEvents:
      [("cleanup.policy", "delete")]
    }
  }

  /// Small segments, rolled often and cleaned early: what a restore reads is mostly what is alive,
  /// and an erasure does not wait for a gigabyte to fill.
  private static let compacted = [
    ("cleanup.policy", "compact"), ("segment.bytes", "67108864"), ("segment.ms", "3600000"),
    ("min.cleanable.dirty.ratio", "0.1"),
    // How long a reader may be away without missing an erasure.
    ("delete.retention.ms", "86400000"),
  ]

  /// Creates the topics that are missing and leaves the others alone. Returns what was created, and
  /// what could not be.
  public func create(
    with admin: KafkaAdmin, timeoutMs: Int32
  ) throws(KafkaError) -> (created: [String], failures: [Finding]) {
    let found = try admin.metadata(of: topics.map(\.name), timeoutMs: timeoutMs)
    let missing = zip(topics, found).filter { $1.partitionCount == nil }.map { topic, _ in
      NewTopic(
        name: topic.name, partitionCount: topic.partitionCount,
        replicationFactor: replicationFactor,
        settings: topic.settings + topic.settingsMin.map { ($0.key, "\($0.value)") })
    }
    let answers = try admin.create(missing, timeoutMs: timeoutMs)
    return (
      answers.filter { $0.error == nil }.map(\.name),
      answers.compactMap { name, error in
        error.map { Finding(topic: name, description: "\($0)") }
      }
    )
  }

  /// Everything that is not as it must be: missing topics, counts that do not go together, settings
  /// that differ.
  public func check(
    with admin: KafkaAdmin, timeoutMs: Int32
  ) throws(KafkaError) -> [Finding] {
    let found = try admin.metadata(of: topics.map(\.name), timeoutMs: timeoutMs)
    var counts: [TopicRole: Int32] = [:]
    for (topic, metadata) in zip(topics, found) { counts[topic.role] = metadata.partitionCount }
    let existing = topics.filter { counts[$0.role] != nil }
    let settings = try admin.settings(of: existing.map(\.name), timeoutMs: timeoutMs)
    return findings(counts: counts, settings: settings)
  }

  /// The comparison, without a broker.
  public func findings(
    counts: [TopicRole: Int32], settings: [String: [String: String]]
  ) -> [Finding] {
    var findings: [Finding] = []
    for topic in topics where counts[topic.role] == nil {
      findings.append(Finding(topic: topic.name, description: "\(topic.name) does not exist"))
    }
    for violation in PartitionCountRules.violations(counts, names) {
      findings.append(
        Finding(
          topic: String(violation.prefix { $0 != " " }), description: violation))
    }
    return findings + self.findings(settings: settings)
  }

  /// Of settings alone; topics of which nothing is told are passed over.
  public func findings(settings: [String: [String: String]]) -> [Finding] {
    var findings: [Finding] = []
    for topic in topics {
      guard let inForce = settings[topic.name] else { continue }
      for (key, wanted) in topic.settings {
        // A broker that does not tell a setting has none to be wrong.
        guard let value = inForce[key], !Self.isSame(value, wanted) else { continue }
        findings.append(
          Finding(
            topic: topic.name,
            description: "\(topic.name): \(key) is \(value), it must be \(wanted)"))
      }
      for (key, least) in topic.settingsMin {
        guard let value = inForce[key].flatMap(Int.init), value < least else { continue }
        findings.append(
          Finding(
            topic: topic.name,
            description: "\(topic.name): \(key) is \(value), it must be at least \(least)"))
      }
    }
    return findings
  }

  /// `0.1` and `0.10` are the same setting.
  private static func isSame(_ a: String, _ b: String) -> Bool {
    if a == b { return true }
    guard let a = Double(a), let b = Double(b) else { return false }
    return a == b
  }
}
