import Gate
import Kafka
import Testing

@testable import sendgate

private func json(_ text: String) throws -> JSONValue {
  try Array(text.utf8).withUnsafeBytes { bytes in
    Result { () throws(JSONFault) in try JSONValue(bytes) }
  }.get()
}

/// What every part says of a state's user; a test changes the texts of some.
private struct Texts {
  enum Part: CaseIterable {
    case preferences, settings, now, published, record, attempt
  }

  var parts: [Part: String] = [:]
  var role = TopicRole.selfTest
  let state: SelfTestState

  init(_ state: SelfTestState) {
    self.state = state
    if state != .active { role = .dropped }
    let device = """
      "device_id":"\(state.deviceID)","os_permission":"\(state.device.osPermission)",\
      "token_status":"\(state.device.tokenStatus)"
      """
    parts[.preferences] = """
      {"version":7,"account":{"categories":{"transactional":{"state":"user-on"}}},\
      "devices":[{"device_id":"another","os_permission":"?"},{\(device)}]}
      """
    parts[.published] = parts[.preferences]
    parts[.settings] = """
      {\(device),"toggles":[{"category":"social","state":"off"},\
      {"category":"transactional","state":"\(state.toggle)"}]}
      """
    let blockedBy = state.blockedBy.map { "\"\($0)\"" }.joined(separator: ",")
    let decision = """
      "outcome":"\(state.outcome)","reason":"\(state.reason)","blocked_by":[\(blockedBy)],\
      "device_id":"\(state.deviceID)","category":"transactional"
      """
    parts[.now] = """
      {"policy_version":"p-1","decisions":[{"device_id":"another","category":"transactional"},\
      {\(decision)}]}
      """
    let values = """
      {"user_category_opt_in":{"account":"user-on","device":"default","effective":true},\
      "os_permission":"\(state.device.osPermission)",\
      "device_token_status":"\(state.device.tokenStatus)",\
      "quiet_hours":{"start":null,"end":null,"in_window":false},"suppression_reason":null}
      """
    let record = """
      \(decision),"user_id":"\(state.userID)","notification_id":"n",\
      "decided_at":"2026-03-09T22:30:00.000Z","policy_version":"p-1","preference_version":7,\
      "preference_offset":90,"tzdb_version":"2026f","gate_version":"0.1.0"
      """
    parts[.record] = "{\(record),\"evidence\":\(values)}"
    parts[.attempt] = """
      {\(record),"is_self_test":\(state == .active),"values":\(values),\
      "place":{"topic":"\(role.defaultName)","partition":3,"offset":17}}
      """
  }

  mutating func replace(_ a: String, _ b: String, in parts: [Part] = Part.allCases) {
    for part in parts { self.parts[part] = self.parts[part]?.replacing(a, with: b) }
  }

  func compared() throws -> [Disagreement] {
    var found = SelfTestFindings()
    func value(_ part: Part) throws -> JSONValue? { try parts[part].map(json) }
    found.preferences = try value(.preferences)
    found.settings = try value(.settings)
    found.now = try value(.now)
    found.published = try value(.published).map { (90, $0) }
    found.attempt = try value(.attempt)
    found.indexState = "no index is kept"
    if let record = try value(.record) {
      found.decisions = [
        SelfTestFindings.Decision(
          role: role, topic: role.defaultName, partition: 3, offset: 17, record: record)
      ]
    }
    var comparison = SelfTestComparison(
      state, category: "transactional", policyVersion: "p-1", waitedSeconds: 15)
    comparison.compare(found)
    return comparison.disagreements
  }
}

@Suite struct SelfTestComparisonTests {
  @Test(arguments: SelfTestState.allCases)
  func whatAgreesAgrees(state: SelfTestState) throws {
    #expect(try Texts(state).compared() == [])
  }

  /// Each part that says something else is named, and nothing beside it.
  @Test(
    arguments: [
      (.preferences, "granted", "denied", ["preferences.os_permission"]),
      (.preferences, "\"expired\"", "\"active\"", ["preferences.token_status"]),
      (.preferences, "user-on", "user-off", ["preferences.choice"]),
      (.settings, "granted", "provisional", ["settings.os_permission"]),
      (.settings, "\"expired\"", "\"active\"", ["settings.token_status"]),
      (.settings, "\"on\"", "\"blocked_at_os_level\"", ["settings.toggle"]),
      (.now, "p-1", "p-2", ["now.policy_version"]),
      (.now, "token_expired", "os_permission_denied", ["now.reason"]),
      (.now, "dropped", "approved", ["now.outcome"]),
      (.published, "\"expired\"", "\"active\"", ["published.token_status"]),
      (.published, "\"version\":7", "\"version\":6", ["published.version"]),
      (.attempt, "2026f", "2026e", ["attempt.tzdb_version"]),
      (.attempt, "17", "18", ["attempt.offset"]),
      (.attempt, "\"is_self_test\":false", "\"is_self_test\":true", ["attempt.is_self_test"]),
      (
        .attempt, "\"device_token_status\":\"expired\"", "\"device_token_status\":\"active\"",
        ["attempt.device_token_status"]
      ),
      (.attempt, "\"reason\":\"token_expired\"", "\"reason\":\"ok\"", ["attempt.reason"]),
    ] as [(Texts.Part, String, String, [String])])
  private func oneThatDiffersIsNamed(
    part: Texts.Part, from: String, to: String, names: [String]
  ) throws {
    var texts = Texts(.expired)
    texts.replace(from, to, in: [part])
    let found = try texts.compared()
    #expect(found.map(\.what) == names)
    #expect(found.allSatisfy { $0.state == .expired && !$0.look.isEmpty })
  }

  /// The gate's own word is in the record and in its copy alike.
  @Test(
    arguments: [
      ("\"preference_version\":7", "\"preference_version\":5", ["decision.preference_version"]),
      ("\"preference_version\":7", "\"preference_version\":null", ["decision.preference_version"]),
      ("p-1", "p-2", ["decision.policy_version"]),
      (
        "\"device_token_status\":\"expired\"", "\"device_token_status\":\"active\"",
        ["decision.device_token_status", "attempt.device_token_status"]
      ),
      ("\"reason\":\"token_expired\"", "\"reason\":\"ok\"", ["decision.reason"]),
      ("\"outcome\":\"dropped\"", "\"outcome\":\"approved\"", ["decision.outcome"]),
      ("[\"token_expired\"]", "[\"token_expired\",\"frequency_capped\"]", ["decision.blocked_by"]),
      (
        "\"account\":\"user-on\"", "\"account\":\"default\"",
        ["decision.choice.account", "attempt.choice.account"]
      ),
      (
        "\"effective\":true", "\"effective\":false",
        ["decision.choice.effective", "attempt.choice.effective"]
      ),
      (
        "\"in_window\":false", "\"in_window\":true",
        ["decision.in_window", "attempt.in_window"]
      ),
      (
        "\"suppression_reason\":null", "\"suppression_reason\":\"bounced\"",
        ["decision.suppression_reason", "attempt.suppression_reason"]
      ),
    ])
  func theGatesWordIsHeldAgainstTheRules(from: String, to: String, names: [String]) throws {
    var texts = Texts(.expired)
    texts.replace(from, to, in: [.record, .attempt])
    #expect(try texts.compared().map(\.what) == names)
  }

  @Test func aLaterVersionIsSomebodyElsesChange() throws {
    var texts = Texts(.active)
    texts.replace("\"preference_version\":7", "\"preference_version\":8")
    texts.replace("\"version\":7", "\"version\":8", in: [.published])
    #expect(try texts.compared() == [])
  }

  @Test(
    arguments: [
      (
        .preferences,
        ["preferences.os_permission", "preferences.token_status", "preferences.choice"]
      ),
      (.settings, ["settings.os_permission", "settings.token_status", "settings.toggle"]),
      (.now, ["now.policy_version", "now.outcome", "now.reason"]),
      (.published, ["published.version"]), (.record, ["decision"]), (.attempt, ["attempt"]),
    ] as [(Texts.Part, [String])])
  private func whatIsMissingIsNamed(part: Texts.Part, names: [String]) throws {
    var texts = Texts(.active)
    texts.parts[part] = nil
    #expect(try texts.compared().map(\.what) == names)
  }

  @Test func anApprovalThatADispatcherSeesIsNamed() throws {
    var texts = Texts(.active)
    texts.replace("notifications.selftest", "notifications.approved")
    texts.role = .approved
    let found = try texts.compared()
    #expect(found.map(\.what) == ["decision.topic"])
    #expect(found.map(\.look) == [SelfTestPlace.routing])
  }

  /// Each run changes each device, so that an earlier run's document is told from this one's.
  @Test(arguments: SelfTestState.allCases)
  func everyRunChangesSomething(state: SelfTestState) {
    #expect(state.device != state.deviceBefore)
    #expect(SelfTestUser.isReserved(state.userID))
  }

  /// A false alarm is worse than none: two runs at once are told by the versions.
  @Test func anotherHandIsToldByTheVersion() {
    var found = SelfTestFindings()
    #expect(!found.isDisturbed(now: 7), "nothing was changed")
    found.ownVersion = 7
    #expect(!found.isDisturbed(now: 7))
    #expect(found.isDisturbed(now: 8))
    #expect(found.isDisturbed(now: nil), "erased")
  }

  @Test func whatIsCappedIsNotTheSelfTests() {
    #expect(SelfTestSettings.category(.builtIn) == .transactional)
  }
}
