import Gate
import Preferences
import Synchronization

@testable import Evidence
@testable import Web

/// An index of evidence in memory, for pages to be written against: no topic, no table.
final class MemoryEvidence: EvidenceSource {
  struct Content: Sendable {
    /// In any order.
    var attempts: [EvidenceAttempt] = []
    var otherReceipts: [EvidenceReceipt] = []
    var outcomes: [OutcomeCount] = []
    var holds: [HoldsDue] = []
    var lag = EvidenceLag(freshAtMs: nil, recordsBehind: nil, newestMs: nil)
    var selfTests: [SelfTestRun] = []
    var failure: StoreError?
  }

  private let content = Mutex(Content())

  func set(_ change: (inout Content) -> Void) { content.withLock { change(&$0) } }

  private func read() throws(StoreError) -> Content {
    let now = content.withLock { $0 }
    if let failure = now.failure { throw failure }
    return now
  }

  func timeline(
    user: String, before: EvidenceCursor?, limit: Int
  ) throws(StoreError) -> EvidencePage {
    Self.page(try read().attempts.filter { $0.userID == user }, before, limit)
  }

  func device(
    _ id: String, before: EvidenceCursor?, limit: Int
  ) throws(StoreError) -> EvidencePage {
    Self.page(try read().attempts.filter { $0.deviceID == id }, before, limit)
  }

  func notification(
    _ id: String, user: String?, limit: Int
  ) throws(StoreError) -> EvidenceNotification? {
    let now = try read()
    let attempts = now.attempts
      .filter { $0.notificationID == id && (user == nil || $0.userID == user) }
      .sorted { ($0.atMs, $0.sequence) < ($1.atMs, $1.sequence) }
    let others = now.otherReceipts.filter { $0.notificationID == id }
    guard !attempts.isEmpty || !others.isEmpty else { return nil }
    return EvidenceNotification(
      attempts: Array(attempts.prefix(limit)), otherReceipts: others)
  }

  func outcomes(fromMs: Int64, toMs: Int64) throws(StoreError) -> [OutcomeCount] {
    try read().outcomes.filter { (fromMs..<toMs).contains($0.hourMs) }
  }

  func holdsDue(fromMs: Int64, toMs: Int64) throws(StoreError) -> [HoldsDue] {
    try read().holds.filter { (fromMs..<toMs).contains($0.hourMs) }
  }

  func lag() throws(StoreError) -> EvidenceLag { try read().lag }

  func selfTests(limit: Int) throws(StoreError) -> [SelfTestRun] {
    Array(try read().selfTests.prefix(limit))
  }

  private static func page(
    _ attempts: [EvidenceAttempt], _ before: EvidenceCursor?, _ limit: Int
  ) -> EvidencePage {
    let sorted = attempts.sorted { ($0.atMs, $0.sequence) > ($1.atMs, $1.sequence) }
      .filter { one in
        before.map { (one.atMs, one.sequence) < ($0.atMs, $0.sequence) } ?? true
      }
    let shown = Array(sorted.prefix(limit))
    let next =
      sorted.count > limit
      ? EvidenceCursor(atMs: shown.last!.atMs, sequence: shown.last!.sequence) : nil
    return EvidencePage(attempts: shown, next: next)
  }
}

extension EvidenceAttempt {
  /// A dropped one; what a test is about it sets.
  static func made(
    _ sequence: Int64, _ outcome: Outcome = .dropped, reason: String = "account_opted_out",
    notification: String? = "n-1", user: String? = "u-1", device: String? = "d-1", atMs: Int64
  ) -> EvidenceAttempt {
    EvidenceAttempt(
      sequence: sequence,
      place: EvidencePlace(topic: "notifications.\(outcome.rawValue)", partition: 3, offset: 7),
      outcome: outcome, isSelfTest: false, isUnreadable: false, atMs: atMs, userID: user,
      notificationID: notification, deviceID: device, category: "marketing", subtype: nil,
      event: "promotion", reason: reason, blockedBy: outcome == .dropped ? [reason] : [],
      versions: EvidenceVersions(), values: EvidenceValues(),
      approval: outcome == .approved ? EvidenceApproval() : nil, deliverAfterMs: nil, held: nil,
      supersededBy: nil, cap: nil, detail: nil, detailMember: nil, record: [])
  }

  func with(_ change: (inout EvidenceAttempt) -> Void) -> EvidenceAttempt {
    var copy = self
    change(&copy)
    return copy
  }
}

extension EvidenceReceipt {
  static func made(
    _ kind: Kind, atMs: Int64, provider: String? = "apns", code: String? = nil,
    via: String? = nil, notification: String = "n-1", device: String? = "d-1"
  ) -> EvidenceReceipt {
    EvidenceReceipt(
      sequence: 1,
      place: EvidencePlace(topic: "notifications.receipts", partition: 0, offset: 1), kind: kind,
      atMs: atMs, userID: "u-1", notificationID: notification, deviceID: device,
      provider: kind == .userObserved ? nil : provider, code: code, via: via, record: [])
  }
}
