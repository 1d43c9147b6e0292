/// What waits on the deferred topic, as row 6 asks for it: what is held still was let through, however
/// long ago. Without it a hold that is overdue past the horizon, because the gate was down or its
/// provider's tokens were short, would be replaced by a repeat of its id, and its candidate never end.
///
/// Two questions, so that a candidate of a user who has no hold costs one look-up by a hash that is known.
public protocol PendingHolds: AnyObject {
  /// Whether there may be holds of the user in a partition.
  /// - Parameter user: `HoldIdentity.user`.
  func hasHolds(of user: UInt64, in partition: Int32) -> Bool

  /// Whether this one is held, by all that was decided so far, the open transaction included.
  func isHeld(_ hold: HoldIdentity, in partition: Int32) -> Bool
}
