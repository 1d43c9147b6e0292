import Consumer
import Gate
import Kafka
import Pipeline
import Telemetry

/// What every thread of the gate shares: made at start, each part safe to use from any thread.
struct SharedWorld: Sendable {
  let configuration: GateConfiguration
  let log: Logger
  let policy: Policy
  let epochs: Epochs
  let zones: ZonePublisher
  let preferences: PreferenceTable
  let readiness = PreferenceReadiness()
  let preferenceCounters = PreferenceCounters()

  init(_ configuration: GateConfiguration, log: Logger) throws(CommandFailure) {
    self.configuration = configuration
    self.log = log
    policy = try PolicyFile.read(configuration.policyFile)
    epochs = Epochs()
    zones = ZonePublisher(epochs: epochs)
    let key =
      if let file = configuration.hashKeyFile { try HashKeyFile.load(file) } else {
        HashKeyFile.random()
      }
    preferences = PreferenceTable(hashKey: key, zones: zones, epochs: epochs)
  }

  var kafka: KafkaProperties {
    var properties = configuration.kafkaProperties
    properties.setDefaults([
      ("client.id", "\(configuration.groupID).\(configuration.instanceID)"),
      ("client.software.name", "sendgate"),
      ("client.software.version", String(describing: GateVersion.text)),
    ])
    return properties
  }

  var topicNames: TopicNames { configuration.topics }

  /// librdkafka's own log lines and errors, as lines of ours.
  func onKafkaEvent(_ who: String) -> KafkaEventHandler {
    { [log] event in
      switch event {
      case .log(_, let facility, _) where facility == "CONFWARN":
        // One set of properties serves consumers and producers; each hears of the other's.
        break
      case .log(let level, let facility, let message):
        log.log(
          level <= 3 ? .error : level <= 5 ? .warning : .debug, "librdkafka says",
          ["kafka.client": .string(who), "kafka.facility": .string(facility),
            "kafka.message": .string(message)])
      case .error(_, let name, let reason):
        log.warning(
          "Kafka reports an error; it is retried",
          ["kafka.client": .string(who), "kafka.error": .string(name),
            "kafka.reason": .string(reason)])
      case .statistics: break
      }
    }
  }
}
