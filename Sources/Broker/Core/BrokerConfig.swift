/// What a broker is told at start. Names and defaults follow Kafka's where Kafka has them.
public struct BrokerConfig: Sendable {
  /// The address that Metadata and FindCoordinator answer with.
  public var host = "127.0.0.1"
  public var port: Int32 = 9092
  public var nodeId: Int32 = 0
  public var clusterId = "sendgate-test-broker"

  /// `auto.create.topics.enable`. Off: a topic that is asked for by mistake stays unknown.
  public var autoCreateTopics = false
  /// `num.partitions`
  public var defaultPartitions: Int32 = 1
  /// Topic settings for all topics that do not set their own, by Kafka's names.
  public var topicDefaults: [String: String] = [:]

  /// `group.initial.rebalance.delay.ms`; Kafka's is 3000. None here, so that tests start at once.
  public var groupInitialRebalanceDelayMs: Int64 = 0
  /// `group.min.session.timeout.ms`; Kafka's is 6000.
  public var groupMinSessionTimeoutMs: Int32 = 6000
  /// `group.max.session.timeout.ms`
  public var groupMaxSessionTimeoutMs: Int32 = 1_800_000
  /// `offset.metadata.max.bytes`
  public var offsetMetadataMaxBytes = 4096

  /// `transaction.max.timeout.ms`
  public var transactionMaxTimeoutMs: Int32 = 900_000
  /// How long after EndTxn the markers are written. Kafka takes a moment, in which the next
  /// AddPartitionsToTxn finds CONCURRENT_TRANSACTIONS; none here unless asked for.
  public var transactionMarkerDelayMs: Int64 = 0
  /// How much later the markers of partitions are written than those of groups. Kafka writes each when
  /// it can: a transaction's offsets may show before its records do. None here unless asked for.
  public var transactionMarkerSpreadMs: Int64 = 0

  /// How often retention and compaction look at the logs.
  public var logCheckIntervalMs: Int64 = 1000

  /// The seed of generated member ids and of injection by chance.
  public var seed: UInt64 = 1

  public init() {}
}
