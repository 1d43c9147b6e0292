import Kafka
import Preferences
import Telemetry

/// The Kafka side of the preference service: what waits is published, what arrives is applied. Each
/// is a thread that waits for its broker as long as it takes.
final class PreferenceKafka: Sendable {
  let outbox: OutboxPublisher
  let intake: EventIntake

  /// Starts both.
  init(
    _ service: PreferenceService, _ configuration: ServeConfiguration, _ log: Logger
  ) throws(CommandFailure) {
    let gate = configuration.gate
    do throws(ConfigurationError) {
      outbox = try OutboxPublisher(
        service, properties: gate.kafkaProperties, topics: gate.topics, log: log,
        onEvent: kafkaEvents(to: log, client: "outbox"))
    } catch {
      throw CommandFailure(error)
    }
    do throws(ConfigurationError) {
      intake = try EventIntake(
        service, properties: gate.kafkaProperties, topics: gate.topics,
        settings: configuration.intake, log: log,
        onEvent: kafkaEvents(to: log, client: "event intake"))
    } catch {
      outbox.stop()
      throw CommandFailure(error)
    }
  }

  /// No more is taken in; what was handed to the broker is waited for.
  func stop() {
    intake.stop()
    outbox.stop()
  }
}
