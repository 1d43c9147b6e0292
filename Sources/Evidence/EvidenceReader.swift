import Preferences

/// Answers from the index. Every method may be called from any thread and blocks its caller for a few
/// look-ups; each answer is of one instant.
public final class EvidenceReader: Sendable {
  /// Opens an index that is there and writes nothing to it. The one that `EvidenceIndex` gives needs
  /// no opening.
  public init(reading database: EvidenceDatabase) throws(StoreError) {}

  /// Nothing may be called afterwards.
  public func close() {}

  /// A user's attempts, newest first.
  ///
  /// - Parameter limit: at most so many.
  public func timeline(
    user: String, before: EvidenceCursor? = nil, limit: Int
  ) throws(StoreError) -> EvidencePage {
    EvidencePage(attempts: [], next: nil)
  }

  /// A device's attempts, of whatever user, newest first.
  public func device(
    _ id: String, before: EvidenceCursor? = nil, limit: Int
  ) throws(StoreError) -> EvidencePage {
    EvidencePage(attempts: [], next: nil)
  }

  /// Everything of a notification, at most `limit` records; nil where nothing is indexed.
  public func notification(
    _ id: String, limit: Int = 1000
  ) throws(StoreError) -> EvidenceNotification? {
    nil
  }

  /// Decisions by hour, outcome, category and reason, of the hours that begin in `fromMs ..< toMs`.
  /// Erasure and retention of single records leave these counts as they are.
  public func outcomes(fromMs: Int64, toMs: Int64) throws(StoreError) -> [OutcomeCount] { [] }

  /// Open holds by the hour in which they are due, those due in `fromMs ..< toMs`.
  public func holdsDue(fromMs: Int64, toMs: Int64) throws(StoreError) -> [HoldsDue] { [] }

  public func lag() throws(StoreError) -> EvidenceLag {
    EvidenceLag(freshAtMs: nil, recordsBehind: nil, newestMs: nil)
  }

  /// The newest runs, newest first.
  public func selfTests(limit: Int) throws(StoreError) -> [SelfTestRun] { [] }

  public func latestSelfTest() throws(StoreError) -> SelfTestRun? {
    try selfTests(limit: 1).first
  }
}
