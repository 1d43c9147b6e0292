import Evidence
import Gate
import Preferences

/// Everything of a user that the console shows on one page.
struct UserStory: Sendable {
  var userID: Identifier
  /// Nil where nothing is kept; an erased user may still be named by what came late.
  var preferences: UserPreferences?
  var now: NowAnswer
  var timeline: Timeline
  /// Where older attempts begin.
  var next: EvidenceCursor?
  var nextUntilMs: Int64
  var isFirstPage: Bool
  /// Nil where no index is kept.
  var index: IndexState?
}

/// Everything of a notification, oldest first.
struct NotificationStory: Sendable {
  var notificationID: String
  var attempts: [EvidenceAttempt]
  var otherReceipts: [EvidenceReceipt]
  /// False: there are more than these.
  var isWhole = true
  var index: IndexState?
}

struct DeviceStory: Sendable {
  var deviceID: String
  var holder: Identifier?
  var timeline: Timeline
  var next: EvidenceCursor?
  var isFirstPage: Bool
  var index: IndexState?
}

/// What happened, newest first: decisions, and between them what the user changed.
struct Timeline: Sendable, Equatable {
  enum Item: Sendable, Equatable {
    /// One notification's decisions of one moment, a device each.
    case decisions([EvidenceAttempt])
    case change(AuditRow)

    /// By which it is sorted: when the gate decided, when the change was on record. A change that
    /// was made long before, on a phone that was offline, counts from when anybody knew of it.
    var atMs: Int64 {
      switch self {
      case .decisions(let attempts): attempts[0].atMs
      case .change(let row): row.recordedAtMs
      }
    }
  }

  var items: [Item]

  /// - Parameters: both newest first.
  init(_ attempts: [EvidenceAttempt], _ changes: [AuditRow]) {
    var items: [Item] = []
    var changes = changes[...]
    for attempt in attempts {
      while let change = changes.first, change.recordedAtMs > attempt.atMs {
        items.append(.change(change))
        changes.removeFirst()
      }
      if case .decisions(let group)? = items.last, Self.belong(group[0], attempt) {
        items[items.count - 1] = .decisions(group + [attempt])
      } else {
        items.append(.decisions([attempt]))
      }
    }
    self.items = items + changes.map { .change($0) }
  }

  private static func belong(_ a: EvidenceAttempt, _ b: EvidenceAttempt) -> Bool {
    a.atMs == b.atMs && a.notificationID != nil && a.notificationID == b.notificationID
      && a.userID == b.userID
  }
}

/// Decisions by hour and reason.
struct OutcomeFigures: Sendable, Equatable {
  var fromMs: Int64
  var hours: Int
  var counts: [OutcomeCount]
}

/// Holds by the hour in which they fall due.
struct HoldFigures: Sendable, Equatable {
  var fromMs: Int64
  var counts: [Int64]
}
