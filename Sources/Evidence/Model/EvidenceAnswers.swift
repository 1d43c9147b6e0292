/// Where a page ends, and the next begins. Opaque but for `text`, which stands in links.
public struct EvidenceCursor: Sendable, Equatable {
  var atMs: Int64
  var sequence: Int64

  init(atMs: Int64, sequence: Int64) {
    self.atMs = atMs
    self.sequence = sequence
  }

  /// Digits and a dash.
  public var text: String { "\(atMs)-\(sequence)" }

  /// Nil where it is none.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let atMs = Int64(parts[0]), let sequence = Int64(parts[1]) else {
      return nil
    }
    self.init(atMs: atMs, sequence: sequence)
  }
}

/// Some attempts, newest first.
public struct EvidencePage: Sendable, Equatable {
  public var attempts: [EvidenceAttempt]
  /// Where to go on; nil: there are no older ones.
  public var next: EvidenceCursor?
}

/// Everything of one `notification_id`, oldest first.
public struct EvidenceNotification: Sendable, Equatable {
  public var attempts: [EvidenceAttempt]
  /// Receipts that belong to no approval that is indexed: none is of their user and device, or those
  /// were decided later.
  public var otherReceipts: [EvidenceReceipt]
}

/// How many decisions of one kind there were in one hour.
public struct OutcomeCount: Sendable, Equatable {
  /// The hour's beginning, milliseconds since the epoch, UTC.
  public var hourMs: Int64
  public var outcome: EvidenceAttempt.Outcome
  /// One of the four, or `other`.
  public var category: String
  /// A reason code, or `other`.
  public var reason: String
  public var count: Int64

  public init(
    hourMs: Int64, outcome: EvidenceAttempt.Outcome, category: String, reason: String, count: Int64
  ) {
    self.hourMs = hourMs
    self.outcome = outcome
    self.category = category
    self.reason = reason
    self.count = count
  }
}

/// How many holds are due in one hour.
public struct HoldsDue: Sendable, Equatable {
  public var hourMs: Int64
  public var count: Int64

  public init(hourMs: Int64, count: Int64) {
    self.hourMs = hourMs
    self.count = count
  }
}

/// How far the index is behind the gate. Written by whoever indexes, about every two seconds: of an
/// index that has stopped, `freshAtMs` stays where it was.
public struct EvidenceLag: Sendable, Equatable {
  /// Everything that was on the topics at this instant is indexed; nil: that was never so.
  public var freshAtMs: Int64?
  /// Offsets that are not indexed, of all partitions, when last asked; nil: never asked.
  public var recordsBehind: Int64?
  /// The newest `decided_at` or receipt that is indexed; nil: nothing is.
  public var newestMs: Int64?

  public init(freshAtMs: Int64?, recordsBehind: Int64?, newestMs: Int64?) {
    self.freshAtMs = freshAtMs
    self.recordsBehind = recordsBehind
    self.newestMs = newestMs
  }
}

/// One run of the self-test (requirements E2).
public struct SelfTestRun: Sendable, Equatable {
  public enum Outcome: String, Sendable, CaseIterable { case passed, failed }

  public var atMs: Int64
  /// Of the release that ran it.
  public var version: String
  public var outcome: Outcome
  /// One JSON object, the self-test's own.
  public var report: String

  public init(atMs: Int64, version: String, outcome: Outcome, report: String) {
    self.atMs = atMs
    self.version = version
    self.outcome = outcome
    self.report = report
  }
}
