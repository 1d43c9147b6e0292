import Broker
import CSimulation
import Gate
import Pipeline

/// One world from one seed: a whole gate on a broker, in simulated time, with whatever can go wrong, and
/// checkers that know nothing of how it is built.
public final class Simulation {
  public struct Options: Sendable {
    public var seed: UInt64
    public var steps: Int
    /// Before which step faults are drawn to happen; a shorter history keeps the longer one's.
    public var faultSteps: Int
    /// Of the faults drawn from the seed, those that happen; nil: all.
    public var faults: Set<Int>?
    /// A way in which the gate is wrong, by its name, where the build has those.
    public var plantedBug: String?
    /// Whether the history is kept in words.
    public var keepsHistory: Bool

    public init(
      seed: UInt64, steps: Int, faultSteps: Int? = nil, faults: Set<Int>? = nil,
      keepsHistory: Bool = false
    ) {
      self.seed = seed
      self.steps = steps
      self.faultSteps = faultSteps ?? steps
      self.faults = faults
      self.keepsHistory = keepsHistory
    }
  }

  public struct Outcome: Sendable {
    public var seed: UInt64
    public var steps: Int
    /// The same for the same seed, on every machine.
    public var hash: UInt64
    /// Which promise was broken, and how; nil: none.
    public var broken: (rule: String, how: String)?
    /// The step at which it was found.
    public var brokenAtStep: Int
    /// The faults that happened, by their numbers, in words.
    public var faults: [(number: Int, words: String)]
    public var summary: String
    public var history: [String]
  }

  private let options: Options
  private let world: World
  private let surroundings: Surroundings
  private let ledger: Ledger
  private let observer: Observer
  private let workload: Workload
  private let faults: Faults
  private let fleet: Fleet

  public static func run(_ options: Options) -> Outcome {
    #if PlantedBugs
      PlantedBug.planted = options.plantedBug.map { PlantedBug(rawValue: $0)! }
    #endif
    // A process that traps says where.
    csim_say_on_trap("seed \(options.seed): trapped, within \(options.steps) steps\n")
    return Simulation(options).run()
  }

  /// The names of what can be planted; empty in a build for use.
  public static var plantedBugs: [String] {
    #if PlantedBugs
      PlantedBug.allCases.map(\.rawValue)
    #else
      []
    #endif
  }

  private init(_ options: Options) {
    self.options = options
    let scenario = Scenario(seed: options.seed)
    var config = BrokerConfig()
    config.seed = options.seed
    config.groupMinSessionTimeoutMs = 100
    config.transactionMarkerDelayMs = scenario.markerDelayMs
    config.transactionMarkerSpreadMs = scenario.markerSpreadMs
    world = World(seed: options.seed, config: config, keepsLines: options.keepsHistory)
    surroundings = Surroundings(scenario, world)
    ledger = Ledger(scenario, surroundings.wall)
    let lanes: [Lane] = scenario.hasSecurityLane ? [.ordinary, .security] : [.ordinary]
    observer = Observer(world, surroundings, ledger, lanes: lanes)
    workload = Workload(world, surroundings, ledger)
    fleet = Fleet(world, surroundings)
    faults = Faults(world, surroundings, fleet, steps: options.faultSteps, only: options.faults)
  }

  private func run() -> Outcome {
    world.trace.say(world.nowMs) { "\(surroundings.scenario)" }
    ledger.onReceipt = { [world] order, receipt in
      world.trace.say(world.nowMs) { "committed: \(receipt), step \(order)" }
    }
    workload.start()
    world.onRestart = { [unowned self] in observer.brokerRestarted() }
    world.onBrokerChange = { [unowned self] in observer.look() }
    fleet.onLaneEnd = { [unowned self] in check($0) }
    fleet.start()
    while world.steps < options.steps, ledger.violation == nil {
      faults.strike()
      guard world.step(untilMs: .max) else { break }
    }
    if ledger.violation == nil { settle() }
    let brokenAtStep = world.steps
    fleet.end()
    world.end()
    return Outcome(
      seed: options.seed, steps: world.steps, hash: world.trace.hash,
      broken: ledger.violation.map { ($0.rule, $0.text) }, brokenAtStep: brokenAtStep,
      faults: faults.happened, summary: ledger.summary, history: world.trace.lines)
  }

  /// A lane may be fenced, and may find that no producer helps; it never finds a log cut short here.
  private func check(_ end: LaneEnd) {
    switch end {
    case .drained, .abandoned, .fenced: break
    case .fatal(let reason) where reason.hasPrefix("no new producer helps"): break
    case .fatal, .offsetOutOfRange: ledger.fail("liveness", "a lane ended: \(end)")
    }
  }

  // MARK: The end

  /// Nothing goes wrong any more: whatever was issued must be decided, whatever was held must leave, and
  /// what is remembered must be no more than there is.
  private func settle() {
    faults.stop()
    workload.stop()
    let thawedAtMs = fleet.heal()
    pass(msMax: max(0, thawedAtMs - world.nowMs) + 1_000) { false }
    guard waitUntilDecided() else { return }
    // The night is over: whatever is held is due.
    surroundings.wall.skip(
      ms: surroundings.scenario.holdHoursMax * 3_600_000
        + surroundings.scenario.spreadSeconds * 1_000)
    pass(msMax: 60_000) { [self] in ledger.mustLeave.isEmpty }
    if let (key, hold) = ledger.mustLeave.min(by: { $0.key < $1.key }) {
      return ledger.fail(
        "forgotten", "the hold \(key) of candidate \(hold.input.number) does not leave")
    }
    // What is over is forgotten at commits, a thousand at a time.
    surroundings.wall.skip(ms: surroundings.scenario.horizonHours * 3_600_000)
    for _ in 0...(ledger.seen.count / 1_000) {
      workload.writeLast()
      guard waitUntilDecided() else { return }
    }
    pass(msMax: 2_500) { false }
    // What is over is forgotten when a restore ends; members come and go to the last.
    pass(msMax: 60_000) { [self] in !fleet.isRestoring }
    if !faults.haveSetClocks, surroundings.scenario.isExact { fleet.checkMemory(ledger) }
  }

  /// However long it takes, as long as something is decided now and then.
  private func waitUntilDecided() -> Bool {
    var seen = -1
    while let input = ledger.firstUndecided {
      guard input.number != seen else {
        ledger.fail(
          "liveness",
          "candidate \(input.number) of \(input.lane) is not decided after a minute's peace")
        return false
      }
      seen = input.number
      pass(msMax: 60_000) { [self] in ledger.firstUndecided == nil }
      if ledger.violation != nil { return false }
    }
    return true
  }

  private func pass(msMax: Int64, until isDone: () -> Bool) {
    let untilMs = world.nowMs + msMax
    while ledger.violation == nil, !isDone(), world.step(untilMs: untilMs) {}
  }
}
