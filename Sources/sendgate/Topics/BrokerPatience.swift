import Glibc
import Kafka
import Telemetry

/// Waits for a broker that is not there yet: `topics create` is often the first thing after it was
/// started.
struct BrokerPatience {
  /// How long in all, where `broker.wait.timeout.ms` says nothing: somebody sits in front of it.
  static let timeoutMsDefault = 30_000
  static let requestTimeoutMs: Int32 = 5_000
  private static let pauseUs: UInt32 = 200_000

  private let deadlineNs: Int64
  private let log: Logger

  init(_ configuration: GateConfiguration, _ log: Logger) {
    let timeoutMs = configuration.brokerWaitTimeoutMs ?? Self.timeoutMsDefault
    deadlineNs = SystemTime.monotonicNs() + Int64(timeoutMs) * 1_000_000
    self.log = log
  }

  /// Repeats what fails for a reason that passes by itself, until the time is up.
  func callAsFunction<Result>(
    _ body: () throws(KafkaError) -> Result
  ) throws(CommandFailure) -> Result {
    while true {
      do throws(KafkaError) {
        return try body()
      } catch {
        guard error.errorClass == .retriable, SystemTime.monotonicNs() < deadlineNs else {
          throw CommandFailure(ExitCode.unavailable, "\(error)")
        }
        log.info("Waiting for the broker.", ["kafka.error": "\(error)"])
        usleep(Self.pauseUs)
      }
    }
  }
}

extension CommandFailure {
  /// A property that librdkafka refuses, named as the configuration names it.
  init(_ error: ConfigurationError) {
    let prefix = error.key == nil ? "" : KafkaKeys.prefix
    self.init(ExitCode.configuration, "\(prefix)\(error)")
  }
}

/// Opens an admin client for the length of `body`.
func withAdmin<Result>(
  _ configuration: GateConfiguration, _ log: Logger,
  _ body: (KafkaAdmin) throws(CommandFailure) -> Result
) throws(CommandFailure) -> Result {
  let admin: KafkaAdmin
  do throws(ConfigurationError) {
    admin = try KafkaAdmin(
      properties: configuration.kafkaProperties, onEvent: kafkaEvents(to: log, client: "admin"))
  } catch {
    throw CommandFailure(error)
  }
  defer { admin.close() }
  return try body(admin)
}
