import Pipeline
import Telemetry

/// A thread that works on the store until it is told to end. Where its work is a turn's, one process at a
/// time does it: another one on the same database stands by until that one ends.
final class StoreThread: @unchecked Sendable {
  // Unchecked because of the handle, which only the owner that stops it touches.
  private let service: PreferenceService
  private let turn: PreferenceService.Turn?
  private let log: Logger
  private let control = LaneControl()
  private var thread: NamedThread!

  /// Starts at once.
  ///
  /// - Parameters:
  ///   - turn: nil: any number of processes do it side by side.
  ///   - work: what is done for as long as `awaitTurn` says.
  init(
    name: String, turn: PreferenceService.Turn?, _ service: PreferenceService, log: Logger,
    work: @escaping @Sendable (StoreThread) -> Void
  ) {
    self.service = service
    self.turn = turn
    self.log = log
    thread = NamedThread(name: name) { [unowned self] in
      defer { if let turn { service.endTurn(turn, log: log) } }
      work(self)
    }
  }

  /// Waits until it is this process's to work. False: it is to end.
  func awaitTurn() -> Bool {
    guard !isStopping, let turn else { return !isStopping }
    return service.waitForTurn(turn, log: log, isStopping: { isStopping })
  }

  /// It is to end, or there is no store any more.
  var isStopping: Bool { control.request != .none || service.store.isClosed }

  /// Waits, but no longer than until it is to end.
  func pause(ms: Int64) { service.store.pause(ms: ms) { control.request != .none } }

  /// Of several that end, all are asked before the first is waited for.
  func askToStop() {
    control.ask(.drain)
    service.store.wake()
  }

  /// Returns when `work` has.
  func stop() {
    askToStop()
    thread.join()
  }
}
