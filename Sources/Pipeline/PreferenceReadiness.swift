import Synchronization

/// How far the preferences are, between the one thread that reads them and the lanes. Monotonic
/// milliseconds throughout.
public final class PreferenceReadiness: Sendable {
  private let isReadyFlag = Atomic<Bool>(false)
  private let freshAt = Atomic<Int64>(0)

  public init() {}

  /// Every needed partition has been read to its end as seen at start. Never taken back.
  public var isReady: Bool {
    // Pairs with the release below: a lane that sees it also sees the table's entries.
    isReadyFlag.load(ordering: .acquiring)
  }

  /// The last instant at which everything written until then was known to be read.
  public var freshAtMs: Int64 { freshAt.load(ordering: .relaxed) }

  public func becomeReady() { isReadyFlag.store(true, ordering: .releasing) }

  public func setFresh(atMs: Int64) { freshAt.store(atMs, ordering: .relaxed) }

  /// Milliseconds the preferences may be behind.
  public func behindMs(nowMs: Int64) -> Int64 { max(0, nowMs - freshAtMs) }

  /// Whether a lane may decide; `staleMsMax` nil: however old they are, once they are ready.
  public func mayDecide(nowMs: Int64, staleMsMax: Int64?) -> Bool {
    guard isReady else { return false }
    guard let staleMsMax else { return true }
    return behindMs(nowMs: nowMs) <= staleMsMax
  }
}
