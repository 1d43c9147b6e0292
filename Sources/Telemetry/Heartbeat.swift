import Synchronization

/// When a loop last went round. The loop beats, `/livez` looks: a loop that hangs in a call it should
/// have left long ago is found although its process is alive.
public final class Heartbeat: Sendable {
  /// What beats, for people: `ordinary lane`.
  public let name: String
  /// The longest a healthy loop takes between two beats, milliseconds.
  public let intervalMsMax: Int64
  private let lastNs: Atomic<Int64>

  /// Beats once, so that a loop is alive until it has had the time to prove it.
  public init(name: String, intervalMsMax: Int64) {
    self.name = name
    self.intervalMsMax = intervalMsMax
    lastNs = Atomic(SystemTime.monotonicNs())
  }

  public func beat() { beat(nowNs: SystemTime.monotonicNs()) }

  public func beat(nowNs: Int64) { lastNs.store(nowNs, ordering: .relaxed) }

  /// Milliseconds since the last beat; never below zero, though another core's clock may be ahead.
  public func ageMs(nowNs: Int64 = SystemTime.monotonicNs()) -> Int64 {
    max(0, (nowNs - lastNs.load(ordering: .relaxed)) / 1_000_000)
  }
}
