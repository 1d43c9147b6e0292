import Synchronization

/// What stands in a lane's way from outside: written by the lane, read by whoever asks whether it is
/// ready, or whether it is through.
public final class LaneHealth: Sendable {
  /// How reading its candidates goes.
  public struct Reading: Sendable, Equatable {
    /// Owned partitions of which nothing came yet, or that cannot be read.
    public var unread = 0
    /// Owned partitions of which not everything is decided that can be read.
    public var behind = 0
    /// Owned partitions with input before them and no progress.
    public var stalled = 0
    /// In words, with what to do; nil where all is well, or paused.
    public var problem: String?

    public init() {}
  }

  private struct State {
    var reading = Reading()
    /// Why the group does not let the lane in, and when it said so.
    var group: (reason: String, atMs: Int64)?
    /// Why the lane's state topic cannot be read.
    var state: String?
    /// What the lane waits for, as it last said.
    var waiting: String?
  }

  private let state = Mutex(State())

  public init() {}

  public var reading: Reading { state.withLock { $0.reading } }
  public var waiting: String? { state.withLock { $0.waiting } }

  /// The group refuses to be joined. Heard once or again and again, and never taken back: it counts
  /// for a while, and for as long as the lane has no partition.
  public func groupProblem(ownsPartitions: Bool, nowMs: Int64) -> String? {
    state.withLock { state in
      guard let group = state.group else { return nil }
      return !ownsPartitions || nowMs - group.atMs < Self.groupProblemMs ? group.reason : nil
    }
  }

  /// Of the state topic; counts while there is something to restore.
  public var stateProblem: String? { state.withLock { $0.state } }

  private static let groupProblemMs: Int64 = 30_000

  public func set(_ reading: Reading) { state.withLock { $0.reading = reading } }
  public func groupRefuses(_ reason: String, atMs: Int64) {
    state.withLock { $0.group = (reason, atMs) }
  }
  public func groupLetsIn() { state.withLock { $0.group = nil } }
  public func setStateProblem(_ problem: String?) { state.withLock { $0.state = problem } }
  public func isWaiting(for reason: String) { state.withLock { $0.waiting = reason } }
}
