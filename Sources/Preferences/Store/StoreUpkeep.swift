import Telemetry

/// Does once a minute what nobody asks for: forgets event ids and erasures that are old enough, and
/// empties the database's log, in which what was erased would stay.
public final class StoreUpkeep: Sendable {
  private let thread: StoreThread
  /// Rounds that were done.
  public let rounds: EventCount

  /// Starts at once.
  public init(_ service: PreferenceService, intervalMs: Int64 = 60_000, log: Logger) {
    let rounds = EventCount()
    self.rounds = rounds
    thread = StoreThread(name: "prefs-upkeep", turn: nil, service, log: log) { thread in
      while thread.awaitTurn() {
        Self.turn(service, log, rounds)
        thread.pause(ms: intervalMs)
      }
    }
  }

  /// Ends behind the step that is being done.
  public func stop() { thread.stop() }

  private static func turn(_ service: PreferenceService, _ log: Logger, _ rounds: EventCount) {
    do throws(StoreError) {
      try service.forgetOld()
      if try !service.purgeErased() {
        log.info("The database's log is in use and is emptied the next time.")
      }
      rounds.add()
    } catch {
      log.error("The preference store's upkeep failed; it is tried again.", ["error": "\(error)"])
    }
  }
}
