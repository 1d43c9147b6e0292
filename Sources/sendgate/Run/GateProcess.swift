import Gate
import Glibc
import Pipeline
import Telemetry
import Web

/// The gate as a process: starts its threads in order, watches them from the main thread, and ends
/// them in order. Between the steps every thread is told by a flag; nothing here waits without a
/// bound.
final class GateProcess {
  private let world: SharedWorld
  private let untilIdleMs: Int64?
  private let clock = SystemClock()
  private let sideControl = LaneControl()
  private let findings = Findings()
  private let registry = MetricRegistry()
  private let zones: ZonesKeeper
  private let mainBeat: Heartbeat
  private var server: HTTPServer?
  private var runners: [LaneRunner] = []
  private var laneThreads: [NamedThread] = []
  private var sideThreads: [NamedThread] = []
  private var status: StatusLine
  private static let stopMsMin: Int64 = 2_000
  private static let abandonMsMax: Int64 = 1_000
  /// An obstacle that passes within this is none: a partition that was just assigned, a right that is
  /// being granted.
  private static let obstacleMsMax: Int64 = 10_000
  private var turnedAtMs: Int64 = 0
  private var obstacleSinceMs: Int64?
  private var drainUntilMs: Int64?
  private var isAskedToEnd = false
  /// When to end whatever the lanes are waiting in: they were told not to wait.
  private var leaveAtMs: Int64?
  /// Why the gate stops by itself: the exit code to end with.
  private var failure: Int32?

  init(_ configuration: GateConfiguration, untilIdleMs: Int64?) throws(CommandFailure) {
    try KafkaClients.check(configuration)
    world = try SharedWorld(configuration, log: configuration.makeLogger())
    self.untilIdleMs = untilIdleMs
    mainBeat = Heartbeat(
      name: "main loop", intervalMsMax: Int64(configuration.livenessTimeoutMs))
    status = StatusLine()
    zones = try ZonesKeeper(world, findings, registry)
  }

  /// The exit code.
  func run() -> Int32 {
    let log = world.log
    world.configuration.log(to: log)
    log.info(
      "The gate starts",
      [
        "version": .string(String(describing: GateVersion.text)),
        "policy": .string(world.policy.version),
        "tzdb": .string(zones.version),
      ])
    GateMetrics.register(world, findings, in: registry)
    guard startHTTP() else { return ExitCode.unavailable }
    defer { server?.stop() }
    startSideThreads()
    while !isOver() { turn() }
    let code = finish()
    log.info("The gate ended", ["exit.code": .integer(code)])
    log.flush()
    return code
  }

  // MARK: Starting

  /// The readers and watchers that are not lanes.
  private func startSideThreads() {
    let world = world
    let findings = findings
    let control = sideControl
    sideThreads.append(
      NamedThread(name: "topics") { TopicThread.run(world, findings, control) })
    sideThreads.append(
      NamedThread(name: "preferences") { PreferenceThread.run(world, findings, control) })
  }

  private func startLanes(_ counts: TopicCounts) {
    for worker in 0..<world.configuration.workers {
      runners.append(
        LaneRunner(.ordinary, worker: worker, world: world, partitionCount: counts.ordinary))
      runners.append(
        LaneRunner(.security, worker: worker, world: world, partitionCount: counts.security))
    }
    for runner in runners {
      GateMetrics.register(runner, in: registry)
      laneThreads.append(NamedThread(name: runner.name) { runner.run() })
    }
  }

  /// False where an address is set and cannot be listened on.
  private func startHTTP() -> Bool {
    guard let address = world.configuration.httpAddress else { return true }
    do throws(HTTPServerError) {
      let server = try HTTPServer(
        address: address,
        respond: HealthPages(world, findings, registry, mainBeat).respond)
      world.log.info(
        "Serving metrics and health",
        ["http.host": .string(address.host), "http.port": .integer(server.port)])
      self.server = server
      return true
    } catch {
      world.log.error(
        "Cannot serve http.address",
        ["http.address": .string("\(address)"), "reason": .string("\(error)")])
      return false
    }
  }

  // MARK: Watching

  private func turn() {
    if let signal = Signals.wait(ms: 100) { heed(signal) }
    mainBeat.beat()
    let nowMs = clock.monotonicMs()
    noteStop(nowMs)
    if runners.isEmpty, drainUntilMs == nil, let counts = findings.counts { startLanes(counts) }
    if let finding = findings.stop { stop(finding) }
    for runner in runners {
      if let end = runner.end { heed(end, of: runner) }
    }
    if let untilIdleMs, drainUntilMs == nil { heedIdleness(nowMs, forMs: untilIdleMs) }
    if let drainUntilMs, nowMs >= drainUntilMs { abandon(nowMs) }
    if let leaveAtMs, nowMs >= leaveAtMs { leave() }
    zones.turn(nowMs)
    findings.publish(runners)
    status.show(runners, isReady: world.readiness.isReady, users: world.preferences.users, nowMs)
  }

  /// This thread turns ten times a second and waits for nobody: a long gap is the whole process
  /// having been stopped, and whoever was stopped may have been replaced.
  private func noteStop(_ nowMs: Int64) {
    if turnedAtMs > 0, nowMs - turnedAtMs > Self.stopMsMin {
      world.log.warning(
        "The process was stopped for a while", ["stopped.ms": .integer(Int(nowMs - turnedAtMs))])
      for runner in runners { runner.control.noteStopped(atMs: nowMs) }
    }
    turnedAtMs = nowMs
  }

  private func heed(_ signal: String) {
    if drainUntilMs == nil {
      world.log.info("Draining", ["signal": .string(signal)])
      isAskedToEnd = true
      drain()
    } else {
      world.log.warning("Leaving without waiting", ["signal": .string(signal)])
      abandon(clock.monotonicMs())
    }
  }

  private func abandon(_ nowMs: Int64) {
    ask(.abandon)
    leaveAtMs = leaveAtMs ?? nowMs + Self.abandonMsMax
  }

  /// A lane inside a call to a broker that does not answer cannot be asked. What it left open is the
  /// coordinator's to abort.
  private func leave() -> Never {
    // A run that was to end by itself, and could not, did not read and commit all its input.
    let isUnread = untilIdleMs != nil && !isAskedToEnd
    let code = failure ?? (isUnread ? ExitCode.inputUnread : ExitCode.ok)
    world.log.warning("Left while lanes were waiting for a broker", ["exit.code": .integer(code)])
    world.log.flush()
    _exit(code)
  }

  /// A lane that ends by itself takes the others along: half a gate would go on unnoticed.
  private func heed(_ end: LaneEnd, of runner: LaneRunner) {
    guard drainUntilMs == nil || end != .drained else { return }
    switch end {
    case .drained, .abandoned: break
    case .fenced: failure = failure ?? ExitCode.fenced
    case .offsetOutOfRange: failure = failure ?? ExitCode.badData
    case .fatal: failure = failure ?? ExitCode.unavailable
    }
    drain()
  }

  private func stop(_ finding: Findings.Stop) {
    guard failure == nil else { return }
    for reason in finding.reasons {
      world.log.error("The gate stops deciding", ["reason": .string(reason)])
    }
    failure = finding.exitCode
    // What is decided now may be about the wrong user.
    ask(.discard)
    drain()
  }

  private func drain() {
    guard drainUntilMs == nil else { return }
    drainUntilMs = clock.monotonicMs() + Int64(world.configuration.drainTimeoutMs)
    ask(.drain)
    sideControl.ask(.drain)
  }

  private func ask(_ request: LaneControl.Request) {
    for runner in runners { runner.control.ask(request) }
  }

  /// Ends a run that was to end by itself: with 0 once all input is decided, and with a code of its
  /// own where some of it cannot be read. No input is what both look like from the lanes alone.
  private func heedIdleness(_ nowMs: Int64, forMs: Int64) {
    guard let obstacle = obstacle(nowMs) else {
      obstacleSinceMs = nil
      guard isIdle(nowMs, forMs: forMs) else { return }
      world.log.info("No input for long enough; draining")
      drain()
      return
    }
    let sinceMs = obstacleSinceMs ?? nowMs
    obstacleSinceMs = sinceMs
    guard nowMs - sinceMs >= max(forMs, Self.obstacleMsMax) else { return }
    world.log.error(
      "Ending without having read all input: it cannot be read", ["reason": .string(obstacle)])
    failure = ExitCode.inputUnread
    drain()
  }

  /// Why input is not read that may be there. What is merely late (a broker that is away, a state
  /// that is read back) is none.
  private func obstacle(_ nowMs: Int64) -> String? {
    if let refusal = findings.refusal(of: .topics) { return refusal }
    guard world.readiness.isReady else { return findings.refusal(of: .preferences) }
    for runner in runners {
      if let obstacle = runner.obstacle(nowMs: nowMs) { return obstacle }
      if let problem = runner.health.reading.problem { return problem }
    }
    return nil
  }

  private func isIdle(_ nowMs: Int64, forMs: Int64) -> Bool {
    guard world.readiness.isReady, !runners.isEmpty else { return false }
    return runners.allSatisfy { runner in
      runner.counters[.inputAtMs] > 0 && nowMs - runner.counters[.inputAtMs] >= forMs
        && runner.counters[.transactionRecords] == 0 && runner.counters[.ownedPartitions] > 0
        && runner.health.reading.unread == 0 && runner.health.reading.behind == 0
    }
  }

  private func isOver() -> Bool {
    guard drainUntilMs != nil else { return false }
    return runners.allSatisfy { $0.end != nil }
  }

  // MARK: Ending

  private func finish() -> Int32 {
    for thread in laneThreads { thread.join() }
    sideControl.ask(.abandon)
    for thread in sideThreads { thread.join() }
    status.finish(runners, nowMs: clock.monotonicMs())
    if untilIdleMs != nil, failure == nil { Summary.print(runners) }
    return failure ?? ExitCode.ok
  }
}
