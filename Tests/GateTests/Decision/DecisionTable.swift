@testable import Gate

/// The decision table written down a second time, row by row, from its words: slow, and nothing of
/// the gate's code in it.
enum DecisionTable {
  typealias Row = (reason: Reason, holds: @Sendable (Situation) -> Bool)

  /// Rows 6 to 13, in order: those that drop.
  static let dropping: [Row] = [
    (.duplicate, { $0.isDuplicate }),
    (.suppressedLegalHold, { $0.suppression == .legalHold }),
    (.suppressedAbuseHold, { $0.suppression == .abuseHold && $0.category != .security }),
    (.suppressedBounced, { $0.suppression == .bounced }),
    (
      .noGdprConsent,
      { $0.category == .marketing && $0.isRegulated && !hasConsent($0) && !isOff($0) }
    ),
    (.accountOptedOut, { $0.account == .userOff && !passesChoice($0) }),
    (.deviceOptedOut, { $0.device == .userOff && !passesChoice($0) }),
    (.subtypeMuted, { $0.isMuted && $0.category != .security && !passesChoice($0) }),
    (
      .categoryDefaultOff,
      { !isOff($0) && !isChosen($0) && !$0.isDefaultOn && !passesChoice($0) }
    ),
    (.osPermissionDenied, { $0.permission == .denied }),
    (.tokenRevoked, { $0.token == .revoked }),
    (.tokenExpired, { $0.token == .expired }),
    (.quietHoursDropped, { isDroppedByWindow($0) }),
    (
      .expiresInQuietHours,
      { isDeferrable($0) && $0.expiry != .never && $0.expiry != .justAfter }
    ),
  ]

  static func isOff(_ s: Situation) -> Bool { s.account == .userOff || s.device == .userOff }
  static func isChosen(_ s: Situation) -> Bool { s.account == .userOn || s.device == .userOn }
  static func isEffective(_ s: Situation) -> Bool {
    !isOff(s) && (isChosen(s) || s.isDefaultOn)
  }
  static func hasConsent(_ s: Situation) -> Bool { isChosen(s) && s.consent == .dated }
  static func passesChoice(_ s: Situation) -> Bool { s.bypass == .choice || s.bypass == .both }
  static func passesQuiet(_ s: Situation) -> Bool { s.bypass == .quiet || s.bypass == .both }
  static func isInside(_ s: Situation) -> Bool { s.window == .inside || s.window == .endless }

  static func isDroppedByWindow(_ s: Situation) -> Bool {
    guard s.rule != .bypass, !passesQuiet(s) else { return false }
    return s.window == .invalid ? s.dropsOnInvalidWindow : isInside(s) && s.rule == .drop
  }

  static func isDeferrable(_ s: Situation) -> Bool {
    isInside(s) && s.rule == .defer && !passesQuiet(s)
  }

  struct Answer: Equatable {
    var outcome: Outcome
    var reason: Reason
    var blockedBy: [Reason]
    var deliverAfterMs: Int64?
    var sendBeforeMs: Int64?
    var interruption: Interruption?
  }

  static func answer(_ s: Situation) -> Answer {
    let blockedBy = dropping.filter { $0.holds(s) }.map(\.reason)
    if let first = blockedBy.first {
      return Answer(outcome: .dropped, reason: first, blockedBy: blockedBy)
    }
    if isDeferrable(s) {
      return Answer(
        outcome: .deferred, reason: .quietHoursDeferred, blockedBy: [],
        deliverAfterMs: s.heldUntilMs)
    }
    return Answer(
      outcome: .approved, reason: isInside(s) ? .quietHoursBypassed : .ok, blockedBy: [],
      sendBeforeMs: sendBefore(s),
      interruption: s.permission == .provisional
        ? .passive : s.category == .security ? .timeSensitive : .active)
  }

  private static func sendBefore(_ s: Situation) -> Int64? {
    let bound = s.window == .outside && s.rule != .bypass && !passesQuiet(s)
    return [s.expiresAtMs, bound ? Situation.outsideStartsMs : nil].compactMap { $0 }.min()
  }
}
