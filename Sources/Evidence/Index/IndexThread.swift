import Kafka
import Pipeline
import Preferences
import Telemetry

/// Reads as long as the index lives, whatever the broker does.
final class IndexThread: @unchecked Sendable {
  // Unchecked because of the thread's handle, which only the owner that stops it touches.
  private unowned let index: EvidenceIndex
  private let properties: KafkaProperties
  private let topics: [EvidenceTopic]
  private let log: Logger
  private let onEvent: KafkaEventHandler
  private let isEnding = Monitor(false)
  private var thread: NamedThread!

  private static let retryMs: Int64 = 1000

  /// Starts to read at once.
  init(
    _ index: EvidenceIndex, properties: KafkaProperties, topics: [EvidenceTopic], log: Logger,
    onEvent: @escaping KafkaEventHandler
  ) throws(ConfigurationError) {
    self.index = index
    self.properties = try Self.properties(properties)
    self.topics = topics
    self.log = log
    self.onEvent = onEvent
    try self.properties.check(.consumer)
    thread = NamedThread(name: "evidence-read") { [unowned self] in run() }
  }

  /// What its consumers are set to, over what the operator chose.
  static func properties(
    _ properties: KafkaProperties
  ) throws(ConfigurationError) -> KafkaProperties {
    var properties = properties
    try properties.require(
      "isolation.level", "read_committed", because: "an aborted decision was never made")
    try properties.require(
      "enable.auto.commit", "false", because: "offsets are kept with the evidence")
    try properties.require(
      "enable.partition.eof", "true", because: "it is how the reader knows that it has everything")
    try properties.require(
      "auto.offset.reset", "error", because: "records that are gone must not be passed by unseen")
    properties.setDefaults([
      // librdkafka's consumer queue exists only where there is a group; this one is never joined.
      ("group.id", "sendgate.evidence"),
      // What is fetched ahead while a transaction is written.
      ("queued.max.messages.kbytes", "131072"),
    ])
    return properties
  }

  /// Ends behind the batch that is being written.
  func stop() {
    isEnding.change { $0 = true }
    thread.join()
  }

  private var isStopping: Bool { isEnding.wait { $0 } }

  private func pause() { _ = isEnding.wait(timeoutMs: Self.retryMs) { $0 ? () : nil } }

  private func run() {
    guard waitForTurn() else { return }
    recallProgress()
    while !isStopping {
      do throws(ConfigurationError) {
        let session = try IndexSession(
          index.store, index.counters, topics: topics, properties, index.settings, log: log,
          onEvent: onEvent)
        session.run(isStopping: { isStopping }, pause: pause)
        session.close()
      } catch {
        log.error("The reader of evidence cannot be made.", ["error": "\(error)"])
      }
      index.counters.isCaughtUp.set(false)
      pause()
    }
    do throws(StoreError) {
      try index.endTurn()
    } catch {
      if error != .closed { log.error("A turn cannot be given back.", ["error": "\(error)"]) }
    }
  }

  /// How far the process before this one came: the lag goes on from there, and not from nothing.
  private func recallProgress() {
    do throws(StoreError) {
      let freshAtMs = try index.reader.lag().freshAtMs
      index.counters.set(EvidenceLag(freshAtMs: freshAtMs, recordsBehind: nil, newestMs: nil))
    } catch {
      guard error != .closed else { return }
      log.error("How far the index is cannot be read.", ["error": "\(error)"])
    }
  }

  private func waitForTurn() -> Bool {
    var isKnown = false
    while !isStopping {
      do throws(StoreError) {
        if try index.takeTurn() { return true }
        if !isKnown {
          log.info("Another process indexes; this one stands by until that one ends.")
        }
        isKnown = true
      } catch {
        if error == .closed { return false }
        log.error("The turn to index cannot be taken.", ["error": "\(error)"])
      }
      pause()
    }
    return false
  }
}

/// Takes away what is old, and empties the database's log, in which what was erased would stay.
final class IndexUpkeep: @unchecked Sendable {
  // Unchecked because of the thread's handle, which only the owner that stops it touches.
  private unowned let index: EvidenceIndex
  private let log: Logger
  private let isEnding = Monitor(false)
  private var thread: NamedThread!

  /// Starts at once.
  init(_ index: EvidenceIndex, log: Logger) {
    self.index = index
    self.log = log
    thread = NamedThread(name: "evidence-upkeep") { [unowned self] in run() }
  }

  /// Ends behind the slice that is being taken.
  func stop() {
    isEnding.change { $0 = true }
    thread.join()
  }

  private var isStopping: Bool { isEnding.wait { $0 } }

  private func run() {
    while !isStopping {
      do throws(StoreError) {
        try index.takeOld(isStopping: { isStopping })
        if try !index.purgeErased() {
          log.info("The evidence database's log is in use and is emptied the next time.")
        }
      } catch {
        if error == .closed { return }
        log.error("The index's upkeep failed; it is tried again.", ["error": "\(error)"])
      }
      _ = isEnding.wait(timeoutMs: index.settings.upkeepIntervalMs) { $0 ? () : nil }
    }
  }
}
