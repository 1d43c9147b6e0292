import Pipeline
import Telemetry

/// Does once a minute what nobody asks for: forgets event ids and erasures that are old enough, and
/// empties the database's log, in which what was erased would stay.
public final class StoreUpkeep: @unchecked Sendable {
  // Unchecked because of the thread's handle, which only the owner that stops it touches.
  private let service: PreferenceService
  private let intervalMs: Int64
  private let log: Logger
  private let control = LaneControl()
  private var thread: NamedThread!
  /// Rounds that were done.
  public let rounds = EventCount()

  /// Starts at once.
  public init(_ service: PreferenceService, intervalMs: Int64 = 60_000, log: Logger) {
    self.service = service
    self.intervalMs = intervalMs
    self.log = log
    thread = NamedThread(name: "prefs-upkeep") { [unowned self] in run() }
  }

  /// Ends behind the step that is being done.
  public func stop() {
    control.ask(.drain)
    service.store.wake()
    thread.join()
  }

  private func run() {
    while control.request == .none {
      do throws(StoreError) {
        try service.forgetOld()
        if try !service.purgeErased() {
          log.info("The database's log is in use and is emptied the next time.")
        }
        rounds.add()
      } catch {
        log.error("The preference store's upkeep failed; it is tried again.", ["error": "\(error)"])
      }
      service.store.pause(ms: intervalMs) { control.request != .none }
    }
  }
}
