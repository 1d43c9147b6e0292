import Pipeline
import Telemetry

/// A thread that works on the store until it is told to end. Where it has a turn, one process at a
/// time works: another one on the same database stands by until that one ends.
final class StoreThread: @unchecked Sendable {
  // Unchecked because of the handle, which only the owner that stops it touches.
  private let service: PreferenceService
  private let control = LaneControl()
  private var thread: NamedThread!

  /// Starts at once.
  ///
  /// - Parameters:
  ///   - turn: nil: any number of processes do it side by side.
  ///   - work: what is done; returns when `isStopping`, or where there is nothing to go on with.
  init(
    name: String, turn: PreferenceService.Turn?, _ service: PreferenceService, log: Logger,
    work: @escaping @Sendable (StoreThread) -> Void
  ) {
    self.service = service
    thread = NamedThread(name: name) { [unowned self] in
      guard let turn else { return work(self) }
      guard service.waitForTurn(turn, log: log, isStopping: { self.isStopping }) else { return }
      defer { service.endTurn(turn, log: log) }
      work(self)
    }
  }

  /// It is to end, or there is no store any more.
  var isStopping: Bool { control.request != .none || service.store.isClosed }

  /// Waits, but no longer than until it is to end.
  func pause(ms: Int64) { service.store.pause(ms: ms) { control.request != .none } }

  /// Returns when `work` has.
  func stop() {
    control.ask(.drain)
    service.store.wake()
    thread.join()
  }
}
