import Synchronization

/// Whose preferences have changed, from the threads that see to those to one lane that holds: what it
/// holds of them may be due at another time now. Bounded: past that, everything may have.
public final class PreferenceChanges: Sendable {
  public struct Change: Sendable, Equatable {
    /// Of the preference topic, and so of the user's candidates and holds.
    public var partition: Int32
    /// `PreferenceTable.userHash`.
    public var user: UInt64

    public init(partition: Int32, user: UInt64) {
      self.partition = partition
      self.user = user
    }
  }

  static let changesMax = 65_536

  private struct Pending {
    var changes: [Change] = []
    var isEverything = false
  }
  private let pending = Mutex(Pending())
  /// What the lane looks at once a turn: no lock while nothing has changed.
  private let isPending = Atomic<Bool>(false)

  public init() {}

  /// After the table has it: a lane that hears of it must find it there.
  public func note(_ change: Change) {
    pending.withLock {
      guard !$0.isEverything else { return }
      $0.changes.append(change)
      if $0.changes.count > Self.changesMax { Self.giveUp(&$0) }
      isPending.store(true, ordering: .releasing)
    }
  }

  /// After a change that is no single user's: of the zones.
  public func noteEverything() {
    pending.withLock {
      Self.giveUp(&$0)
      isPending.store(true, ordering: .releasing)
    }
  }

  private static func giveUp(_ pending: inout Pending) {
    pending.changes = []
    pending.isEverything = true
  }

  /// Moves what there is to the lane. True: everything may have changed.
  func drain(into changes: inout [Change]) -> Bool {
    // Pairs with the releasing stores above.
    guard isPending.load(ordering: .acquiring) else { return false }
    return pending.withLock {
      changes += $0.changes
      let isEverything = $0.isEverything
      $0 = Pending()
      isPending.store(false, ordering: .relaxed)
      return isEverything
    }
  }
}
