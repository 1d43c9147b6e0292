import Gate
import Synchronization

/// A user said no: the account is off for categories that the document before had not off, or the
/// user was erased. From this on the gate should have approved nothing of them (requirements X3).
public struct OptOut: Equatable, Sendable {
  /// Of the preference topic, and so of the user's candidates.
  public var partition: Int32
  /// `PreferenceTable.userHash`.
  public var user: UInt64
  public var categories: CategorySet
  /// Of the record that says so: its timestamp, and its offset, which is what tells decisions on it
  /// from those on an older one.
  public var committedAtMs: Int64
  public var offset: Int64

  public init(
    partition: Int32, user: UInt64, categories: CategorySet, committedAtMs: Int64, offset: Int64
  ) {
    self.partition = partition
    self.user = user
    self.categories = categories
    self.committedAtMs = committedAtMs
    self.offset = offset
  }
}

/// Opt-outs on their way from the thread that follows the preferences to one lane. Bounded: past that
/// they are only counted.
public final class OptOutNotes: Sendable {
  static let notesMax = 65_536

  private struct Pending {
    var optOuts: [OptOut] = []
    var lost = 0
  }
  private let pending = Mutex(Pending())
  /// What the lane looks at once a turn: no lock while nobody has opted out.
  private let isPending = Atomic<Bool>(false)

  public init() {}

  /// After the table has it: what a lane decides once it has heard of it is decided by it.
  public func note(_ optOut: OptOut) {
    pending.withLock {
      if $0.optOuts.count < Self.notesMax { $0.optOuts.append(optOut) } else { $0.lost += 1 }
      isPending.store(true, ordering: .releasing)
    }
  }

  /// Moves what there is to the lane; returns how many more there were.
  func drain(into optOuts: inout [OptOut]) -> Int {
    // Pairs with the releasing store above.
    guard isPending.load(ordering: .acquiring) else { return 0 }
    return pending.withLock {
      optOuts += $0.optOuts
      let lost = $0.lost
      $0 = Pending()
      isPending.store(false, ordering: .relaxed)
      return lost
    }
  }
}
