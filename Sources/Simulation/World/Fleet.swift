import Gate
import Pipeline

/// The instances of the gate that there are: started, ended, replaced.
final class Fleet {
  private unowned let world: World
  private let surroundings: Surroundings
  private(set) var instances: [GateInstance] = []
  private var made = 0
  private var isEnding = false
  /// Told how lanes ended that were not killed.
  var onLaneEnd: (LaneEnd) -> Void = { _ in }

  init(_ world: World, _ surroundings: Surroundings) {
    self.world = world
    self.surroundings = surroundings
  }

  var alive: [GateInstance] { instances.filter { !$0.isOver } }

  func start() {
    for number in 0..<surroundings.scenario.instances { start(instanceID: "i\(number)") }
  }

  func start(instanceID: String) {
    guard !isEnding else { return }
    made += 1
    let name = "\(instanceID)#\(made)"
    world.trace.add(Int64(made))
    world.trace.say(world.nowMs) { "\(name) starts" }
    let instance = GateInstance(
      name, number: made, instanceID: instanceID, surroundings, in: world)
    instances.append(instance)
    instance.onEnd = { [self, unowned instance] in ended(instance) }
  }

  /// A supervisor starts what has ended by itself again, unless another has taken its place.
  private func ended(_ instance: GateInstance) {
    world.trace.say(world.nowMs) { "\(instance.name) has ended" }
    for end in instance.ends { onLaneEnd(end) }
    let id = instance.instanceID
    guard !instance.isAskedToEnd else { return }
    world.after(ms: 1_500) { [self] in
      if !alive.contains(where: { $0.instanceID == id }) { start(instanceID: id) }
    }
  }

  func kill(_ instance: GateInstance, restartMs: Int64?) {
    guard !instance.isOver else { return }
    world.trace.say(world.nowMs) { "\(instance.name) is killed" }
    instance.kill()
    guard let restartMs else { return }
    world.after(ms: restartMs) { [self] in start(instanceID: instance.instanceID) }
  }

  /// Everything runs again. Returns by when what was stopped does.
  func heal() -> Int64 {
    defer {
      for instance in instances { instance.frozenUntilMs = 0 }
    }
    world.after(ms: 3_000) { [self] in
      if alive.isEmpty { start(instanceID: "i0") }
    }
    return alive.map(\.frozenUntilMs).max() ?? 0
  }

  /// The world is over: every stack is given back.
  func end() {
    isEnding = true
    for instance in instances { instance.kill() }
    while instances.contains(where: { !$0.hasEnded }), world.step(untilMs: world.nowMs) {}
    // Each holds on to this.
    for instance in instances { instance.onEnd = {} }
    instances = []
  }

  var isRestoring: Bool {
    alive.flatMap(\.lanes).contains { $0.counters[.restoringPartitions] > 0 }
  }

  /// What is remembered of owned partitions is what there is to remember, and no more.
  func checkMemory(_ ledger: Ledger) {
    let sinceMs = surroundings.wall.nowMs - surroundings.scenario.horizonHours * 3_600_000
    let rememberable = ledger.seen.filter { $0.key.lane == .ordinary && $0.value > sinceMs }.count
    let ordinary = alive.flatMap(\.lanes).filter { $0.lane == .ordinary }
    let remembered = ordinary.reduce(0) { $0 + $1.state.seenCount }
    for instance in alive {
      for lane in instance.lanes {
        world.trace.say(world.nowMs) {
          "\(instance.name) \(lane.lane) remembers \(lane.state.seenCount) ids and has "
            + "\(lane.counters[.holds]) holds of \(lane.counters[.ownedPartitions]) partitions"
        }
      }
    }
    if remembered > rememberable {
      ledger.fail(
        "memory", "\(remembered) ids are remembered, of \(rememberable) within the horizon")
    }
    let held = ordinary.reduce(0) { $0 + $1.counters[.holds] }
    if held > 0 { ledger.fail("memory", "\(held) holds are in memory, none on the topic") }
  }
}
