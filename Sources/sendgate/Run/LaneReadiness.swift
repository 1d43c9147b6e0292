import Pipeline

/// Why a running lane is not ready, from what it tells of itself.
enum LaneReadiness {
  /// A lane that has not gone round for so long is inside a step that does not succeed.
  static let turnMsMax: Int64 = 15_000
  /// How long the group may take to say which partitions a new lane has. Ready before that, it would be
  /// unready again when they come, and whoever sends traffic by readiness would see a lane that flaps;
  /// a lane that waits for longer has none, as where there are more workers than partitions.
  static let groupMsMax: Int64 = 10_000

  /// Nil: it is ready.
  /// - Parameter obstacle: what must be granted or mended outside, where that is known.
  static func problem(
    _ counters: LoopCounters, _ health: LaneHealth, obstacle: String?, nowMs: Int64
  ) -> String? {
    let turnedAtMs = counters[.turnAtMs]
    let waiting = health.waiting.map { ": \($0)" } ?? ""
    if turnedAtMs == 0 { return "making its producer" + waiting }
    if nowMs - turnedAtMs > turnMsMax {
      return "waiting for \((nowMs - turnedAtMs) / 1_000) s" + waiting
    }
    if let obstacle { return obstacle }
    if counters[.isPaused] != 0 { return "paused: the preferences are not up to date" }
    let unstarted = counters[.unstartedPartitions]
    if unstarted > 0 { return "finding out where \(unstarted) partitions begin" }
    if counters[.rebalances] == 0, nowMs - counters[.firstTurnAtMs] < groupMsMax {
      return "waiting for its group to say which partitions it has"
    }
    let restoring = counters[.restoringPartitions]
    if restoring > 0 { return "reading back the state of \(restoring) partitions" }
    return health.reading.problem
  }
}
