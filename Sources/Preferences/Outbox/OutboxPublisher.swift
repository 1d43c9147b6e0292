import Kafka
import Pipeline
import Telemetry

/// Writes what waits in the outbox to Kafka, in the order it was written to the database, by one
/// idempotent producer. A row is deleted when everything up to it is acknowledged: what is published
/// is published at least once, and the last record of a user's is the newest.
///
/// One process publishes at a time; another one on the same database stands by until that one stops.
public final class OutboxPublisher: @unchecked Sendable {
  // Unchecked because of the thread's handle, which only the owner that stops it touches.
  private let service: PreferenceService
  private let properties: KafkaProperties
  private let names: TopicNames
  private let log: Logger
  private let onEvent: KafkaEventHandler
  private let control = LaneControl()
  private var thread: NamedThread!
  public let counters = OutboxCounters()

  static let batchMax = 1000
  /// Rows written by another process are found by looking.
  private static let lookIntervalMs: Int64 = 500
  private static let retryMs: Int64 = 1000
  private static let flushStepMs: Int32 = 500

  /// Starts to publish at once.
  ///
  /// - Parameter properties: the operator's; what publishing depends on is set over them.
  public init(
    _ service: PreferenceService, properties: KafkaProperties, topics: TopicNames, log: Logger,
    onEvent: @escaping KafkaEventHandler
  ) throws(ConfigurationError) {
    self.onEvent = onEvent
    self.service = service
    self.properties = try Self.properties(properties)
    names = topics
    self.log = log
    // Found at start, not when the first row waits.
    try self.properties.check(.producer)
    thread = NamedThread(name: "prefs-outbox") { [unowned self] in run() }
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
    control.ask(.drain)
    service.store.wake()
    thread.join()
  }

  private var isStopping: Bool { control.request != .none }

  private func run() {
    defer { service.endTurn(.outbox, log: log) }
    while !isStopping, !service.store.isClosed {
      guard service.waitForTurn(.outbox, log: log, isStopping: { isStopping }) else { return }
      do throws(ConfigurationError) {
        let producer = try KafkaProducer(properties: properties, onEvent: onEvent)
        publish(with: producer)
        producer.close()
      } catch {
        log.error("The outbox's producer cannot be made.", ["error": "\(error)"])
      }
      pause()
    }
  }

  private func pause() { service.store.pause(ms: Self.retryMs) { isStopping } }

  /// Until it is time to end, or the producer is of no use any more.
  private func publish(with producer: KafkaProducer) {
    var topics: [OutboxTopic: ProducerTopic] = [:]
    for topic in OutboxTopic.allCases { topics[topic] = producer.topic(names[topic.role]) }
    var seen = service.store.writes
    while !isStopping {
      do throws(StoreError) {
        // Before the rows are read: what another published meanwhile is then no longer among them.
        guard try service.keepsTurn(.outbox, log: log) else { return }
        let rows = try service.outboxRows(limit: Self.batchMax)
        if rows.isEmpty {
          producer.serveEvents()
          seen = service.store.waitForWrites(after: seen, timeoutMs: Self.lookIntervalMs)
          continue
        }
        guard try publish(rows, topics, producer) else { return }
      } catch {
        if error == .closed { return }
        log.error("The outbox cannot be read or emptied.", ["error": "\(error)"])
        pause()
      }
    }
  }

  /// False: make a new producer and begin again with what is still in the database.
  private func publish(
    _ rows: [OutboxTable.Row], _ topics: [OutboxTopic: ProducerTopic], _ producer: KafkaProducer
  ) throws(StoreError) -> Bool {
    let failuresBefore = producer.deliveryFailures
    for row in rows {
      guard hand(row, topics[row.topic]!, producer) else { return false }
    }
    while !producer.flush(timeoutMs: Self.flushStepMs) {
      if isStopping { return false }
    }
    guard producer.deliveryFailures == failuresBefore, producer.fatalError() == nil else {
      let error = producer.fatalError() ?? producer.lastDeliveryFailure
      counters.failed.add()
      log.error(
        "Records of the outbox were refused; they are published again.", ["error": "\(error)"])
      return false
    }
    counters.published.add(UInt64(rows.count))
    let isSettled = try service.settleOutbox(rows)
    if !isSettled {
      log.warning(
        "The turn was lost while records were published; what they speak of is published again.",
        ["records": .integer(rows.count)])
    }
    return isSettled
  }

  private func hand(
    _ row: OutboxTable.Row, _ topic: ProducerTopic, _ producer: KafkaProducer
  ) -> Bool {
    let key = Array(row.key.utf8)
    let value = row.value.map { Array($0.utf8) }
    while true {
      let refusal = key.withUnsafeBytes { key in
        if let value {
          return value.withUnsafeBytes {
            producer.produce(to: topic, partition: nil, key: key, value: $0)
          }
        }
        return producer.produce(to: topic, partition: nil, key: key, value: nil)
      }
      guard let refusal else { return true }
      if refusal.isQueueFull, !isStopping {
        _ = producer.flush(timeoutMs: Self.flushStepMs)
        continue
      }
      if !refusal.isQueueFull {
        counters.failed.add()
        log.error(
          "A record of the outbox was refused; it is published again.",
          [
            "kafka.topic": .string(topic.name),
            "error": "\(producer.error(of: refusal, topic: topic))",
          ])
      }
      return false
    }
  }
}

/// What the publisher did; read by anybody.
public final class OutboxCounters: Sendable {
  /// Records that are on Kafka; one that was published again counts again.
  public let published = EventCount()
  /// Batches that were not acknowledged as a whole.
  public let failed = EventCount()
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
