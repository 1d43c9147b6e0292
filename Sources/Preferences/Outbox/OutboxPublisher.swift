import Kafka
import Pipeline
import Telemetry

/// Writes what waits in the outbox to Kafka, each topic in the order it was written to the database, by
/// an idempotent producer of its own. A row is deleted when it is acknowledged, and not before those of
/// its key in front of it: what is published is published at least once, and the last record of a user's
/// is the newest.
///
/// One process at a time publishes a topic; another one on the same database stands by until that one stops.
public final class OutboxPublisher: Sendable {
  private let threads: [StoreThread]
  /// How it goes, by topic.
  public let statuses: [OutboxTopic: OutboxStatus]

  /// Starts to publish at once.
  ///
  /// - Parameter properties: the operator's; what publishing depends on is set over them.
  public convenience init(
    _ service: PreferenceService, properties: KafkaProperties, topics: TopicNames, log: Logger,
    onEvent: @escaping KafkaEventHandler
  ) throws(ConfigurationError) {
    try self.init(
      service, properties: properties, topics: topics, settings: OutboxSettings(), log: log,
      onEvent: onEvent)
  }

  init(
    _ service: PreferenceService, properties: KafkaProperties, topics: TopicNames,
    settings: OutboxSettings, log: Logger, onEvent: @escaping KafkaEventHandler
  ) throws(ConfigurationError) {
    let properties = try Self.properties(properties)
    // Found at start, not when the first row waits.
    try properties.check(.producer)
    let statuses = Dictionary(
      uniqueKeysWithValues: OutboxTopic.allCases.map { topic in
        (topic, OutboxStatus(topic: topics[topic.role]))
      })
    self.statuses = statuses
    threads = statuses.map { topic, status in
      StoreThread(name: "outbox-\(topic)", turn: .outbox(topic), service, log: log) { thread in
        OutboxLane(service, topic, status, settings, owner: thread, log: log)
          .run(properties, onEvent: onEvent)
      }
    }
  }

  /// What its producer is set to, over what the operator chose.
  public static func properties(
    _ properties: KafkaProperties
  ) throws(ConfigurationError) -> KafkaProperties {
    var properties = properties
    try properties.require(
      "partitioner", "murmur2_random",
      because: "the gate looks for a user's document in the partition that its key hashes to")
    try properties.require(
      "enable.idempotence", "true", because: "a retried request must not change the order")
    try properties.require(
      "delivery.report.only.error", "true", because: "only failures are looked at")
    // A record that timed out while the next one did not would be written behind it.
    try properties.require(
      "message.timeout.ms", "0", because: "the outbox waits for as long as the broker is away")
    properties.setDefaults([("linger.ms", "1"), ("compression.type", "lz4")])
    return properties
  }

  /// Ends when what was handed over is acknowledged, or at once where the broker is away: what is not
  /// published then waits in the database.
  public func stop() {
    for thread in threads { thread.askToStop() }
    for thread in threads { thread.stop() }
  }
}

extension OutboxTopic {
  /// Which of the gate's topics it is.
  public var role: TopicRole {
    switch self {
    case .state: .preferences
    case .defaults: .defaults
    case .audit: .audit
    case .receipts: .receipts
    }
  }
}
