import Kafka
import Pipeline

/// A dispatcher's receipts, and the offsets of the approvals they answer, in one transaction: an
/// approval is answered once, whatever dies in between.
public final class ReceiptSink {
  private let producer: KafkaProducer
  private let topic: ProducerTopic
  private let inputTopic: String
  private let groupID: String
  private let stepTimeoutMs: Int32
  private static let sliceMs: Int32 = 10

  /// - Parameters:
  ///   - topic: of the receipts.
  ///   - inputTopic: of the approvals, read in `groupID`.
  ///   - properties: with a `transactional.id`.
  ///   - stepTimeoutMs: how long one call may take before it throws `retriable`.
  public init(
    topic: String, inputTopic: String, groupID: String, properties: KafkaProperties,
    stepTimeoutMs: Int32 = 5000, onEvent: @escaping KafkaEventHandler
  ) throws(ConfigurationError) {
    producer = try KafkaProducer(properties: properties, onEvent: onEvent)
    self.topic = producer.topic(topic)
    self.inputTopic = inputTopic
    self.groupID = groupID
    self.stepTimeoutMs = stepTimeoutMs
  }

  /// To be called first, and again where it was not enough. What a predecessor of the same
  /// `transactional.id` left open is aborted when it returns.
  public func start() throws(Failure) {
    try failing { () throws(KafkaError) in
      try producer.initTransactions(timeoutMs: stepTimeoutMs)
    }
  }

  public func begin() throws(Failure) {
    try failing { () throws(KafkaError) in try producer.beginTransaction() }
  }

  /// Hands one receipt to the local queue, for the partition of its approval: the user's key leads
  /// there too, and one owner has both.
  public func write(
    partition: Int32, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
  ) throws(Failure) {
    var waitedMs: Int32 = 0
    while let refusal = producer.produce(to: topic, partition: partition, key: key, value: value) {
      guard refusal.isQueueFull && waitedMs < stepTimeoutMs else {
        let error = producer.error(of: refusal, topic: topic)
        return try failing { () throws(KafkaError) in throw error }
      }
      _ = producer.flush(timeoutMs: Self.sliceMs)
      waitedMs += Self.sliceMs
    }
  }

  public func flush() throws(Failure) {
    guard producer.flush(timeoutMs: stepTimeoutMs) else {
      throw Failure(.retriable, "receipts are not acknowledged yet")
    }
  }

  public func sendOffsets(_ offsets: [PartitionOffset], claim: GroupClaim) throws(Failure) {
    try failing { () throws(KafkaError) in
      try producer.sendOffsets(
        [TopicPositions(topic: inputTopic, positions: offsets.map(\.kafkaPosition))],
        groupID: groupID,
        member: GroupMember(generation: claim.generation, memberID: claim.memberID),
        groupInstanceID: nil, timeoutMs: stepTimeoutMs)
    }
  }

  public func commit() throws(Failure) {
    try failing { () throws(KafkaError) in
      try producer.commitTransaction(timeoutMs: stepTimeoutMs)
    }
  }

  /// What is open stays open, for the coordinator or the next producer of this id to abort.
  public func close() { producer.close() }
}
