/// What a lane reports, once per occurrence and never per record.
public enum LoopEvent: Sendable, Equatable, CustomStringConvertible {
  case assigned([PartitionOffset])
  case revoked([Int32])
  case lost([Int32])
  /// Reading back what is remembered of the partitions takes a while.
  case restoring(StateRestore.Progress)
  /// It is read back; `unreadable` records of it said nothing.
  case restored([Int32], records: UInt64, ms: Int64, unreadable: Int)
  /// Waiting for something that passes by itself.
  case retrying(TransactionMachine.Step, String)
  case waiting(String)
  case aborted(String)
  case producerReplaced(String)
  /// The group knows this worker under another name than the one its partitions were given to.
  case membershipChanged
  case paused(behindMs: Int64, isReady: Bool)
  case resumed
  case ended(LaneEnd)

  public var description: String {
    switch self {
    case .assigned(let offsets):
      "Assigned "
        + (offsets.isEmpty
          ? "no partition."
          : offsets.map { "\($0.partition) from \($0.offset)" }.joined(separator: ", ") + ".")
    case .revoked(let partitions): "Gave up partitions \(partitions)."
    case .lost(let partitions): "Lost partitions \(partitions)."
    case .restoring(let progress):
      "Restoring: \(progress.records) records, \(progress.recordsPerSecond)/s, "
        + (progress.percent.map { "\($0) %, " } ?? "")
        + (progress.secondsLeft.map { "\($0) s left." } ?? "waiting.")
    case .restored(let partitions, let records, let ms, let unreadable):
      "Restored partitions \(partitions): \(records) records in \(ms) ms"
        + (unreadable == 0 ? "." : ", \(unreadable) of them cannot be read.")
    case .retrying(let step, let reason): "Trying again \(step.words): \(reason)"
    case .waiting(let reason): "Waiting: \(reason)"
    case .aborted(let reason): "Aborted the transaction, redoing its records: \(reason)"
    case .producerReplaced(let reason): "Made a new producer: \(reason)"
    case .membershipChanged:
      "The group gave this worker a new member id; waiting for its partitions to be assigned anew."
    case .paused(let behindMs, let isReady):
      isReady
        ? "Paused: the preferences are \(behindMs) ms behind."
        : "Paused: the preferences are not read yet."
    case .resumed: "Resumed: the preferences are up to date."
    case .ended(let end): "Ended: \(end)"
    }
  }
}
