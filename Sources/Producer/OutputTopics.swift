import Gate
import Kafka
import Pipeline

/// Where each outcome goes, and what the lane remembers.
public struct OutputTopicNames: Sendable {
  public var approved: String
  public var deferred: String
  public var dropped: String
  /// Approvals of users that nobody is (`SelfTestUser`).
  public var selfTest: String
  /// The lane's own.
  public var state: String

  public init(
    approved: String, deferred: String, dropped: String, selfTest: String, state: String
  ) {
    self.approved = approved
    self.deferred = deferred
    self.dropped = dropped
    self.selfTest = selfTest
    self.state = state
  }
}

/// The route of a decision: the topic of its outcome, at its candidate's partition, so that what
/// comes of one user has one order and one owner. An approval of the self-test's user goes to a topic
/// that no dispatcher reads, in the same transaction and with everything else that comes of it.
struct OutputTopics {
  private let approved: ProducerTopic
  private let deferred: ProducerTopic
  private let dropped: ProducerTopic
  private let selfTest: ProducerTopic
  private let state: ProducerTopic
  private let producer: KafkaProducer

  /// Records that were written without their candidate's headers, because with them they were
  /// larger than a record may be.
  private(set) var headersLeftOut: UInt64 = 0

  private static let sliceMs: Int32 = 10

  init(_ names: OutputTopicNames, of producer: KafkaProducer) {
    approved = producer.topic(names.approved)
    deferred = producer.topic(names.deferred)
    dropped = producer.topic(names.dropped)
    selfTest = producer.topic(names.selfTest)
    state = producer.topic(names.state)
    self.producer = producer
  }

  /// How many records since the last call were written without their candidate's headers.
  mutating func takeHeadersLeftOut() -> UInt64 {
    defer { headersLeftOut = 0 }
    return headersLeftOut
  }

  /// Hands every output to the local queue; where that is full, waits for it to drain, for
  /// `queueFullMsMax` at most.
  mutating func write(
    _ outputs: UnsafeBufferPointer<OutputRecord>, of inputs: UnsafeBufferPointer<InputRecord>,
    queueFullMsMax: Int32
  ) throws(Failure) {
    for output in outputs {
      let input = inputs[output.inputIndex]
      try write(
        output, input.partition, input.handle.map { .of($0) } ?? .none, queueFullMsMax)
    }
  }

  /// The records of what became of holds, in the same way.
  mutating func writeHolds(
    _ outcomes: UnsafeBufferPointer<HoldOutcome>, queueFullMsMax: Int32
  ) throws(Failure) {
    for outcome in outcomes {
      guard let record = outcome.record else { continue }
      try write(record, outcome.partition, .kept(outcome.headers), queueFullMsMax)
    }
  }

  /// A null value for a hold's key.
  func endHold(
    _ key: UnsafeRawBufferPointer, _ partition: Int32, queueFullMsMax: Int32
  ) throws(Failure) {
    try write(StateRecord(partition: partition, key: key, value: nil), to: deferred, queueFullMsMax)
  }

  /// Hands records of the lane's state to the local queue, as `write` does its outputs.
  func writeState(
    _ records: UnsafeBufferPointer<StateRecord>, queueFullMsMax: Int32
  ) throws(Failure) {
    for record in records { try write(record, to: state, queueFullMsMax) }
  }

  private func write(
    _ record: StateRecord, to topic: ProducerTopic, _ queueFullMsMax: Int32
  ) throws(Failure) {
    var waitedMs: Int32 = 0
    while let refusal = producer.produce(
      to: topic, partition: record.partition, key: record.key, value: record.value)
    {
      guard refusal.isQueueFull && waitedMs < queueFullMsMax else {
        let error = producer.error(of: refusal, topic: topic)
        try failing { () throws(KafkaError) in throw error }
        return
      }
      _ = producer.flush(timeoutMs: Self.sliceMs)
      waitedMs += Self.sliceMs
    }
  }

  @inline(__always)
  private mutating func write(
    _ output: OutputRecord, _ partition: Int32, _ headers: CarriedHeaders, _ queueFullMsMax: Int32
  ) throws(Failure) {
    guard let refusal = produce(output, partition, headers) else { return }
    try retry(output, partition, headers, after: refusal, queueFullMsMax)
  }

  private func produce(
    _ output: OutputRecord, _ partition: Int32, _ headers: CarriedHeaders
  ) -> ProduceRefusal? {
    producer.produceDecision(
      to: topic(of: output), partition: partition, key: output.key, value: output.value,
      carrying: headers, outcome: output.outcome.name, reason: output.reason.name,
      notificationID: output.notificationID)
  }

  private func topic(of output: OutputRecord) -> ProducerTopic {
    switch output.outcome {
    // The key of an approval, and of a hold that is released, is the user.
    case .approved: SelfTestUser.isReserved(output.key) ? selfTest : approved
    case .deferred: deferred
    case .dropped: dropped
    }
  }

  /// Off the common path: a full queue, or a record whose headers make it too large. A decision
  /// itself is bounded far below any limit, so without the carried headers it fits; refusing it
  /// instead would stop the partition for ever at this record.
  private mutating func retry(
    _ output: OutputRecord, _ partition: Int32, _ carried: CarriedHeaders,
    after first: ProduceRefusal, _ queueFullMsMax: Int32
  ) throws(Failure) {
    var refusal = first
    var headers = carried
    var waitedMs: Int32 = 0
    while true {
      if refusal.isTooLarge && !headers.isNone {
        headers = .none
        headersLeftOut += 1
      } else if refusal.isQueueFull && waitedMs < queueFullMsMax {
        _ = producer.flush(timeoutMs: Self.sliceMs)
        waitedMs += Self.sliceMs
      } else {
        let error = producer.error(of: refusal, topic: topic(of: output))
        try failing { () throws(KafkaError) in throw error }
      }
      guard let next = produce(output, partition, headers) else { return }
      refusal = next
    }
  }
}
