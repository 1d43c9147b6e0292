import Kafka
import Pipeline
import Telemetry

/// Reads `preferences.events` and `notifications.receipts` into the store. Where it has read to is
/// kept in the store too, and written with the effects: nothing is applied twice, nothing is lost.
///
/// One process reads at a time; another one on the same database stands by until that one ends. No
/// consumer group: who reads is decided by the database that the effects go to.
public final class EventIntake: @unchecked Sendable {
  // Unchecked because of the thread's handle, which only the owner that stops it touches.
  private let service: PreferenceService
  private let properties: KafkaProperties
  private let log: Logger
  private let onEvent: KafkaEventHandler
  private let decoder: IntakeDecoder
  private let control = LaneControl()
  private var thread: NamedThread!
  public let counters = IntakeCounters()

  private static let retryMs: Int64 = 1000

  /// Starts to read at once.
  ///
  /// - Parameter settings: whose word is taken, and how much is applied at once.
  public init(
    _ service: PreferenceService, properties: KafkaProperties, topics: TopicNames,
    settings: IntakeSettings = IntakeSettings(), log: Logger, onEvent: @escaping KafkaEventHandler
  ) throws(ConfigurationError) {
    self.service = service
    self.properties = try Self.properties(properties)
    self.log = log
    self.onEvent = onEvent
    decoder = IntakeDecoder(
      eventTopic: topics[.preferenceEvents], receiptTopic: topics[.receipts], settings: settings,
      counters: counters, log: log)
    try self.properties.check(.consumer)
    thread = NamedThread(name: "prefs-intake") { [unowned self] in run() }
  }

  /// What its consumer is set to, over what the operator chose.
  public static func properties(
    _ properties: KafkaProperties
  ) throws(ConfigurationError) -> KafkaProperties {
    var properties = properties
    try properties.require(
      "isolation.level", "read_committed", because: "an aborted event never happened")
    try properties.require(
      "enable.auto.commit", "false", because: "offsets are kept with the effects, in the store")
    try properties.require(
      "enable.partition.eof", "true", because: "it is how the reader knows that it has everything")
    try properties.require(
      "auto.offset.reset", "error", because: "records that are gone must not be passed by unseen")
    // librdkafka's consumer queue exists only where there is a group; this one is never joined.
    properties.setDefaults([("group.id", "sendgate.service")])
    return properties
  }

  /// Ends behind the batch that is being applied.
  public func stop() {
    control.ask(.drain)
    service.store.wake()
    thread.join()
  }

  private var isStopping: Bool { control.request != .none }

  private func pause() { service.store.pause(ms: Self.retryMs) { isStopping } }

  private func run() {
    defer { service.endTurn(.intake, log: log) }
    while !isStopping, !service.store.isClosed {
      guard service.waitForTurn(.intake, log: log, isStopping: { isStopping }) else { return }
      do throws(ConfigurationError) {
        let session = try IntakeSession(
          service, decoder, counters, properties, log: log, onEvent: onEvent)
        session.run(isStopping: { isStopping }, pause: pause)
        session.close()
      } catch {
        log.error("The reader of events cannot be made.", ["error": "\(error)"])
      }
      counters.isCaughtUp.set(false)
      pause()
    }
  }
}

/// How the intake works.
public struct IntakeSettings: Sendable {
  /// Whether `preferences.events` may say what over HTTP takes more than the role app: source
  /// `admin_override`, changes of defaults, suppressions, erasures and `token_feedback`. Who writes to
  /// the topic is the broker's to decide and cannot be seen from here, so only where its access
  /// control lets nobody write but those who may say all that.
  public var takesAdminEvents = false

  public init() {}
}

/// What the intake did; read by anybody.
public final class IntakeCounters: Sendable {
  /// Events that were applied, whatever became of them.
  public let events = EventCount()
  /// Receipts that were read, and those of them that say something of a token.
  public let receipts = EventCount()
  public let feedback = EventCount()
  /// Records that are no event.
  public let unreadable = EventCount()
  /// Records that the store refused for good and that were passed over: a defect.
  public let skipped = EventCount()
  /// Times that records were gone before they were read.
  public let gaps = EventCount()
  /// Everything that was on the topics is applied.
  public let isCaughtUp = Flag()
}
