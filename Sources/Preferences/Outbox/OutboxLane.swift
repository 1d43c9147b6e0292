import Kafka
import Pipeline
import Telemetry

/// Publishes one topic's rows, with a producer of its own: a topic that is refused, or whose broker is
/// away, holds up no other. One thread, its owner's.
final class OutboxLane {
  private let service: PreferenceService
  private let topic: OutboxTopic
  private let status: OutboxStatus
  private let log: Logger
  private let owner: StoreThread
  private let settings: OutboxSettings
  private let clock = SystemClock()

  // Where it is; begun anew with each producer, and when it is time to try again.
  private var position: Int64 = 0
  private var refusedKeys: Set<String> = []
  private var rowsMax = OutboxSettings.rowsMax
  private var retryAtMs: Int64?
  private var refusals = 0
  /// Until the topic says that it does not want that.
  private var isDated: Bool

  init(
    _ service: PreferenceService, _ topic: OutboxTopic, _ status: OutboxStatus,
    _ settings: OutboxSettings, owner: StoreThread, log: Logger
  ) {
    self.service = service
    self.topic = topic
    self.status = status
    self.settings = settings
    self.owner = owner
    self.log = log
    isDated = topic == .state
  }

  /// Until it is time to end.
  func run(_ properties: KafkaProperties, onEvent: @escaping KafkaEventHandler) {
    while owner.awaitTurn() {
      do throws(ConfigurationError) {
        let producer = try KafkaProducer(properties: properties, onEvent: onEvent)
        publish(with: producer)
        producer.close()
      } catch {
        log.error("The outbox's producer cannot be made.", ["error": "\(error)"])
      }
      owner.pause(ms: backOffMs)
    }
  }

  /// Longer from refusal to refusal: nothing that an operator has to mend is mended within a second.
  private var backOffMs: Int64 {
    settings.retryMs << Int64(min(max(refusals, 1) - 1, 4))
  }

  /// Until it is time to end, the turn is lost, or the producer is of no use any more.
  private func publish(with producer: KafkaProducer) {
    let target = producer.topic(status.topic)
    rowsMax = OutboxSettings.rowsMax
    beginAnew()
    var seen = service.store.writes
    while !owner.isStopping {
      if let retryAtMs, clock.monotonicMs() >= retryAtMs { beginAnew() }
      do throws(StoreError) {
        // Before the rows are read: what another published meanwhile is then no longer among them.
        guard try service.keepsTurn(.outbox(topic), log: log) else { return }
        let rows = try service.outboxRows(of: topic, after: position, limit: rowsMax)
        if rows.isEmpty {
          if refusedKeys.isEmpty { recover() }
          producer.serveEvents()
          seen = service.store.waitForWrites(after: seen, timeoutMs: OutboxSettings.lookIntervalMs)
          continue
        }
        guard try write(rows, target, producer) else { return }
      } catch {
        if error == .closed { return }
        log.error("The outbox cannot be read or emptied.", ["error": "\(error)"])
        owner.pause(ms: settings.retryMs)
      }
    }
  }

  private func beginAnew() {
    position = 0
    refusedKeys = []
    retryAtMs = nil
  }

  private func recover() {
    guard refusals > 0 else { return }
    refusals = 0
    status.clear()
  }

  /// False: make a new producer and begin again with what is still in the database.
  private func write(
    _ rows: [OutboxTable.Row], _ target: ProducerTopic, _ producer: KafkaProducer
  ) throws(StoreError) -> Bool {
    let round = OutboxRound(rows, isNewestEnough: topic == .state, refusedKeys: refusedKeys)
    guard let failures = deliver(round, target, producer) else { return false }
    let done = round.done(failed: Set(failures.keys), refusedKeys: refusedKeys)
    guard
      let count = try service.settleOutbox(of: topic, done, keys: Set(round.writtenKeys))
    else {
      log.warning(
        "The turn was lost while records were published; what they speak of is published again.",
        ["kafka.topic": .string(status.topic), "records": .integer(round.written.count)])
      return false
    }
    status.published.add(UInt64(count))
    guard let first = failures.keys.min() else {
      position = round.rows.last!.sequence
      if status.refusedKeys == 0 { recover() }
      return true
    }
    status.failed.add()
    return heed(failures, first: first, round)
  }

  /// What was refused, by index; nil where it is time to end or the producer is of no use any more.
  private func deliver(
    _ round: OutboxRound, _ target: ProducerTopic, _ producer: KafkaProducer
  ) -> [Int: KafkaError]? {
    var failures: [Int: KafkaError] = [:]
    for (index, timestampMs) in round.written {
      let refusal = hand(round.rows[index], index, timestampMs, target, producer)
      guard let refusal else { continue }
      if refusal.isQueueFull { return nil }
      let error = producer.error(of: refusal, topic: target)
      failures[index] = error
      guard !error.isOfTheRecord else { continue }
      // It would say the same of all that follow.
      for (later, _) in round.written where later > index { failures[later] = error }
      break
    }
    while !producer.flush(timeoutMs: OutboxSettings.flushStepMs) {
      if owner.isStopping { return nil }
    }
    for (tag, error) in producer.takeUndelivered() { failures[Int(tag) - 1] = error }
    if let error = producer.fatalError() {
      refuseAll(error)
      return nil
    }
    return failures
  }

  private func hand(
    _ row: OutboxTable.Row, _ index: Int, _ timestampMs: Int64, _ target: ProducerTopic,
    _ producer: KafkaProducer
  ) -> ProduceRefusal? {
    let key = Array(row.key.utf8)
    let value = row.value.map { Array($0.utf8) }
    while true {
      let refusal = key.withUnsafeBytes { key in
        func produce(_ value: UnsafeRawBufferPointer?) -> ProduceRefusal? {
          producer.produce(
            to: target, partition: nil, key: key, value: value,
            timestampMs: isDated ? timestampMs : nil, tag: UInt(index + 1))
        }
        guard let value else { return produce(nil) }
        return value.withUnsafeBytes { produce($0) }
      }
      guard let refusal, refusal.isQueueFull, !owner.isStopping else { return refusal }
      _ = producer.flush(timeoutMs: OutboxSettings.flushStepMs)
    }
  }

  /// False: the topic takes nothing.
  private func heed(_ failures: [Int: KafkaError], first: Int, _ round: OutboxRound) -> Bool {
    if let error = failures.values.first(where: { !$0.isOfTheRecord }) {
      refuseAll(error)
      return false
    }
    let error = failures[first]!
    if error.isOfTheTimestamp, isDated {
      // Better published under another date than not at all.
      isDated = false
      return true
    }
    if round.rows.count > 1 {
      // One of them may be at fault, or their number: a broker judges a batch as a whole. Also where one
      // alone was written: an older document in its place may be taken.
      rowsMax = max(1, round.rows.count / 2)
      return true
    }
    // It is this one. The others of its key wait behind it, and everybody else's go on.
    refusedKeys.insert(round.rows[first].key)
    rowsMax = OutboxSettings.rowsMax
    position = round.rows.last!.sequence
    if retryAtMs == nil {
      refusals += 1
      retryAtMs = clock.monotonicMs() + backOffMs
    }
    status.refuse(error, keys: refusedKeys.count)
    log.error(
      "A record of the outbox is refused and is published again; others of its topic go on.",
      [
        "kafka.topic": .string(status.topic), "outbox.row": .integer(round.rows[first].sequence),
        "error": "\(error)",
      ])
    return true
  }

  private func refuseAll(_ error: KafkaError) {
    refusals += 1
    status.refuse(error, keys: 0)
    log.error(
      "Records of the outbox are refused and are published again; other topics go on.",
      ["kafka.topic": .string(status.topic), "error": "\(error)"])
  }
}

/// How the outbox is published.
struct OutboxSettings: Sendable {
  /// Until what was refused is tried again, the first time; up to 16 times that later on.
  var retryMs: Int64 = 1000

  /// Read and written at once.
  static let rowsMax = 1000
  /// Rows written by another process are found by looking.
  static let lookIntervalMs: Int64 = 500
  static let flushStepMs: Int32 = 500
}
