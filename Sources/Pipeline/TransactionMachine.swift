/// Why a lane ended.
public enum LaneEnd: Error, Sendable, Equatable {
  /// It was asked to, everything decided is committed, and the group was left.
  case drained
  /// It was told not to finish; what was open is left to the coordinator to abort.
  case abandoned
  /// Another instance took over.
  case fenced(String)
  /// The next record to decide is not there any more.
  case offsetOutOfRange(String)
  case fatal(String)
}

extension LaneEnd: CustomStringConvertible {
  /// For log lines and pages.
  public var description: String {
    switch self {
    case .drained: "drained"
    case .abandoned: "left without finishing"
    case .fenced(let reason): "fenced by another process with the same instance.id: \(reason)"
    case .offsetOutOfRange(let reason), .fatal(let reason): reason
    }
  }
}

/// The open transaction, and what follows from each failure. No I/O: the loop performs what is
/// answered, and reports back.
public struct TransactionMachine {
  public enum State: Sendable, Equatable {
    case closed
    case open
    /// Commit was called and not answered. It may have happened, so nothing but the same call again
    /// may follow: an abort would redo what is perhaps committed.
    case inDoubt
  }

  public enum Step: Sendable, CaseIterable {
    case replace, begin, write, flush, sendOffsets, commit, abort

    /// What is being done, for log lines.
    public var words: String {
      switch self {
      case .replace: "to make a producer"
      case .begin: "to begin a transaction"
      case .write: "to write"
      case .flush: "to flush"
      case .sendOffsets: "to send the offsets"
      case .commit: "to commit"
      case .abort: "to abort"
      }
    }
  }

  public enum Action: Sendable, Equatable {
    case retry
    case abort
    /// Then the owned partitions go on from their committed offsets: whether the old producer's
    /// commit happened is known to the coordinator alone.
    case replaceProducer
    case leave(LaneEnd)
  }

  public private(set) var state = State.closed
  public private(set) var openedAtMs: Int64 = 0
  private var abortedInARow = 0
  private var replacedInARow = 0

  /// So many aborts without one commit between them: the producer itself may be the reason. One that
  /// failed a record for good leaves a gap in its sequence, at which the broker refuses what follows.
  static let abortedInARowMax = 3
  /// So many new producers without one commit between them: it is not the producer.
  static let replacedInARowMax = 5

  public let intervalMs: Int64
  /// After so long the coordinator aborts on its own; retrying past it is pointless.
  public let timeoutMs: Int64

  public init(intervalMs: Int64, timeoutMs: Int64) {
    self.intervalMs = intervalMs
    self.timeoutMs = timeoutMs
  }

  public var isOpen: Bool { state != .closed }

  public func dueInMs(nowMs: Int64) -> Int64 {
    max(0, openedAtMs + intervalMs - nowMs)
  }

  public func isDue(nowMs: Int64) -> Bool { isOpen && dueInMs(nowMs: nowMs) == 0 }

  public mutating func opened(nowMs: Int64) {
    precondition(state == .closed, "one transaction at a time")
    state = .open
    openedAtMs = nowMs
  }

  public mutating func commitStarted() {
    precondition(isOpen, "nothing to commit")
    state = .inDoubt
  }

  public mutating func committed() {
    precondition(state == .inDoubt, "a commit succeeded that was not asked for")
    state = .closed
    abortedInARow = 0
    replacedInARow = 0
  }

  public mutating func aborted() {
    state = .closed
    abortedInARow += 1
  }

  /// The transaction is gone with its producer.
  public mutating func replaced() {
    state = .closed
    abortedInARow = 0
    replacedInARow += 1
  }

  /// How long to leave the broker alone before beginning again.
  public var pauseMs: Int64 {
    min(1000, 10 << Int64(abortedInARow + 2 * replacedInARow))
  }

  /// What a failure asks for.
  ///
  /// The coordinator says the same of a producer that another one replaced and of one whose
  /// transaction it timed out. A transaction that is still open past its time-out, in a process that
  /// was not stopped meanwhile, was held up by the broker: nobody has taken over, and a new producer
  /// goes on. A process that was stopped may have been taken for dead and replaced; it leaves.
  /// - Parameter stoppedAtMs: when the process was last found to have been stopped; 0: never.
  public func action(
    after step: Step, failed failure: Failure, nowMs: Int64, stoppedAtMs: Int64 = 0
  ) -> Action {
    switch failure.kind {
    case .fenced:
      let isTimedOut = isOpen && nowMs - openedAtMs >= timeoutMs && stoppedAtMs <= openedAtMs
      return isTimedOut && step != .replace
        ? replaceOrLeave(failure) : .leave(.fenced(failure.message))
    case .fatal: return .leave(.fatal(failure.message))
    case .offsetOutOfRange: return .leave(.offsetOutOfRange(failure.message))
    case .lostTransaction: return replaceOrLeave(failure)
    case .abort:
      switch step {
      case .write, .flush, .sendOffsets, .commit: return abortOrReplace(failure)
      // An abort that asks for an abort, or a begin: this producer leads nowhere.
      case .begin, .abort: return replaceOrLeave(failure)
      case .replace: return .leave(.fatal(failure.message))
      }
    case .retriable:
      switch step {
      case .commit, .abort, .replace: return .retry
      // Some of the outputs may be in; only the whole can be done again.
      case .write: return abortOrReplace(failure)
      case .begin: return .retry
      case .flush, .sendOffsets:
        return nowMs - openedAtMs < timeoutMs ? .retry : abortOrReplace(failure)
      }
    }
  }

  private func abortOrReplace(_ failure: Failure) -> Action {
    abortedInARow < Self.abortedInARowMax ? .abort : replaceOrLeave(failure)
  }

  private func replaceOrLeave(_ failure: Failure) -> Action {
    replacedInARow < Self.replacedInARowMax
      ? .replaceProducer : .leave(.fatal("no new producer helps: \(failure.message)"))
  }
}
