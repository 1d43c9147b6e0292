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
  /// Nil: approvals carry no links.
  let links: LinkSettings?
  let readiness = PreferenceReadiness()
  let preferenceCounters = PreferenceCounters()
  /// By worker of the ordinary lane.
  let preferenceChanges: [PreferenceChanges]
  let optOuts: [OptOutNotes]

  init(_ configuration: GateConfiguration, log: Logger) throws(CommandFailure) {
    self.configuration = configuration
    self.log = log
    policy = try PolicyFile.read(configuration.policyFile)
    preferenceChanges = (0..<configuration.workers).map { _ in PreferenceChanges() }
    optOuts = (0..<configuration.workers).map { _ in OptOutNotes() }
    epochs = Epochs()
    zones = ZonePublisher(epochs: epochs)
    let key =
      if let file = configuration.hashKeyFile { try HashKeyFile.load(file) } else {
        HashKeyFile.random()
      }
    links = try configuration.links()
    preferences = PreferenceTable(hashKey: key, zones: zones, epochs: epochs)
  }

  var kafka: KafkaProperties { configuration.kafkaProperties }

  var topicNames: TopicNames { configuration.topics }

  func onKafkaEvent(_ who: String) -> KafkaEventHandler { kafkaEvents(to: log, client: who) }
}
