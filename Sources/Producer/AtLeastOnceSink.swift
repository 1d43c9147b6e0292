import Gate
import Kafka
import Pipeline

/// Decisions without transactions (`delivery=at_least_once`): offsets are committed after every
/// output is acknowledged, so that whatever fails in between is decided and written again.
///
/// The lane's state is written between the two, outputs first: were it there without them, what is
/// decided again would be dropped as a duplicate of what was never written. So are the null values that
/// end holds: a hold may then be released again, and none is lost.
public final class AtLeastOnceSink: DecisionSink {
  private let properties: KafkaProperties
  private let names: OutputTopicNames
  private let stepTimeoutMs: Int32
  private let onEvent: KafkaEventHandler
  private let onHeadersLeftOut: @Sendable (UInt64) -> Void
  private let inputTopic: String
  private let receiptTopic: String
  private let commitOffsets: ([TopicPositions]) throws(KafkaError) -> Void
  private var producer: KafkaProducer?
  private var topics: OutputTopics?
  private var failuresBefore: UInt64 = 0
  private var pendingOffsets: [TopicPositions] = []
  private var pendingState = KeptStateRecords()
  private var pendingEnds = KeptStateRecords()

  /// - Parameters:
  ///   - onHeadersLeftOut: as in `TransactionalSink`.
  ///   - commitOffsets: of the lane's own consumer, on the lane's thread.
  public init(
    properties: KafkaProperties, topics: OutputTopicNames, inputTopic: String,
    receiptTopic: String, stepTimeoutMs: Int32 = 5000, onEvent: @escaping KafkaEventHandler,
    onHeadersLeftOut: @escaping @Sendable (UInt64) -> Void = { _ in },
    commitOffsets: @escaping ([TopicPositions]) throws(KafkaError) -> Void
  ) {
    self.inputTopic = inputTopic
    self.receiptTopic = receiptTopic
    self.properties = properties
    names = topics
    self.stepTimeoutMs = stepTimeoutMs
    self.onEvent = onEvent
    self.onHeadersLeftOut = onHeadersLeftOut
    self.commitOffsets = commitOffsets
  }

  public func replace() throws(Failure) {
    close()
    do throws(ConfigurationError) {
      let made = try KafkaProducer(properties: properties, onEvent: onEvent)
      producer = made
      topics = OutputTopics(names, of: made)
    } catch {
      throw Failure(.fatal, "\(error)")
    }
  }

  public func begin() throws(Failure) {
    failuresBefore = producer!.deliveryFailures
    forgetPending()
  }

  public func write(
    _ outputs: UnsafeBufferPointer<OutputRecord>, of inputs: UnsafeBufferPointer<InputRecord>
  ) throws(Failure) {
    try topics!.write(outputs, of: inputs, queueFullMsMax: stepTimeoutMs)
  }

  public func writeState(_ records: UnsafeBufferPointer<StateRecord>) throws(Failure) {
    for record in records { pendingState.append(record) }
  }

  public func writeHolds(_ outcomes: UnsafeBufferPointer<HoldOutcome>) throws(Failure) {
    try topics!.writeHolds(outcomes, queueFullMsMax: stepTimeoutMs)
    for outcome in outcomes {
      guard let key = outcome.endedKey else { continue }
      pendingEnds.append(StateRecord(partition: outcome.partition, key: key, value: nil))
    }
  }

  public func flush() throws(Failure) {
    if let count = topics?.takeHeadersLeftOut(), count > 0 { onHeadersLeftOut(count) }
    try flushProducer()
    guard !pendingState.isEmpty || !pendingEnds.isEmpty else { return }
    let topics = topics!
    try pendingState.withRecords { records in
      Result { () throws(Failure) in
        try topics.writeState(records, queueFullMsMax: stepTimeoutMs)
      }
    }.get()
    try pendingEnds.withRecords { records in
      Result { () throws(Failure) in
        for record in records {
          try topics.endHold(record.key, record.partition, queueFullMsMax: stepTimeoutMs)
        }
      }
    }.get()
    forgetPending()
    try flushProducer()
  }

  private func forgetPending() {
    pendingState.removeAll()
    pendingEnds.removeAll()
  }

  private func flushProducer() throws(Failure) {
    let producer = producer!
    guard producer.flush(timeoutMs: stepTimeoutMs) else {
      throw Failure(.retriable, "outputs are not acknowledged yet")
    }
    guard producer.deliveryFailures > failuresBefore else { return }
    // A fatal error makes this producer useless; without one, the records are written again.
    if let fatal = producer.fatalError() { throw Failure(.lostTransaction, "\(fatal)") }
    throw Failure(.abort, "\(producer.lastDeliveryFailure)")
  }

  public func sendOffsets(
    _ offsets: [PartitionOffset], receipts: [PartitionOffset], claim: GroupClaim
  ) throws(Failure) {
    pendingOffsets = [
      TopicPositions(topic: inputTopic, positions: offsets.map(\.kafkaPosition)),
      TopicPositions(topic: receiptTopic, positions: receipts.map(\.kafkaPosition)),
    ]
  }

  public func commit() throws(Failure) {
    do throws(KafkaError) {
      try commitOffsets(pendingOffsets)
    } catch {
      // Whatever it is, going back is right: a rebalance in between takes the partitions along.
      throw Failure(error.errorClass == .retriable ? .retriable : .abort, "\(error)")
    }
  }

  public func abort() throws(Failure) {
    producer!.purge()
    forgetPending()
  }

  public func close() {
    producer?.close()
    producer = nil
    topics = nil
  }
}
