@testable import Gate
@testable import Pipeline

/// A loop on the fakes, with its surroundings.
final class Rig {
  let cluster: FakeCluster
  let clock = FakeClock()
  let source: FakeSource
  let sink: FakeSink
  let stateSource: FakeStateSource
  let state: LaneState
  let decider: FakeDecider
  let control = LaneControl()
  let readiness = PreferenceReadiness()
  let counters = LoopCounters()
  private(set) var events: [LoopEvent] = []
  var staleMsMax: Int64? = 300_000
  var pollsMax = 400
  var commitIntervalMs: Int64 = 20
  var sweepIntervalMs: Int64 = 200

  convenience init(
    partitions: Int32 = 3, recordsEach: Int = 40, gap: Int64 = 1, isTransactional: Bool = true,
    assignAtStart: Bool = true
  ) {
    self.init(
      on: FakeCluster(partitions: partitions, recordsEach: recordsEach, gap: gap),
      isTransactional: isTransactional, assignAtStart: assignAtStart)
  }

  /// Another process on the same cluster.
  init(on cluster: FakeCluster, isTransactional: Bool = true, assignAtStart: Bool = true) {
    self.cluster = cluster
    source = FakeSource(cluster, clock)
    sink = FakeSink(cluster, isTransactional: isTransactional)
    stateSource = FakeStateSource(cluster)
    state = LaneState(
      policy: .builtIn, partitionCount: Int32(cluster.partitions.count), hashKey: (1, 2))
    decider = FakeDecider(cluster, state)
    if assignAtStart { source.note(.assigned(cluster.partitions)) }
    readiness.setFresh(atMs: clock.nowMs)
    readiness.becomeReady()
  }

  /// Runs until every record is decided, or for `pollsMax` polls.
  @discardableResult
  func run() -> LaneEnd {
    let scripted = source.onPoll
    source.onPoll = { [self] poll in
      scripted(poll)
      if cluster.isFinished || poll >= pollsMax { control.ask(.drain) }
    }
    let loop = GateLoop(
      source: source, sink: sink, clock: clock, decider: decider, state: state,
      stateSource: stateSource,
      settings: LoopSettings(
        commitIntervalMs: commitIntervalMs, transactionTimeoutMs: 2000, staleMsMax: staleMsMax,
        sweepIntervalMs: sweepIntervalMs),
      counters: counters, control: control, readiness: readiness, epochs: Epochs(),
      onEvent: { [self] in events.append($0) })
    return loop.run()
  }

  func has(_ matches: (LoopEvent) -> Bool) -> Bool { events.contains(where: matches) }
}
