import Kafka
import Pipeline

/// Writes records to one topic by key, for the services that notify and for `sendgate publish`: the
/// key is the user id, and the partitioner the one every producer of the gate's inputs uses. Not
/// transactional; each record is written once, in order per key, by the idempotent producer.
public final class CandidatePublisher {
  private let producer: KafkaProducer
  private let topic: ProducerTopic

  public init(
    topic: String, properties: KafkaProperties, onEvent: @escaping KafkaEventHandler
  ) throws(ConfigurationError) {
    var properties = properties
    try properties.require(
      "partitioner", "murmur2_random",
      because: "the gate drops a candidate whose key does not hash to its partition")
    try properties.require(
      "enable.idempotence", "true", because: "a retried request must not write twice")
    try properties.require(
      "delivery.report.only.error", "true", because: "only failures are looked at")
    properties.setDefaults([
      ("linger.ms", "20"), ("compression.type", "lz4"),
      ("queue.buffering.max.messages", "1000000"),
    ])
    producer = try KafkaProducer(properties: properties, onEvent: onEvent)
    self.topic = producer.topic(topic)
  }

  /// Hands over one record; copies it. A nil value erases (preference documents). Waits where the
  /// local queue is full. Throws what makes going on pointless.
  public func publish(
    key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer?,
    headers: [(name: String, value: String)] = []
  ) throws(KafkaError) {
    // Kafka takes an empty key, and compaction then makes one record of all of them.
    precondition(!key.isEmpty, "a record without a user id cannot be published")
    while let refusal = producer.produce(
      to: topic, partition: nil, key: key, value: value, headers: headers)
    {
      guard refusal.isQueueFull else { throw producer.error(of: refusal, topic: topic) }
      _ = producer.flush(timeoutMs: 50)
    }
  }

  /// Serves what librdkafka has to say; to be called now and then in a long run.
  public func serveEvents() { producer.serveEvents() }

  /// Waits until everything is acknowledged. Throws where a record was not, or could not be within
  /// `timeoutMs`.
  public func finish(timeoutMs: Int32) throws(KafkaError) {
    let isEmpty = producer.flush(timeoutMs: timeoutMs)
    if let fatal = producer.fatalError() { throw fatal }
    if producer.deliveryFailures > 0 { throw producer.lastDeliveryFailure }
    if !isEmpty { throw producer.notAcknowledged(timeoutMs: timeoutMs) }
  }

  public func close() { producer.close() }
}
