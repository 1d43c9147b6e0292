import Broker

/// Makes faults happen.
final class Faults {
  private unowned let world: World
  private let surroundings: Surroundings
  private let fleet: Fleet
  /// Those to come, the next one last.
  private var coming: [Fault]
  private(set) var happened: [(number: Int, words: String)] = []

  /// Some clock was set: what is forgotten when follows from no one clock any more.
  private(set) var haveSetClocks = false

  private struct Losses {
    var untilMs: Int64
    var lost: Int
    var unanswered: Int
    var repeated: Int
    var delayed: Int
    var random: SimRandom
  }
  private var losses: [Losses] = []
  private var isolated: [(machine: Machine, untilMs: Int64)] = []
  private var cuts: [(machine: Machine, connection: String, untilMs: Int64)] = []
  private var takeOvers: [Int64] = []
  private var slow: (byMs: Int64, untilMs: Int64)?
  private var refusals: [(key: ApiKey, code: ErrorCode, left: Int)] = []
  private var crashes: [(key: ApiKey, at: Passing, restartMs: Int64)] = []

  /// - Parameter only: those that happen, by their numbers; nil: all.
  init(
    _ world: World, _ surroundings: Surroundings, _ fleet: Fleet, steps: Int, only: Set<Int>?
  ) {
    self.world = world
    self.surroundings = surroundings
    self.fleet = fleet
    coming = Fault.draw(seed: world.seed, steps: steps)
      .filter { only?.contains($0.number) ?? true }
      .sorted { ($0.step, $0.number) > ($1.step, $1.number) }
    world.fate = { [unowned self] in fate($0) }
    world.passing = { [unowned self] in passing($0, $1) }
  }

  /// Before each step.
  func strike() {
    while let next = coming.last, next.step <= world.steps {
      coming.removeLast()
      happened.append((next.number, next.words))
      world.trace.add(Int64(next.number))
      world.trace.say(world.nowMs) { "FAULT \(next.number): \(next.words)" }
      strike(next)
    }
  }

  func stop() {
    coming = []
    losses = []
    isolated = []
    cuts = []
    takeOvers = []
    slow = nil
    refusals = []
    crashes = []
    world.slowMs = 0
  }

  private func strike(_ fault: Fault) {
    var random = SimRandom(seed: world.seed, stream: 10_000 + UInt64(fault.number))
    let alive = fleet.alive
    let some = alive.isEmpty ? nil : random.pick(alive)
    switch fault.kind {
    case .crash(let restartMs):
      if let some { fleet.kill(some, restartMs: restartMs) }
    case .crashAt(let key, let at, let restartMs): crashes.append((key, at, restartMs))
    case .freeze(let ms):
      if let some { some.frozenUntilMs = max(some.frozenUntilMs, world.nowMs + ms) }
    case .losses(let lost, let unanswered, let repeated, let delayed, let ms):
      losses.append(
        Losses(
          untilMs: world.nowMs + ms, lost: lost, unanswered: unanswered, repeated: repeated,
          delayed: delayed, random: random))
    case .isolate(let ms):
      if let some { isolated.append((some, world.nowMs + ms)) }
    case .cut(let name, let ms):
      if let some { cuts.append((some, "\(some.name).\(name)", world.nowMs + ms)) }
    case .takeOverInDoubt(let ms): takeOvers.append(ms)
    case .slow(let byMs, let ms): slow = (byMs, world.nowMs + ms)
    case .brokerRestart: world.restartBroker()
    case .refuse(let key, let code, let times): refusals.append((key, code, times))
    case .join(let forMs): join(forMs, "j\(fault.number)")
    case .restart(let afterMs):
      guard let some else { break }
      some.end()
      let id = some.instanceID
      some.onEnd = { [fleet, world] in
        world.after(ms: afterMs) { fleet.start(instanceID: id) }
      }
    case .twin:
      if let some { fleet.start(instanceID: some.instanceID) }
    case .clockStep(let ms, let isOfAll):
      haveSetClocks = true
      if isOfAll { surroundings.wall.skip(ms: ms) } else { some?.clock.skewMs += ms }
    case .newZones: surroundings.zonesVersion += 1
    case .night(let ms, let isDown):
      if isDown { for one in alive { fleet.kill(one, restartMs: random.within(0...2_000)) } }
      surroundings.wall.skip(ms: ms)
    }
  }

  private func join(_ forMs: Int64?, _ id: String) {
    fleet.start(instanceID: id)
    guard let forMs, let instance = fleet.instances.last else { return }
    world.after(ms: forMs) { if !instance.isOver { instance.end() } }
  }

  // MARK: On the way

  private func fate(_ exchange: Exchange) -> Fate {
    var fate = Fate()
    world.slowMs = slow.map { $0.untilMs > world.nowMs ? $0.byMs : 0 } ?? 0
    isolated.removeAll { $0.untilMs <= world.nowMs }
    if isolated.contains(where: { $0.machine === exchange.connection.machine }) {
      fate.isLost = true
      return fate
    }
    cuts.removeAll { $0.untilMs <= world.nowMs }
    if cuts.contains(where: {
      $0.machine === exchange.connection.machine && $0.connection == exchange.connection.name
    }) {
      fate.isLost = true
      return fate
    }
    if takeOver(exchange) {
      fate.losesAnswer = true
      return fate
    }
    losses.removeAll { $0.untilMs <= world.nowMs }
    for index in losses.indices {
      if losses[index].random.chance(losses[index].lost) { fate.isLost = true }
      if losses[index].random.chance(losses[index].unanswered) { fate.losesAnswer = true }
      if losses[index].random.chance(losses[index].repeated) { fate.times = 2 }
      if losses[index].random.chance(losses[index].delayed) {
        fate.delayMs += losses[index].random.within(1...600)
      }
    }
    let key = exchange.request.key
    if let index = refusals.firstIndex(where: { $0.key == key && $0.left > 0 }) {
      refusals[index].left -= 1
      fate.refusal = refusals[index].code
    }
    return fate
  }

  private func takeOver(_ exchange: Exchange) -> Bool {
    guard !takeOvers.isEmpty, case .endTxn(let end) = exchange.request, end.committed,
      let instance = exchange.connection.machine as? GateInstance
    else { return false }
    let ms = takeOvers.removeFirst()
    world.trace.say(world.nowMs) { "FAULT: nobody tells \(instance.name) that it has committed" }
    cuts.append((instance, exchange.connection.name, world.nowMs + ms))
    world.after(ms: ms - 500) { [fleet] in fleet.start(instanceID: instance.instanceID) }
    return true
  }

  private func passing(_ exchange: Exchange, _ at: Passing) {
    let key = exchange.request.key
    guard let index = crashes.firstIndex(where: { $0.key == key && $0.at == at }),
      let instance = exchange.connection.machine as? GateInstance
    else { return }
    let restartMs = crashes.remove(at: index).restartMs
    world.trace.say(world.nowMs) { "FAULT: \(instance.name) at \(key), \(at)" }
    fleet.kill(instance, restartMs: restartMs)
  }
}
