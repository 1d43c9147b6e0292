import Evidence
import Gate
import Preferences

/// What the console, `/v1/evidence` and `sendgate explain` ask: the store of preferences, the index
/// of evidence and the gate's own rules, put together. Every method blocks for a few look-ups.
public struct SupportDesk: Sendable {
  static let pageAttempts = 60
  static let pageAttemptsMax = 500
  static let pageChanges = 200
  private static let hourMs: Int64 = 3_600_000

  let service: PreferenceService
  /// Nil: no index is kept.
  let evidence: (any EvidenceSource)?
  let panel: NowPanel
  public let quietMap: QuietMap
  let nowMs: @Sendable () -> Int64

  public init(
    service: PreferenceService, evidence: (any EvidenceSource)?, panel: NowPanel,
    quietMap: QuietMap, nowMs: @escaping @Sendable () -> Int64
  ) {
    self.service = service
    self.evidence = evidence
    self.panel = panel
    self.quietMap = quietMap
    self.nowMs = nowMs
  }

  // MARK: Stories

  /// A user's page. Nil where nothing at all is known under this id.
  ///
  /// - Parameters:
  ///   - before: where the page behind the newest begins.
  ///   - untilMs: what changed from then on was shown on the page before.
  func user(
    _ id: Identifier, before: EvidenceCursor? = nil, untilMs: Int64 = .max,
    limit: Int = pageAttempts
  ) throws(StoreError) -> UserStory? {
    let user = try service.user(id)
    let page = try evidence?.timeline(user: id.text, before: before, limit: limit)
    guard user != nil || before != nil || page?.attempts.isEmpty == false else { return nil }
    var attempts = page?.attempts ?? []
    var next = page?.next
    var fromMs = next == nil ? Int64.min : attempts.last?.atMs ?? Int64.min
    var changes = try service.recentAudit(
      of: id, recordedFromMs: fromMs, toMs: untilMs, limit: Self.pageChanges + 1)
    // The page ends at whichever is too many first, decisions or changes: none is left out unseen.
    if changes.count > Self.pageChanges {
      let cutMs = changes.removeLast().recordedAtMs
      let shown = changes.filter { $0.recordedAtMs > cutMs }
      if !shown.isEmpty { changes = shown }
      attempts = attempts.filter { $0.atMs > cutMs }
      fromMs = cutMs + 1
      next = EvidenceCursor("\(fromMs)-0") ?? next
    }
    return UserStory(
      userID: id, preferences: user, now: try now(id, user),
      timeline: Timeline(attempts, changes), next: next, nextUntilMs: fromMs,
      isFirstPage: before == nil, index: try state())
  }

  func now(_ id: Identifier, _ user: UserPreferences?) throws(StoreError) -> NowAnswer {
    panel.ask(id, user, defaults: try service.defaults())
  }

  /// - Parameter user: only what was decided of this one.
  func notification(
    _ id: String, user: String? = nil
  ) throws(StoreError) -> NotificationStory? {
    guard
      let found = try evidence?.notification(id, user: user, limit: Self.pageAttemptsMax)
    else { return nil }
    return NotificationStory(
      notificationID: id, attempts: found.attempts, otherReceipts: found.otherReceipts,
      isWhole: found.attempts.count < Self.pageAttemptsMax, index: try state())
  }

  /// Nil where nothing is known under this id.
  func device(
    _ id: String, before: EvidenceCursor? = nil, limit: Int = pageAttempts
  ) throws(StoreError) -> DeviceStory? {
    let holder = try service.holder(of: Identifier(id))
    let page = try evidence?.device(id, before: before, limit: limit)
    guard holder != nil || before != nil || page?.attempts.isEmpty == false else { return nil }
    return DeviceStory(
      deviceID: id, holder: holder, timeline: Timeline(page?.attempts ?? [], []),
      next: page?.next, isFirstPage: before == nil, index: try state())
  }

  // MARK: Search

  enum Match: Sendable, Equatable {
    case user, notification, device
  }

  /// What an id is the id of; nothing where it is none.
  func find(_ id: String) throws(StoreError) -> [Match] {
    let identifier = Identifier(id)
    var found: [Match] = []
    if try service.user(identifier) != nil {
      found.append(.user)
    } else if let page = try evidence?.timeline(user: id, before: nil, limit: 1),
      !page.attempts.isEmpty
    {
      found.append(.user)
    }
    if try evidence?.notification(id, user: nil, limit: 1) != nil { found.append(.notification) }
    if try service.holder(of: identifier) != nil {
      found.append(.device)
    } else if let page = try evidence?.device(id, before: nil, limit: 1), !page.attempts.isEmpty {
      found.append(.device)
    }
    return found
  }

  // MARK: Figures

  func outcomes(hours: Int) throws(StoreError) -> OutcomeFigures {
    let end = (nowMs() / Self.hourMs + 1) * Self.hourMs
    let from = end - Int64(hours) * Self.hourMs
    return OutcomeFigures(
      fromMs: from, hours: hours,
      counts: try evidence?.outcomes(fromMs: from, toMs: end) ?? [])
  }

  /// Of the coming day, hour by hour; the first is the one that is under way.
  func holdsDue() throws(StoreError) -> HoldFigures {
    let from = nowMs() / Self.hourMs * Self.hourMs
    let to = from + 24 * Self.hourMs
    var counts = Array(repeating: Int64(0), count: 24)
    for due in try evidence?.holdsDue(fromMs: from, toMs: to) ?? []
    where (from..<to).contains(due.hourMs) {
      counts[Int((due.hourMs - from) / Self.hourMs)] += due.count
    }
    return HoldFigures(fromMs: from, counts: counts)
  }

  func selfTests(limit: Int) throws(StoreError) -> [SelfTestRun] {
    try evidence?.selfTests(limit: limit) ?? []
  }

  func state() throws(StoreError) -> IndexState? {
    guard let evidence else { return nil }
    return IndexState(
      lag: try evidence.lag(), newestSelfTest: try evidence.selfTests(limit: 1).first)
  }
}

/// How far the index is, and what the newest self-test said.
struct IndexState: Sendable, Equatable {
  var lag: EvidenceLag
  var newestSelfTest: SelfTestRun?

  /// How far it is is written about every two seconds; twice that is slack, and more is not.
  private static let slackMs: Int64 = 5_000

  /// Everything is in but what came within the last seconds.
  func isFresh(_ nowMs: Int64) -> Bool {
    guard let freshAtMs = lag.freshAtMs else { return false }
    return nowMs - freshAtMs < Self.slackMs
  }

  /// What is not shown yet, in words; nil where nothing is.
  func behind(_ nowMs: Int64, _ words: ConsoleWords) -> String? {
    guard !isFresh(nowMs) else { return nil }
    guard let freshAtMs = lag.freshAtMs else { return words[FramePhrase.behindUnknown] }
    let time = ConsoleContext.utc(freshAtMs)
    // None were missing when last asked, and since then nobody has answered.
    guard let records = lag.recordsBehind, records > 0 else {
      return words[FramePhrase.behindUnanswered, ("time", time)]
    }
    return words[FramePhrase.behind, ("records", "\(records)"), ("time", time)]
  }
}
