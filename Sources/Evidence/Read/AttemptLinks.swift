import Preferences

/// What belongs to an attempt and stands elsewhere: receipts, its hold, what came of it.
struct AttemptLinks {
  let connection: any SQLConnection

  /// Of one notification on one device: held on again and again, and sent again, it has a few.
  private static let siblingsMax = 200

  func linked(_ rows: [AttemptRow]) throws(SQLError) -> [EvidenceAttempt] {
    var linked: [EvidenceAttempt] = []
    linked.reserveCapacity(rows.count)
    for row in rows { linked.append(try link(EvidenceAttempt(row))) }
    return linked
  }

  private func link(_ attempt: EvidenceAttempt) throws(SQLError) -> EvidenceAttempt {
    guard let notification = attempt.notificationID, let device = attempt.deviceID else {
      return attempt
    }
    var linked = attempt
    linked.receipts = try receipts(attempt)
    guard attempt.outcome == .deferred || attempt.held != nil else { return linked }
    let siblings = try AttemptTable(connection: connection).ofNotification(
      notification, device: device, limit: Self.siblingsMax
    ).map(EvidenceAttempt.init).filter { $0.userID == attempt.userID }
    if let held = attempt.held {
      // The newest deferral before it: held on, each comes of the one before.
      linked.heldAs =
        siblings.last {
          $0.outcome == .deferred && $0.sequence != attempt.sequence && $0.atMs <= attempt.atMs
            && ($0.held?.decidedAtMs ?? $0.atMs) == held.decidedAtMs
        }?.sequence
    }
    if attempt.outcome == .deferred {
      let first = attempt.held?.decidedAtMs ?? attempt.atMs
      linked.releasedAs =
        siblings.first {
          $0.sequence != attempt.sequence && $0.atMs >= attempt.atMs
            && $0.held?.decidedAtMs == first
        }?.sequence
      linked.isOpenHold = try isOpen(attempt)
    }
    return linked
  }

  /// What was answered between this approval and the next of the same id, device and user. A receipt
  /// tells of what was sent, so it belongs to an approval and to the newest one before it: the same id
  /// may have been sent, and seen, before.
  private func receipts(_ attempt: EvidenceAttempt) throws(SQLError) -> [EvidenceReceipt] {
    guard attempt.outcome == .approved, let user = attempt.userID,
      let notification = attempt.notificationID, let device = attempt.deviceID
    else { return [] }
    let (isFirst, nextMs) = try AttemptTable(connection: connection).approvals(
      around: attempt.atMs, attempt.sequence, of: notification, user: user, device: device)
    let fromMs = isFirst ? attempt.atMs - ReceiptTable.toleranceMs : attempt.atMs
    return try ReceiptTable(connection: connection).ofNotification(
      notification, user: user, device: device, fromMs: fromMs, toMs: nextMs ?? .max,
      limit: Self.siblingsMax
    ).map(EvidenceReceipt.init).sorted { ($0.atMs, $0.sequence) < ($1.atMs, $1.sequence) }
  }

  private func isOpen(_ attempt: EvidenceAttempt) throws(SQLError) -> Bool {
    guard let user = attempt.userID, let notification = attempt.notificationID,
      let device = attempt.deviceID
    else { return false }
    return try connection.first(
      """
      SELECT 1 FROM holds_open WHERE user_id = $1 AND notification_id = $2 AND device_id = $3
        AND at_ms = $4
      """, [.text(user), .text(notification), .text(device), .integer(attempt.atMs)]
    ) { $0.integer(0) } != nil
  }
}
