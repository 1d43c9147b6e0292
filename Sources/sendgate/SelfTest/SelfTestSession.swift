import Gate
import Kafka
import Producer
import Telemetry
import Web

/// One run: the self-test's users are put into their states through the preference service, a
/// notification each goes through the gate, and what every part says of it is collected.
final class SelfTestSession {
  let settings: SelfTestSettings
  private let log: Logger
  private let watch: OutputWatch
  private let publisher: CandidatePublisher
  /// Nobody else's notifications begin so.
  private let runID = NewEventID.make("selftest")
  private let startedAtMs = SystemTime.wallClockMs()
  private let startedNs = SystemTime.monotonicNs()
  var found: [SelfTestState: SelfTestFindings] = [:]
  private var sentCount: [SelfTestState: Int] = [:]
  /// Seen on `notifications.approved`, whatever became of the rest.
  private var leaks: [Disagreement] = []
  private var seconds: [(step: String, seconds: Double)] = []
  /// Of the step that is under way.
  private(set) var deadline: StepDeadline
  var service: StepService { StepService(client: settings.service, deadline: deadline) }

  private static let pollMs: Int32 = 50
  private static let resendMs = 1_000
  private static let expiryMs: Int64 = 600_000

  init(_ settings: SelfTestSettings, _ log: Logger) throws(CommandFailure) {
    self.settings = settings
    self.log = log
    deadline = StepDeadline("start", limitMs: settings.stepTimeoutMs)
    watch = try OutputWatch(
      settings.gate, users: SelfTestState.allCases.map(\.userID), log)
    do throws(ConfigurationError) {
      publisher = try CandidatePublisher(
        topic: settings.gate.topics[.candidate], properties: settings.gate.kafkaProperties,
        onEvent: kafkaEvents(to: log, client: "self-test publisher"))
    } catch {
      watch.close()
      throw CommandFailure(error)
    }
    for state in SelfTestState.allCases { found[state] = SelfTestFindings() }
  }

  func close() {
    publisher.close()
    watch.close()
  }

  /// Throws where it could not be run; what does not agree is in the report.
  func run() throws(CommandFailure) -> SelfTestReport {
    try step("start") { () throws(CommandFailure) in
      try watch.start(deadline)
    }
    try step("preferences") { () throws(CommandFailure) in
      for state in SelfTestState.allCases { try prepare(state) }
    }
    try step("published") { () throws(CommandFailure) in
      try wait { isPublished($0) }
    }
    try step("decisions") { () throws(CommandFailure) in try decide() }
    try step("index") { () throws(CommandFailure) in try lookIntoIndex() }
    if !unseen.isEmpty {
      try step("index_state") { () throws(CommandFailure) in try askIndexState() }
    }
    // What came after the first decision that counted: another one, or one on another topic.
    watch.poll(timeoutMs: Self.pollMs * 4, take)
    let report = report()
    // That a dispatcher can see an approval is the gate's doing, whoever changed the users.
    if !report.passed && leaks.isEmpty {
      try step("alone") { () throws(CommandFailure) in try checkAlone(report) }
    }
    return report
  }

  private func step(
    _ name: String, _ body: () throws(CommandFailure) -> Void
  ) throws(CommandFailure) {
    let beganNs = SystemTime.monotonicNs()
    deadline = StepDeadline(name, limitMs: settings.stepTimeoutMs, nowNs: beganNs)
    try body()
    seconds.append((name, Double(SystemTime.monotonicNs() - beganNs) / 1e9))
  }

  /// Reads what comes until it is so of every state, or the step's time is up.
  private func wait(
    _ isSettled: (SelfTestState) -> Bool, eachTurn: () throws(CommandFailure) -> Void = {}
  ) throws(CommandFailure) {
    while !SelfTestState.allCases.allSatisfy(isSettled), deadline.leftMs() > 0 {
      watch.poll(timeoutMs: Self.pollMs, take)
      if let problem = watch.problem { throw CommandFailure(ExitCode.notRun, problem) }
      try eachTurn()
    }
  }

  private func take(_ record: OutputWatch.Record) {
    guard let state = SelfTestState.allCases.first(where: { Array($0.userID.utf8) == record.key })
    else { return }
    if record.role == .preferences {
      found[state]!.published = (record.offset, record.value)
      return
    }
    if record.role == .approved {
      leaks.append(
        Disagreement(
          state: state, what: "approved", expected: "no record of the self-test's users",
          found: "\(record.topic) \(record.partition)@\(record.offset)",
          look: SelfTestPlace.routing))
    }
    guard record.value.at("notification_id")?.string == found[state]!.notificationID else { return }
    found[state]!.decisions.append(
      SelfTestFindings.Decision(
        role: record.role, topic: record.topic, partition: record.partition,
        offset: record.offset, record: record.value))
  }

  // MARK: The preference service

  private func prepare(_ state: SelfTestState) throws(CommandFailure) {
    let user = "/v1/users/\(state.userID)"
    let device = "\(user)/devices/\(state.deviceID)"
    let category = "\(settings.category.name)"
    try service.must(
      "PUT", "\(user)/choices/\(category)", #"{"state":"user-on","source":"in_app_settings"}"#)
    // The device last: whoever else changed something before, the document is right by this version.
    for seen in [state.deviceBefore, state.device] {
      let body = JSONLine.make { line in
        line.add("platform", seen.platform)
        line.add("os_permission", seen.osPermission)
        line.add("token_status", seen.tokenStatus)
        line.add("timezone", "UTC")
        line.add("region", "US")
      }
      found[state]!.ownVersion =
        try service.must("PUT", device, body).json?.at("version")?.integer
    }
    found[state]!.preferences = try service.get("\(user)/preferences")
    found[state]!.settings = try service.get("\(device)/settings")
    found[state]!.now = try service.get("/v1/evidence/users/\(state.userID)/now")
  }

  private func isPublished(_ state: SelfTestState) -> Bool {
    guard let wanted = found[state]!.version else { return true }
    return (found[state]!.published?.document.at("version")?.integer ?? 0) >= wanted
  }

  // MARK: The gate

  /// A gate that has not followed yet is given the step's time to: what it decides until then is asked
  /// again, under another id.
  private func decide() throws(CommandFailure) {
    var resendAtNs: [SelfTestState: Int64] = [:]
    func send(_ states: [SelfTestState]) throws(CommandFailure) {
      guard !states.isEmpty else { return }
      try publish(states)
      for state in states {
        resendAtNs[state] = SystemTime.monotonicNs() + Int64(Self.resendMs) * 1_000_000
      }
    }
    try send(SelfTestState.allCases)
    try wait(isDecided) { () throws(CommandFailure) in
      let nowNs = SystemTime.monotonicNs()
      try send(
        SelfTestState.allCases.filter { state in
          !isDecided(state) && !found[state]!.decisions.isEmpty && resendAtNs[state]! <= nowNs
            // Later it could not be decided in time either.
            && deadline.leftMs() > Self.resendMs
        })
    }
  }

  /// By a document that is not older than the one that the service has answered.
  private func isDecided(_ state: SelfTestState) -> Bool {
    guard let decision = found[state]!.decisions.last else { return false }
    return (decision.record.at("preference_version")?.integer ?? 0) >= found[state]!.version ?? 0
  }

  private func publish(_ states: [SelfTestState]) throws(CommandFailure) {
    do throws(KafkaError) {
      for state in states {
        sentCount[state, default: 0] += 1
        let id = "\(runID)-\(state.rawValue)-\(sentCount[state]!)"
        found[state]!.notificationID = id
        found[state]!.decisions = []
        let value = JSONLine.make { line in
          line.add("notification_id", id)
          line.add("user_id", state.userID)
          line.add("device_id", state.deviceID)
          line.add("category", "\(settings.category.name)")
          line.add("expires_at", RFC3339.text(ms: SystemTime.wallClockMs() + Self.expiryMs))
        }
        let key = Array(state.userID.utf8)
        let bytes = Array(value.utf8)
        try key.withUnsafeBytes { key in
          bytes.withUnsafeBytes { value in
            Result { () throws(KafkaError) in try publisher.publish(key: key, value: value) }
          }
        }.get()
      }
      try publisher.finish(timeoutMs: Int32(deadline.leftMs()))
    } catch {
      throw deadline.failure("no notification could be written to be decided: \(error)")
    }
  }

  // MARK: The end

  private func report() -> SelfTestReport {
    let states = SelfTestState.allCases.map { state in
      var comparison = SelfTestComparison(
        state, category: "\(settings.category.name)", policyVersion: settings.policy.version,
        waitedSeconds: settings.stepTimeoutMs / 1_000)
      comparison.compare(found[state]!)
      return SelfTestReport.OfState(
        state: state, found: found[state]!, disagreements: comparison.disagreements)
    }
    return SelfTestReport(
      runID: runID, atMs: startedAtMs,
      seconds: Double(SystemTime.monotonicNs() - startedNs) / 1e9, steps: seconds,
      category: "\(settings.category.name)", policyVersion: settings.policy.version,
      states: states, others: leaks)
  }

  /// Keeps the report where the console shows it. Nil where that worked.
  func keep(_ report: SelfTestReport) -> Disagreement? {
    let found: String
    do throws(ServiceFailure) {
      let reply = try settings.service.ask(
        "POST", "/v1/evidence/selftests", body: report.json)
      if reply.isGood { return nil }
      found = "\(reply.status) \(reply.code ?? reply.excerpt)"
    } catch {
      found = error.words
    }
    return Disagreement(
      state: nil, what: "evidence", expected: "the run is kept", found: found,
      look: SelfTestPlace.index)
  }
}
