import Kafka
import Telemetry

/// librdkafka's own news as log lines.
/// - Parameter client: whose, for people: `ordinary lane consumer`.
func kafkaEvents(to log: Logger, client: String) -> KafkaEventHandler {
  { event in
    switch event {
    case .log(_, "CONFWARN", _):
      // One set of properties serves consumers and producers; each hears of the other's.
      break
    case .log(let level, let facility, let message):
      // Syslog's levels: 3 and below are errors, 4 and 5 worth a look, 6 and 7 detail.
      log.log(
        level <= 3 ? .error : level <= 5 ? .warning : .debug, "librdkafka reports.",
        [
          "kafka.client": .string(client), "kafka.facility": .string(facility),
          "kafka.message": .string(message),
        ])
    case .error(_, let name, let reason):
      log.warning(
        "librdkafka has trouble and goes on trying.",
        [
          "kafka.client": .string(client), "kafka.error": .string(name),
          "kafka.reason": .string(reason),
        ])
    case .statistics: break
    }
  }
}
