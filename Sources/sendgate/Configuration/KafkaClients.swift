import Consumer
import Gate
import Kafka
import Preferences
import Producer

/// The properties of every Kafka client that `run` and `serve` open, in one place, and their check at start: a
/// value that one of them refuses is a mistake of the configuration, and must not come to light as the
/// end of a lane.
enum KafkaClients {
  static func groupID(_ configuration: GateConfiguration, _ lane: Lane) -> String {
    lane == .security ? "\(configuration.groupID).security" : configuration.groupID
  }

  /// - Parameter chosen: called once with how the fetch stall was avoided.
  static func candidates(
    _ configuration: GateConfiguration, _ lane: Lane, chosen: (String) -> Void = { _ in }
  ) throws(ConfigurationError) -> KafkaProperties {
    try LaneConsumerProperties.make(
      configuration.kafkaProperties, groupID: groupID(configuration, lane),
      // A code for logging in is worth nothing after 45 s, and this lane has little to read back.
      sessionTimeoutMs: lane == .security ? 10_000 : nil, chosen: chosen)
  }

  static func outputs(
    _ configuration: GateConfiguration, _ lane: Lane, worker: Int
  ) throws(ConfigurationError) -> KafkaProperties {
    let transactionalID =
      configuration.delivery == .exactlyOnce
      ? OutputProducerProperties.transactionalID(
        group: configuration.groupID, instance: configuration.instanceID, lane: lane,
        worker: worker) : nil
    return try OutputProducerProperties.make(
      configuration.kafkaProperties, transactionalID: transactionalID,
      transactionTimeoutMs: Int64(configuration.transactionTimeoutMs),
      lingerMs: lane == .security ? 1 : 5)
  }

  /// Opens one client of each kind. No group is joined and no transaction begun.
  static func check(_ configuration: GateConfiguration) throws(CommandFailure) {
    do throws(ConfigurationError) {
      try candidates(configuration, .ordinary).check(.consumer)
      try outputs(configuration, .ordinary, worker: 0).check(.producer)
      try StateTopic.properties(configuration.kafkaProperties).check(.consumer)
      try DeferredTopic.properties(configuration.kafkaProperties).check(.consumer)
      try ReceiptTopic.properties(
        configuration.kafkaProperties, groupID: groupID(configuration, .ordinary)
      ).check(.consumer)
      try PreferenceFollower.properties(configuration.kafkaProperties).check(.consumer)
      try configuration.kafkaProperties.check(.producer)
    } catch {
      throw CommandFailure(error)
    }
  }

  /// The clients of `serve`, in the same way.
  static func checkService(_ configuration: GateConfiguration) throws(CommandFailure) {
    do throws(ConfigurationError) {
      try OutboxPublisher.properties(configuration.kafkaProperties).check(.producer)
      try EventIntake.properties(configuration.kafkaProperties).check(.consumer)
    } catch {
      throw CommandFailure(error)
    }
  }
}
