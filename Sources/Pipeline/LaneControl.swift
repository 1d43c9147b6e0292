import Synchronization

/// How a lane is told to end. Written by any thread, read by the lane once a turn.
public final class LaneControl: Sendable {
  public enum Request: UInt8, Sendable, Comparable {
    case none
    /// Commit what is open, leave the group, end.
    case drain
    /// Abort what is open, leave the group, end: what is decided now may be wrong.
    case discard
    /// End without waiting for any answer.
    case abandon

    public static func < (a: Request, b: Request) -> Bool { a.rawValue < b.rawValue }
  }

  private let requested = Atomic<UInt8>(Request.none.rawValue)
  private let stoppedAt = Atomic<Int64>(0)

  public init() {}

  public var request: Request { Request(rawValue: requested.load(ordering: .relaxed))! }

  /// Monotonic milliseconds at which the process was last found to have been stopped for longer than
  /// its group waits for it (a debugger, a frozen virtual machine); 0: never.
  public var stoppedAtMs: Int64 { stoppedAt.load(ordering: .relaxed) }

  public func noteStopped(atMs: Int64) { stoppedAt.store(atMs, ordering: .relaxed) }

  /// Asks; a weaker request never takes back a stronger one.
  public func ask(_ request: Request) {
    var seen = requested.load(ordering: .relaxed)
    while seen < request.rawValue {
      let (exchanged, original) = requested.weakCompareExchange(
        expected: seen, desired: request.rawValue, ordering: .relaxed)
      if exchanged { return }
      seen = original
    }
  }
}
