import Gate
import Kafka

/// What was seen of one state's user in a run. Nothing where there was nothing to see.
struct SelfTestFindings {
  /// Of the document, after the run's own last change to it.
  var ownVersion: Int64?
  /// The document, as the preference service answers.
  var preferences: JSONValue?
  /// The device's settings, as its page shows them.
  var settings: JSONValue?
  /// What the service itself would decide at that moment.
  var now: JSONValue?
  /// The newest document on `preferences.state` when the gate had decided.
  var published: (offset: Int64, document: JSONValue)?
  /// What the gate made of the notification, and where that stands.
  var decisions: [Decision] = []
  /// The same record in the index.
  var attempt: JSONValue?
  /// Of the index, where it has no such record: what it says of itself.
  var indexState = ""
  var notificationID = ""

  struct Decision {
    var role: TopicRole
    var topic: String
    var partition: Int32
    var offset: Int64
    var record: JSONValue

    var place: String { "\(topic) \(partition)@\(offset)" }
  }

  var version: Int64? { preferences?.at("version")?.integer }

  /// Whether somebody else had a hand in what was seen: versions only rise, so one that is still the
  /// run's own was so all the while.
  /// - Parameter version: of the document once everything was seen; nil: there is none any more.
  func isDisturbed(now version: Int64?) -> Bool {
    guard let ownVersion else { return false }
    return version != ownVersion
  }
}

/// Holds everything that was seen of one state against what must be, and against each other. A pure
/// function of what was seen.
struct SelfTestComparison {
  let state: SelfTestState
  let category: String
  /// Of the policy that the self-test's own configuration names.
  let policyVersion: String
  let waitedSeconds: Int
  private(set) var disagreements: [Disagreement] = []

  init(_ state: SelfTestState, category: String, policyVersion: String, waitedSeconds: Int) {
    self.state = state
    self.category = category
    self.policyVersion = policyVersion
    self.waitedSeconds = waitedSeconds
  }

  mutating func compare(_ found: SelfTestFindings) {
    compareService(found)
    comparePublished(found)
    compareDecision(found)
    if let decision = found.decisions.last { compareIndex(found, decision) }
  }

  // MARK: The preference service

  private mutating func compareService(_ found: SelfTestFindings) {
    let document = found.preferences
    let device = document?.at("devices")?.elements.first {
      $0.at("device_id")?.string == state.deviceID
    }
    expect("preferences.os_permission", state.device.osPermission, device?.at("os_permission"))
    expect("preferences.token_status", state.device.tokenStatus, device?.at("token_status"))
    expect(
      "preferences.choice", "user-on", document?.at("account", "categories", category, "state"))
    expect("settings.os_permission", state.device.osPermission, found.settings?.at("os_permission"))
    expect("settings.token_status", state.device.tokenStatus, found.settings?.at("token_status"))
    let toggle = found.settings?.at("toggles")?.elements.first {
      $0.at("category")?.string == category
    }
    expect("settings.toggle", state.toggle, toggle?.at("state"))

    let now = found.now?.at("decisions")?.elements.first {
      $0.at("device_id")?.string == state.deviceID && $0.at("category")?.string == category
    }
    expect(
      "now.policy_version", policyVersion, found.now?.at("policy_version"), SelfTestPlace.policy)
    expect("now.outcome", state.outcome, now?.at("outcome"), SelfTestPlace.now)
    expect("now.reason", state.reason, now?.at("reason"), SelfTestPlace.now)
  }

  private mutating func comparePublished(_ found: SelfTestFindings) {
    guard let published = found.published else {
      return add(
        "published.version", found.version.map { "\($0)" } ?? "a document",
        "none within \(waitedSeconds) s", SelfTestPlace.outbox)
    }
    let device = published.document.at("devices")?.elements.first {
      $0.at("device_id")?.string == state.deviceID
    }
    if let wanted = found.version, let version = published.document.at("version")?.integer,
      version < wanted
    {
      add("published.version", "\(wanted)", "\(version)", SelfTestPlace.outbox)
    }
    let look = SelfTestPlace.topic
    expect("published.os_permission", state.device.osPermission, device?.at("os_permission"), look)
    expect("published.token_status", state.device.tokenStatus, device?.at("token_status"), look)
  }

  // MARK: The gate

  private mutating func compareDecision(_ found: SelfTestFindings) {
    guard let decision = found.decisions.last else {
      return add(
        "decision", "one within \(waitedSeconds) s", "none", SelfTestPlace.gateSilent)
    }
    let record = decision.record
    if found.decisions.count > 1 {
      let places = found.decisions.map(\.place).joined(separator: ", ")
      add("decision.count", "1", "\(found.decisions.count) (\(places))", SelfTestPlace.gate)
    }
    let wanted: TopicRole = state == .active ? .selfTest : .dropped
    if decision.role != wanted {
      let isSeen = decision.role == .approved
      add(
        "decision.topic", wanted.defaultName, decision.topic,
        isSeen ? SelfTestPlace.routing : SelfTestPlace.gate)
    }
    if let version = found.version, let decidedOn = record.at("preference_version")?.integer,
      decidedOn < version
    {
      add(
        "decision.preference_version", "\(version)",
        "\(decidedOn), of offset \(record.at("preference_offset")?.shown ?? "none"), after"
          + " \(waitedSeconds) s", SelfTestPlace.gateStale)
    } else {
      expect(
        "decision.preference_version", atLeast: found.version, record.at("preference_version"))
    }
    expect(
      "decision.policy_version", policyVersion, record.at("policy_version"), SelfTestPlace.policy)
    let look = SelfTestPlace.gate
    expect("decision.outcome", state.outcome, record.at("outcome"), look)
    expect("decision.reason", state.reason, record.at("reason"), look)
    expect("decision.blocked_by", list(state.blockedBy), record.at("blocked_by"), look)
    compareValues("decision", record.at("evidence"), look)
  }

  /// The five values, as a record or the index tells them.
  private mutating func compareValues(_ whose: String, _ values: JSONValue?, _ look: String) {
    expect("\(whose).os_permission", state.device.osPermission, values?.at("os_permission"), look)
    expect(
      "\(whose).device_token_status", state.device.tokenStatus,
      values?.at("device_token_status"), look)
    let choice = values?.at("user_category_opt_in")
    expect("\(whose).choice.account", "user-on", choice?.at("account"), look)
    expect("\(whose).choice.effective", "true", choice?.at("effective"), look)
    expect("\(whose).suppression_reason", "null", values?.at("suppression_reason"), look)
    expect("\(whose).in_window", "false", values?.at("quiet_hours", "in_window"), look)
  }

  // MARK: The index

  private mutating func compareIndex(
    _ found: SelfTestFindings, _ decision: SelfTestFindings.Decision
  ) {
    guard let attempt = found.attempt else {
      return add(
        "attempt", "the record of \(decision.place) within \(waitedSeconds) s",
        "none; \(found.indexState)", SelfTestPlace.index)
    }
    let look = SelfTestPlace.indexWrong
    let record = decision.record
    for name in [
      "outcome", "reason", "blocked_by", "user_id", "device_id", "category", "decided_at",
      "policy_version", "preference_version", "preference_offset", "tzdb_version", "gate_version",
    ] {
      expect("attempt.\(name)", record.at(name)?.shown ?? "null", attempt.at(name), look)
    }
    let place = attempt.at("place")
    expect("attempt.topic", decision.topic, place?.at("topic"), look)
    expect("attempt.partition", "\(decision.partition)", place?.at("partition"), look)
    expect("attempt.offset", "\(decision.offset)", place?.at("offset"), look)
    expect(
      "attempt.is_self_test", state == .active ? "true" : "false", attempt.at("is_self_test"), look)
    compareValues("attempt", attempt.at("values"), look)
  }

  // MARK: Saying so

  private mutating func expect(
    _ what: String, _ expected: String, _ found: JSONValue?,
    _ look: String = SelfTestPlace.service
  ) {
    let shown = found?.shown ?? "nothing"
    if shown != expected { add(what, expected, shown, look) }
  }

  /// A later one is somebody else's change, and as good.
  private mutating func expect(_ what: String, atLeast version: Int64?, _ found: JSONValue?) {
    guard let version, found?.integer == nil else { return }
    add(what, "\(version)", found?.shown ?? "nothing", SelfTestPlace.gateStale)
  }

  private mutating func add(_ what: String, _ expected: String, _ found: String, _ look: String) {
    disagreements.append(
      Disagreement(state: state, what: what, expected: expected, found: found, look: look))
  }

  private func list(_ codes: [String]) -> String {
    "[\(codes.map { "\"\($0)\"" }.joined(separator: ","))]"
  }
}
