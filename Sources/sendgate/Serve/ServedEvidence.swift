import Evidence
import Kafka
import Preferences
import Telemetry
import Web

/// The evidence index as a part of `serve`.
enum ServedEvidence {
  /// Nil where none is configured.
  static func open(
    _ configuration: EvidenceConfiguration
  ) throws(CommandFailure) -> EvidenceIndex? {
    guard let database = configuration.database else { return nil }
    do throws(StoreError) {
      return try EvidenceIndex(database, settings: configuration.index)
    } catch {
      throw CommandFailure(OpenStore.exitCode(error), "evidence.database: \(error)")
    }
  }

  static func start(
    _ index: EvidenceIndex, _ gate: GateConfiguration, _ log: Logger
  ) throws(CommandFailure) {
    do throws(ConfigurationError) {
      try index.start(
        properties: gate.kafkaProperties, topics: gate.topics, log: log,
        onEvent: kafkaEvents(to: log, client: "evidence index"))
    } catch {
      throw CommandFailure(error)
    }
  }

  /// No problem however far it is behind: preferences are served all the same. What it says is for
  /// whoever looks.
  static func check(_ index: EvidenceIndex) -> ReadinessCheck {
    let counters = index.counters
    let behind = counters.recordsBehind.map { "\($0) records behind" } ?? "nothing read yet"
    let fresh = counters.freshAtMs.map {
      "everything up to \(max(0, SystemTime.wallClockMs() - $0) / 1000) s ago is indexed"
    }
    return ReadinessCheck(
      name: "evidence (\(behind), \(fresh ?? "never read to the end"))")
  }
}
