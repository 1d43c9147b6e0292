import Consumer
import Kafka
import Producer

/// What a dispatcher's sessions have in common.
struct DispatchSettings {
  let kafka: KafkaProperties
  let groupID: String
  let approvals: String
  let receipts: String
  let consumer: KafkaProperties
  let producer: KafkaProperties
  let commitIntervalMs: Int64
  let transactionTimeoutMs: Int64
  let provider: StubProvider

  init(_ configuration: GateConfiguration, _ provider: StubProvider) throws(ConfigurationError) {
    self.provider = provider
    kafka = configuration.kafkaProperties
    approvals = configuration.topics[.approved]
    receipts = configuration.topics[.receipts]
    // Its own group beside the gate's: two dispatchers of one gate share the work.
    groupID = "\(configuration.groupID).dispatch"
    commitIntervalMs = Int64(configuration.commitIntervalMs)
    transactionTimeoutMs = Int64(configuration.transactionTimeoutMs)
    var reading = kafka
    // All partitions change hands at once; what the gate prefers keeps some, for restores that take
    // longer than this one's.
    reading["partition.assignment.strategy"] = "range"
    consumer = try LaneConsumerProperties.make(reading, groupID: groupID) { _ in }
    producer = try OutputProducerProperties.make(
      kafka, transactionalID: "\(groupID).\(configuration.instanceID)",
      transactionTimeoutMs: transactionTimeoutMs)
  }
}
