import Broker
import Gate
import Pipeline

/// What all instances of a gate share with each other and with those who watch them.
final class Surroundings {
  let scenario: Scenario
  let policy: Policy
  let wall: WallTime
  let sequence = Sequence()
  /// Of the tz database on every machine's disk.
  var zonesVersion = 0
  /// Every lane of every process there ever was.
  private(set) var lanes: [LaneNotes] = []

  init(_ scenario: Scenario, _ world: World) {
    self.scenario = scenario
    let text = Array(scenario.policy().utf8)
    do throws(PolicyError) {
      policy = try text.withUnsafeBytes { bytes in
        Result { () throws(PolicyError) in try Policy(json: bytes) }
      }.get()
    } catch {
      preconditionFailure("the simulation's policy: \(error)")
    }
    wall = WallTime(world, startMs: scenario.wallStartMs, speed: scenario.speed)
  }

  func note(_ lane: Lane, startedAtMs: Int64) -> LaneNotes {
    lanes.append(LaneNotes(number: lanes.count, lane, startedAtMs: startedAtMs))
    return lanes.last!
  }
}

/// One process of the gate: its lanes, the thread that reads preferences, and the one that watches.
final class GateInstance: Machine {
  struct Running {
    var lane: Lane
    var control: LaneControl
    var counters: LoopCounters
    var state: LaneState
  }

  private let surroundings: Surroundings
  let clock: SimClock
  let startedAtMs: Int64
  private(set) var lanes: [Running] = []
  private(set) var ends: [LaneEnd] = []
  private let epochs = Epochs()
  private let zones: ZonePublisher
  private let preferences: PreferenceTable
  private let readiness = PreferenceReadiness()
  private let changes = PreferenceChanges()
  private var zonesLoaded: Int
  private var random: SimRandom
  /// Its group and transactions know it by this: of two that say the same the newer is the one.
  let instanceID: String

  init(
    _ name: String, number: Int, instanceID: String, _ surroundings: Surroundings, in world: World
  ) {
    self.surroundings = surroundings
    self.instanceID = instanceID
    startedAtMs = world.nowMs
    random = SimRandom(seed: world.seed, stream: 1_000 + UInt64(number))
    clock = SimClock(world, surroundings.wall)
    zones = ZonePublisher(epochs: epochs)
    zonesLoaded = surroundings.zonesVersion
    zones.publish(
      SimZones.database(version: zonesLoaded), nowSeconds: surroundings.wall.nowMs / 1000)
    let key = (random.next(), random.next())
    preferences = PreferenceTable(hashKey: key, zones: zones, epochs: epochs)
    super.init(name, number: number, in: world)
    _ = SimFollower(
      table: preferences, readiness: readiness, changes: changes,
      partitionCount: surroundings.scenario.partitions, of: self)
    startLane(.ordinary)
    if surroundings.scenario.hasSecurityLane { startLane(.security) }
    startFiber("main") { [self] in watch() }
  }

  /// Told when it has ended by itself.
  var onEnd: () -> Void = {}
  /// True where it has ended by itself, or was ended.
  var isOver: Bool { isDead || ends.count == lanes.count }

  private(set) var isAskedToEnd = false

  /// As SIGTERM does.
  func end() {
    isAskedToEnd = true
    drain()
  }

  private func drain() { for lane in lanes { lane.control.ask(.drain) } }

  override func wasKilled() { for lane in lanes { lane.control.ask(.abandon) } }

  private func startLane(_ lane: Lane) {
    let scenario = surroundings.scenario
    let control = LaneControl()
    let counters = LoopCounters()
    let state = LaneState(
      policy: surroundings.policy, partitionCount: scenario.partitions,
      hashKey: (random.next(), random.next()))
    let notes = surroundings.note(lane, startedAtMs: startedAtMs)
    let source = SimCandidates(
      lane, partitionCount: scenario.partitions, random: fork(), of: self)
    let stateTopic = SimStateTopic(lane, random: fork(), of: self)
    let receipts = lane == .ordinary ? SimReceipts(of: self) : nil
    watch(notes, source, receipts)
    let holds = lane == .ordinary ? makeHolds(state) : nil
    let engine = Engine(
      lane: lane, policy: surroundings.policy, preferences: preferences, zones: zones,
      partitionCount: scenario.partitions, state: state, holds: holds, seed: random.next())
    let intake = receipts.map {
      ReceiptIntake(
        source: $0,
        refunder: Refunder(
          state: state, partitionCount: scenario.partitions, seed: random.next()))
    }
    lanes.append(Running(lane: lane, control: control, counters: counters, state: state))
    func run<Sink: DecisionSink>(_ sink: Sink) -> LaneEnd {
      GateLoop(
        source: source, sink: sink, clock: clock, decider: engine, state: state,
        stateSource: stateTopic, holds: holds, receipts: intake,
        settings: LoopSettings(
          commitIntervalMs: scenario.commitIntervalMs,
          transactionTimeoutMs: SimTimes.transactionMs,
          staleMsMax: lane == .ordinary ? SimTimes.staleMs : nil, sweepIntervalMs: 5_000),
        counters: counters, control: control, readiness: readiness, epochs: epochs,
        onEvent: { [self] event in heard(event, lane) }
      ).run()
    }
    let sequence = surroundings.sequence
    startFiber("\(lane)") { [self] in
      let end =
        scenario.isExact
        ? run(
          SimSink(
            notes, transactionalID: "gate.\(instanceID).\(lane)", sequence: sequence, of: self))
        : run(SimLooseSink(notes, sequence: sequence, of: self))
      ends.append(end)
    }
  }

  private func fork() -> SimRandom { SimRandom(seed: random.next(), stream: 0) }

  private func heard(_ event: LoopEvent, _ lane: Lane) {
    guard !isDead else { return }
    world.trace.say(world.nowMs) { "\(name) \(lane): \(event)" }
  }

  /// Lets those who check know what belongs together.
  private func watch(
    _ notes: LaneNotes, _ source: SimCandidates, _ receipts: SimReceipts?
  ) {
    source.onTurn = { [world] in notes.turnMs = world.nowMs }
    receipts?.onBatch = { [surroundings] partition, offsets in
      notes.receipts.append((surroundings.sequence.next(), partition, offsets))
    }
  }

  private func makeHolds(_ state: LaneState) -> LaneHolds {
    let scenario = surroundings.scenario
    return LaneHolds(
      policy: surroundings.policy, preferences: preferences, zones: zones, state: state,
      settings: LaneHolds.Settings(
        spread: HoldSpread(spreadMs: scenario.spreadSeconds * 1_000),
        payloadBytesMax: scenario.hasScarceMemory ? 1 : 1 << 26,
        apnsPerSecond: scenario.releasesPerSecond, fcmPerSecond: scenario.releasesPerSecond,
        partitionCount: scenario.partitions),
      source: SimPayloads(of: self), changes: changes, monotonicMs: world.nowMs)
  }

  // MARK: The thread that watches

  /// Notices that the process was stopped, and that the tz database on disk changed.
  private func watch() {
    var turnedAtMs = world.nowMs
    while !isDead {
      world.sleep(ms: 100)
      guard !isDead else { return }
      if world.nowMs - turnedAtMs > 2_000 {
        for lane in lanes { lane.control.noteStopped(atMs: world.nowMs) }
      }
      turnedAtMs = world.nowMs
      // A lane that ends by itself takes the others along, and the process with it.
      if !ends.isEmpty { drain() }
      if ends.count == lanes.count {
        kill()
        return onEnd()
      }
      if zonesLoaded != surroundings.zonesVersion { reloadZones() }
    }
  }

  private func reloadZones() {
    zonesLoaded = surroundings.zonesVersion
    zones.publish(
      SimZones.database(version: zonesLoaded), nowSeconds: surroundings.wall.nowMs / 1000)
    changes.noteEverything()
  }
}
