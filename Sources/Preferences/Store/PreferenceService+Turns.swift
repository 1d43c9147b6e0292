import Telemetry

/// What only one process at a time does with a database.
extension PreferenceService {
  enum Turn {
    case outbox, intake

    var name: StaticString {
      switch self {
      case .outbox: "outbox"
      case .intake: "intake"
      }
    }
  }

  /// Whether it is this process that does it, from now on until the turn is ended or the service is
  /// closed.
  func takeTurn(_ turn: Turn) throws(StoreError) -> Bool {
    try store.writer.perform(isAlone: true) { connection throws(SQLError) in
      try connection.tryLock(turn.name)
    }
  }

  /// Whether a turn that was taken is still this process's; asked before each step, where the database
  /// can give it to another without a word.
  func keepsTurn(_ turn: Turn, log: Logger) throws(StoreError) -> Bool {
    guard store.database.canLoseLocks else { return true }
    if try takeTurn(turn) { return true }
    log.warning(
      "The turn went to another process, as this one's session with the database was lost.",
      ["turn": .string("\(turn.name)")])
    return false
  }

  /// Waits until it is this process that does it. False where it is time to end before that, or the
  /// service is closed.
  func waitForTurn(
    _ turn: Turn, log: Logger, retryMs: Int64 = 1000, isStopping: () -> Bool
  ) -> Bool {
    var isKnown = false
    while !isStopping() {
      do throws(StoreError) {
        if try takeTurn(turn) { return true }
        if !isKnown {
          log.info(
            "Another process has the turn; this one stands by until that one ends.",
            ["turn": .string("\(turn.name)")])
        }
        isKnown = true
      } catch {
        if error == .closed { return false }
        log.error(
          "A turn cannot be taken.", ["turn": .string("\(turn.name)"), "error": "\(error)"])
      }
      store.pause(ms: retryMs, isStopping)
    }
    return false
  }

  /// Lets another process do it: this one may live on for long.
  func endTurn(_ turn: Turn, log: Logger) {
    do throws(StoreError) {
      try store.writer.perform(isAlone: true) { connection throws(SQLError) in
        try connection.unlock(turn.name)
      }
    } catch {
      // Closing has given it back.
      if error == .closed { return }
      log.error(
        "A turn cannot be given back before this process ends.",
        ["turn": .string("\(turn.name)"), "error": "\(error)"])
    }
  }
}
