/// How much later than its window's end a hold leaves, so that 08:00 in a large zone is not one
/// instant: the same for a user every time, later only, never earlier, and before it expires
/// (requirements F5, X7).
public struct HoldSpread: Sendable {
  /// 0: all at once.
  public var spreadMs: Int64

  public init(spreadMs: Int64) {
    precondition(spreadMs >= 0)
    self.spreadMs = spreadMs
  }

  /// An instant in `notBeforeMs ..< notBeforeMs + spreadMs`, and before `expiresAtMs` where that is
  /// later than `notBeforeMs`. `place` is where the user stands in the spread.
  ///
  /// Two holds of a user that end together leave in their order, but where an expiry comes in between.
  public func dueMs(place: UInt32, notBeforeMs: Int64, expiresAtMs: Int64?) -> Int64 {
    let delay = Self.scaled(place, spreadMs)
    guard let expiresAtMs, notBeforeMs + delay >= expiresAtMs else { return notBeforeMs + delay }
    return notBeforeMs + Self.scaled(place, max(0, expiresAtMs - notBeforeMs))
  }

  /// Rounded down, so below `room` unless that is 0.
  private static func scaled(_ place: UInt32, _ room: Int64) -> Int64 {
    Int64((UInt64(place) << 32).multipliedFullWidth(by: UInt64(room)).high)
  }
}
