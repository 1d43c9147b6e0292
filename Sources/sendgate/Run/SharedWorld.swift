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

  var kafka: Kafka.KafkaProperties {
    var properties = Kafka.KafkaProperties(
      Dictionary(uniqueKeysWithValues: configuration.kafkaProperties.map { ($0.name, $0.value) }))
    properties.setDefaults([
      ("client.id", "\(configuration.groupID).\(configuration.instanceID)"),
      ("client.software.name", "sendgate"),
      ("client.software.version", String(describing: GateVersion.text)),
    ])
    return properties
  }

  var topicNames: TopicNames { configuration.kafkaTopicNames }

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

extension GateConfiguration {
  /// The twelve names as the Kafka layer keeps them.
  var kafkaTopicNames: Kafka.TopicNames {
    var names = Kafka.TopicNames()
    names[.candidate] = topics.candidate
    names[.candidateSecurity] = topics.candidateSecurity
    names[.approved] = topics.approved
    names[.deferred] = topics.deferred
    names[.dropped] = topics.dropped
    names[.receipts] = topics.receipts
    names[.state] = topics.state
    names[.stateSecurity] = topics.stateSecurity
    names[.preferences] = topics.preferencesState
    names[.defaults] = topics.preferencesDefaults
    names[.preferenceEvents] = topics.preferencesEvents
    names[.audit] = topics.preferencesAudit
    return names
  }
}
