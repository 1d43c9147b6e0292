import Pipeline
import Preferences
import Synchronization
import Telemetry

/// What the store needs done now and then, on a thread of its own: old ids forgotten, and what was
/// erased made to go from the database's log.
final class StoreUpkeep: Sendable {
  private let service: PreferenceService
  private let log: Logger
  private let isStopping = Atomic<Bool>(false)
  private let thread = Mutex<NamedThread?>(nil)
  private static let stepMs: Int64 = 100
  private static let purgeIntervalMs: Int64 = 30_000
  private static let forgetIntervalMs: Int64 = 3_600_000

  init(_ service: PreferenceService, _ log: Logger) {
    self.service = service
    self.log = log
  }

  func start() {
    thread.withLock { $0 = NamedThread(name: "prefs-upkeep") { [self] in run() } }
  }

  func stop() {
    isStopping.store(true, ordering: .relaxed)
    thread.withLock { thread in
      thread?.join()
      thread = nil
    }
  }

  private func run() {
    let clock = SystemClock()
    var forgottenAtMs = clock.monotonicMs()
    var purgedAtMs = forgottenAtMs
    while !isStopping.load(ordering: .relaxed) {
      clock.sleep(ms: Self.stepMs)
      let nowMs = clock.monotonicMs()
      do throws(StoreError) {
        if nowMs - purgedAtMs >= Self.purgeIntervalMs {
          purgedAtMs = nowMs
          _ = try service.purgeErased()
        }
        if nowMs - forgottenAtMs >= Self.forgetIntervalMs {
          forgottenAtMs = nowMs
          try service.forgetOld()
        }
      } catch {
        log.warning(
          "The store's upkeep could not be done; it is tried again",
          ["reason": .string("\(error)")])
      }
    }
  }
}
