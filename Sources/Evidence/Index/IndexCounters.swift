import Preferences
import Synchronization

/// What the index did and how far it is; read by anybody.
public final class IndexCounters: Sendable {
  /// Records that were taken in, by what they were.
  public let approved = EventCount()
  public let deferred = EventCount()
  public let dropped = EventCount()
  public let selfTests = EventCount()
  public let receipts = EventCount()
  /// Null values on the deferred topic.
  public let holdsEnded = EventCount()
  /// Null values on the preference topic: users whose evidence was erased.
  public let erasures = EventCount()
  /// Of the records above, those that no gate and no dispatcher writes; they are kept all the same.
  public let unreadable = EventCount()
  /// Records of users who were erased since; not kept.
  public let ofErased = EventCount()
  /// Records that the database refused for good: a defect.
  public let skipped = EventCount()
  /// Times that records were gone before they were read.
  public let gaps = EventCount()
  /// Times that a partition was found made anew.
  public let madeAnew = EventCount()
  /// Records that were taken away because they were old.
  public let expired = EventCount()
  /// Everything that was on the topics when last asked is indexed, and the broker answers.
  public let isCaughtUp = Flag()

  private let behind = Atomic<Int64>(-1)
  private let fresh = Atomic<Int64>(-1)

  /// Offsets that are not in the database, when last asked; nil: never asked.
  public var recordsBehind: Int64? { Self.known(behind) }
  /// Everything that was on the topics at this instant is indexed, milliseconds since the epoch; nil:
  /// that was never so, or another process indexes. It stays where it is while reading stands still.
  public var freshAtMs: Int64? { Self.known(fresh) }

  private static func known(_ word: borrowing Atomic<Int64>) -> Int64? {
    let value = word.load(ordering: .relaxed)
    return value < 0 ? nil : value
  }

  func set(_ progress: EvidenceLag) {
    if let value = progress.recordsBehind { behind.store(value, ordering: .relaxed) }
    if let value = progress.freshAtMs { fresh.store(value, ordering: .relaxed) }
  }
}
