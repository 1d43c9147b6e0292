import Pipeline
import Synchronization

/// Partition counts, as far as the lanes need them.
struct TopicCounts: Sendable {
  var ordinary: Int32
  var security: Int32
}

/// What the side threads found, for the main thread and the health pages.
final class Findings: Sendable {
  /// Why the gate must stop deciding.
  struct Stop: Sendable {
    var exitCode: Int32
    var reasons: [String]
  }

  /// Who reads besides the lanes.
  enum Reader { case topics, preferences }

  private struct State {
    var counts: TopicCounts?
    var stop: Stop?
    /// What the topics are waited for with; nil: nothing.
    var waiting: String? = "the topics have not been looked at yet"
    /// What Kafka refuses of the topics or the preferences, with what to grant.
    var refusals: [Reader: String] = [:]
    var lanes: [(name: String, problem: String?)] = []
    var zonesRefusal: String?
  }

  private let state = Mutex(State())

  var counts: TopicCounts? { state.withLock { $0.counts } }
  var stop: Stop? { state.withLock { $0.stop } }
  var waiting: String? { state.withLock { $0.waiting } }
  var lanes: [(name: String, problem: String?)] { state.withLock { $0.lanes } }
  /// Why the tz database on disk is not taken; nil: it is in use.
  var zonesRefusal: String? { state.withLock { $0.zonesRefusal } }

  func found(_ counts: TopicCounts) {
    state.withLock {
      $0.counts = counts
      $0.waiting = nil
    }
  }

  func isWaiting(_ reason: String) { state.withLock { $0.waiting = reason } }

  func refusal(of reader: Reader) -> String? { state.withLock { $0.refusals[reader] } }

  func isRefused(_ reader: Reader, _ reason: String?) {
    state.withLock { $0.refusals[reader] = reason }
  }

  func zonesAreRefused(_ reason: String?) { state.withLock { $0.zonesRefusal = reason } }

  /// The first reason stays.
  func mustStop(_ exitCode: Int32, _ reasons: [String]) {
    state.withLock { $0.stop = $0.stop ?? Stop(exitCode: exitCode, reasons: reasons) }
  }

  func publish(_ runners: [LaneRunner]) {
    let lanes = runners.map { runner in
      (name: "lane \(runner.name)", problem: Self.problem(runner))
    }
    state.withLock { $0.lanes = lanes }
  }

  private static func problem(_ runner: LaneRunner) -> String? {
    if let end = runner.end { return "ended: \(end)" }
    if runner.control.request != .none { return "draining" }
    let nowMs = SystemClock().monotonicMs()
    return LaneReadiness.problem(
      runner.counters, runner.health, obstacle: runner.obstacle(nowMs: nowMs), nowMs: nowMs)
  }
}
