import Gate
import Kafka
import Pipeline

/// What an output producer is set to.
public enum OutputProducerProperties {
  /// - Parameters:
  ///   - transactionalID: of this worker; nil for at-least-once.
  ///   - lingerMs: how long a record waits for others to share its request. A commit waits for it,
  ///     too, so it must be a small part of the commit interval.
  public static func make(
    _ properties: KafkaProperties, transactionalID: String?, transactionTimeoutMs: Int64,
    lingerMs: Int = 5
  ) throws(ConfigurationError) -> KafkaProperties {
    var properties = properties
    if let transactionalID {
      properties["transactional.id"] = transactionalID
      properties["transaction.timeout.ms"] = "\(transactionTimeoutMs)"
    }
    try properties.require(
      "enable.idempotence", "true", because: "a retried request must not write twice")
    try properties.require(
      "delivery.report.only.error", "true",
      because: "a report for each record costs more than the decision")
    properties.setDefaults([
      ("linger.ms", "\(lingerMs)"),
      // Half the broker's CPU, for a little of ours.
      ("compression.type", "lz4"),
      ("queue.buffering.max.messages", "1000000"),
      ("partitioner", "murmur2_random"),
    ])
    return properties
  }

  /// `transactional.id`: stable across restarts, so that a restart aborts its predecessor's open
  /// transaction at once; different for every worker, so that no two fence each other.
  public static func transactionalID(
    group: String, instance: String, lane: Lane, worker: Int
  ) -> String {
    "\(group).\(instance).\(lane == .security ? "security" : "ordinary").\(worker)"
  }
}

/// Decisions, and the offsets of what they were made from, in one transaction.
public final class TransactionalSink: DecisionSink {
  public struct Settings: Sendable {
    public var properties: KafkaProperties
    public var topics: OutputTopicNames
    public var inputTopic: String
    public var receiptTopic: String
    public var groupID: String
    public var groupInstanceID: String?
    /// How long one call may take before the loop hears `retriable`.
    public var stepTimeoutMs: Int32

    public init(
      properties: KafkaProperties, topics: OutputTopicNames, inputTopic: String,
      receiptTopic: String = "", groupID: String, groupInstanceID: String? = nil,
      stepTimeoutMs: Int32 = 5000
    ) {
      self.properties = properties
      self.topics = topics
      self.inputTopic = inputTopic
      self.receiptTopic = receiptTopic
      self.groupID = groupID
      self.groupInstanceID = groupInstanceID
      self.stepTimeoutMs = stepTimeoutMs
    }
  }

  private let settings: Settings
  private let onEvent: KafkaEventHandler
  private let onHeadersLeftOut: @Sendable (UInt64) -> Void
  private var producer: KafkaProducer?
  private var topics: OutputTopics?
  private var isReady = false

  /// - Parameter onHeadersLeftOut: told, once a flush, how many records were written without their
  ///   candidate's headers, because with them they were larger than a record may be.
  public init(
    _ settings: Settings, onEvent: @escaping KafkaEventHandler,
    onHeadersLeftOut: @escaping @Sendable (UInt64) -> Void = { _ in }
  ) {
    self.settings = settings
    self.onEvent = onEvent
    self.onHeadersLeftOut = onHeadersLeftOut
  }

  /// A producer that was made and not initialised yet (the broker is away) is tried again, not made
  /// again: librdkafka goes on where the time-out left it.
  public func replace() throws(Failure) {
    if isReady { close() }
    if producer == nil {
      do throws(ConfigurationError) {
        let made = try KafkaProducer(properties: settings.properties, onEvent: onEvent)
        producer = made
        topics = OutputTopics(settings.topics, of: made)
      } catch {
        throw Failure(.fatal, "\(error)")
      }
    }
    let producer = producer!
    do throws(Failure) {
      try failing { () throws(KafkaError) in
        try producer.initTransactions(timeoutMs: settings.stepTimeoutMs)
      }
      isReady = true
    } catch {
      producer.serveEvents()
      if error.kind != .retriable { close() }
      throw error
    }
  }

  public func begin() throws(Failure) {
    let producer = producer!
    try failing { () throws(KafkaError) in try producer.beginTransaction() }
  }

  public func write(
    _ outputs: UnsafeBufferPointer<OutputRecord>, of inputs: UnsafeBufferPointer<InputRecord>
  ) throws(Failure) {
    try topics!.write(outputs, of: inputs, queueFullMsMax: settings.stepTimeoutMs)
  }

  public func writeState(_ records: UnsafeBufferPointer<StateRecord>) throws(Failure) {
    try topics!.writeState(records, queueFullMsMax: settings.stepTimeoutMs)
  }

  public func writeHolds(_ outcomes: UnsafeBufferPointer<HoldOutcome>) throws(Failure) {
    try topics!.writeHolds(outcomes, queueFullMsMax: settings.stepTimeoutMs)
    for outcome in outcomes {
      guard let key = outcome.endedKey else { continue }
      try topics!.endHold(key, outcome.partition, queueFullMsMax: settings.stepTimeoutMs)
    }
  }

  /// Failures are not looked for here: librdkafka counts them per transaction and fails the commit.
  public func flush() throws(Failure) {
    if let count = topics?.takeHeadersLeftOut(), count > 0 { onHeadersLeftOut(count) }
    guard producer!.flush(timeoutMs: settings.stepTimeoutMs) else {
      throw Failure(.retriable, "outputs are not acknowledged yet")
    }
  }

  public func sendOffsets(
    _ offsets: [PartitionOffset], receipts: [PartitionOffset], claim: GroupClaim
  ) throws(Failure) {
    let producer = producer!
    try failing { () throws(KafkaError) in
      try producer.sendOffsets(
        [
          TopicPositions(topic: settings.inputTopic, positions: offsets.map(\.kafkaPosition)),
          TopicPositions(topic: settings.receiptTopic, positions: receipts.map(\.kafkaPosition)),
        ], groupID: settings.groupID,
        member: GroupMember(generation: claim.generation, memberID: claim.memberID),
        groupInstanceID: settings.groupInstanceID, timeoutMs: settings.stepTimeoutMs)
    }
  }

  public func commit() throws(Failure) {
    let producer = producer!
    try failing { () throws(KafkaError) in
      try producer.commitTransaction(timeoutMs: settings.stepTimeoutMs)
    }
  }

  public func abort() throws(Failure) {
    let producer = producer!
    try failing { () throws(KafkaError) in
      try producer.abortTransaction(timeoutMs: settings.stepTimeoutMs)
    }
  }

  /// What is open stays open, for the coordinator or the next producer of this id to abort.
  public func close() {
    producer?.close()
    producer = nil
    topics = nil
    isReady = false
  }
}
