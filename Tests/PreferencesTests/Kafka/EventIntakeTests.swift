import Gate
import Kafka
import Telemetry
import Testing

@testable import Preferences

@Suite final class EventIntakeTests {
  private var world: StoreWorld!
  let broker: TestBroker
  let user = Identifier("u-1")

  init() throws {
    broker = try TestBroker()
    try broker.create()
  }

  private func intake(_ settings: IntakeSettings = IntakeSettings()) throws -> EventIntake {
    try EventIntake(
      world.service, properties: broker.properties, topics: TopicNames(), settings: settings,
      log: Logger(format: .json, levelMin: .error), onEvent: { _ in })
  }

  /// Runs an intake until everything that is there is applied.
  private func readAll(_ settings: IntakeSettings = IntakeSettings()) throws -> IntakeCounters {
    let intake = try intake(settings)
    try run(intake) { intake.counters.isCaughtUp.value }
    return intake.counters
  }

  /// Lets it read until it is so, and ends it.
  private func run(_ intake: EventIntake, until isSo: () throws -> Bool) throws {
    defer { intake.stop() }
    try world.wait(for: "the intake", isSo)
  }

  private func choice(
    _ id: String, _ user: String = "u-1", state: String = "user-off",
    source: String = "in_app_settings", at ms: Int64 = StoreWorld.startMs
  ) -> (key: String?, value: String?) {
    (
      user,
      """
      {"type":"choice_set","event_id":"\(id)","user_id":"\(user)","at":\(ms),"scope":"account",\
      "category":"marketing","state":"\(state)","source":"\(source)"}
      """
    )
  }

  @Test(arguments: Backend.allCases)
  func eventsAreAppliedOnceAndReadOnFromWhereTheyEnded(on backend: Backend) throws {
    world = try StoreWorld(backend)
    try broker.write((0..<300).map { choice("e-\($0)", "u-\($0 % 10)") }, to: .preferenceEvents)
    #expect(try readAll().events.value == 300)
    #expect(try world.service.user(user)?.account.choices[.marketing]?.state == .userOff)
    let requests = world.service.counters.requests.value
    #expect(requests < 60, "\(requests) requests for 300 events")

    try world.reopen()
    try broker.write([choice("late", state: "user-on", at: world.nowMs + 1)], to: .preferenceEvents)
    #expect(try readAll().events.value == 1)
    #expect(try world.audit(user).last?.eventID.text == "late")
  }

  /// Field report C135 and the like: none is lost from sight, none stops the others.
  @Test(arguments: Backend.allCases)
  func whatCannotBeReadIsOnRecordAndStopsNothing(on backend: Backend) throws {
    world = try StoreWorld(backend)
    try broker.write(
      [
        choice("e-1"),
        (user.text, "no json"), (user.text, nil), (user.text, ""),
        (user.text, #"{"type":"choice_set","event_id":"e-2","user_id":"u-1","at":1}"#),
        choice("e-3", state: "withdrawn "),
        choice("e-4", source: "link_get"),
        ("u-2", choice("e-5").value), (nil, choice("e-6").value),
        choice("e-7", source: "admin_override"),
        (
          user.text,
          #"{"type":"permission_prompt_shown","event_id":"e-9","user_id":"u-1","at":1780000000000,"#
            + #""device_id":"d-1","moment":"a\u0000b"}"#
        ),
        (
          "social",
          #"{"type":"default_set","event_id":"d-1","at":1780000000000,"category":"social"}"#
        ),
        choice("e-8", state: "user-on", at: world.nowMs + 1),
      ], to: .preferenceEvents)
    let counters = try readAll()
    #expect(counters.events.value == 13)
    #expect(counters.unreadable.value == 11)
    #expect(counters.skipped.value == 0)
    #expect(try world.service.user(user)?.account.choices[.marketing]?.state == .userOn)

    let ofUser = try world.audit(user)
    #expect(ofUser.filter { $0.outcome == .applied }.map(\.eventID.text) == ["e-1", "e-8"])
    let unreadable = ofUser.filter { $0.kind == .unreadable }
    let ofNobody = try world.service.auditOfDefaults(limit: 100)
    #expect(unreadable.count + ofNobody.count == 11)
    #expect(unreadable.contains { $0.eventID.text == "e-3" && $0.reason == "unknown_value" })
    #expect(unreadable.contains { $0.eventID.text == "e-9" && $0.reason == "malformed_id" })
    #expect(unreadable.contains { $0.eventID.text == "e-7" && $0.outcome == .refused })
    #expect(ofNobody.contains { $0.reason == "malformed_json" })
    #expect(try world.service.defaults()[.social] == nil)
  }

  @Test(arguments: Backend.allCases)
  func administratorsAreHeardWhereTheTopicIsTheirs(on backend: Backend) throws {
    world = try StoreWorld(backend)
    var settings = IntakeSettings()
    settings.takesAdminEvents = true
    try broker.write(
      [
        choice("e-1", source: "admin_override"),
        (
          "social",
          """
          {"type":"default_set","event_id":"d-1","at":1780000000000,"category":"social",\
          "default":"off","regulated_default":"off"}
          """
        ),
      ], to: .preferenceEvents)
    #expect(try readAll(settings).unreadable.value == 0)
    #expect(
      try world.service.defaults()[.social]
        == CategoryDefault(isOn: false, isOnWhereRegulated: false))
    #expect(
      try world.service.user(user)?.account.choices[.marketing]?.inForce?.source == .adminOverride)
  }

  /// What HTTP reserves for support and administrators is theirs here too.
  @Test(arguments: Backend.allCases)
  func whatIsNotAnAppsToSayIsRefusedAndOnRecord(on backend: Backend) throws {
    world = try StoreWorld(backend)
    func events(_ prefix: String) -> [(key: String?, value: String?)] {
      [
        #""type":"suppression_set","scope":"account","suppression":"abuse_hold""#,
        #""type":"suppression_cleared","scope":"account","suppression":"legal_hold""#,
        #""type":"token_feedback","device_id":"d-1","provider":"apns","code":"Unregistered""#,
        #""type":"user_erased""#,
      ].enumerated().map { number, members in
        let at = world.nowMs + Int64(number)
        return (
          user.text,
          "{\"event_id\":\"\(prefix)\(number)\",\"user_id\":\"u-1\",\"at\":\(at),\(members)}"
        )
      }
    }
    _ = try world.service.apply(world.seen("e-1", user, "d-1"))
    let before = try world.service.user(user)
    try broker.write(events("a-"), to: .preferenceEvents)
    #expect(try readAll().unreadable.value == 4)
    #expect(try world.service.user(user) == before)
    let refused = try world.audit(user).filter { $0.kind == .unreadable }
    #expect(refused.map(\.eventID.text) == ["a-0", "a-1", "a-2", "a-3"])
    for row in refused {
      #expect(row.outcome == .refused && row.reason == "unknown_value")
      #expect(row.after?.hasPrefix("event member type: ") == true)
    }

    var settings = IntakeSettings()
    settings.takesAdminEvents = true
    try broker.write(events("b-"), to: .preferenceEvents)
    #expect(try readAll(settings).unreadable.value == 0)
    #expect(try world.service.user(user) == nil)
  }

  @Test(arguments: Backend.allCases)
  func receiptsFeedBack(on backend: Backend) throws {
    world = try StoreWorld(backend)
    _ = try world.service.apply(world.seen("e-1", user, "d-1"))
    let accepted = """
      {"notification_id":"n","device_id":"d-1","user_id":"u-1","provider":"apns",\
      "status":"accepted","at":\(world.nowMs + 1)}
      """
    let rejected = """
      {"notification_id":"n","device_id":"d-1","user_id":"u-1","provider":"apns",\
      "status":"rejected","code":"Unregistered","at":\(world.nowMs + 2)}
      """
    let tapped = """
      {"notification_id":"n","device_id":"d-1","user_id":"u-1","event":"user_observed",\
      "via":"tap","at":\(world.nowMs + 3)}
      """
    let of = { (value: String?) -> (key: String?, value: String?) in ("u-1", value) }
    try broker.write(
      [of(accepted), of(nil), of("no json"), of(tapped), of(rejected), of(rejected)], to: .receipts)
    let counters = try readAll()
    #expect(counters.receipts.value == 6)
    #expect(counters.feedback.value == 2)
    let device = try world.service.user(user)?.devices[Identifier("d-1")]
    #expect(device?.tokenStatus == .expired)
    #expect(try world.audit(user).filter { $0.kind == .tokenStatus }.count == 1)
    // The receipts without an effect are remembered too.
    #expect(try readAll().receipts.value == 0)
  }

  /// Offsets are kept with the effects: the same records again have none, even of events whose ids
  /// are long forgotten.
  @Test(arguments: Backend.allCases)
  func whatWasAppliedIsNotAppliedAgain(on backend: Backend) throws {
    world = try StoreWorld(backend)
    let partition = IntakePartition(topic: "t", number: 0)
    let records = (0..<5).map { number in
      IntakeRecord(
        partition: partition, offset: Int64(number),
        content: .user(
          world.choice("e-\(number)", user, .marketing, .userOn, at: world.nowMs + Int64(number))))
    }
    let end = IntakeEnd(partition: partition, nextOffset: 5)
    try world.service.take(Array(records[..<3]), ends: [.init(partition: partition, nextOffset: 3)])
    #expect(try world.audit(user).count == 3)
    world.nowMs += 40 * 86_400_000
    try world.service.forgetOld()
    for _ in 0..<2 { try world.service.take(records, ends: [end]) }
    #expect(try world.audit(user).count == 5)
    #expect(try world.service.intakeOffsets("t") == [0: 5])
  }

  /// The topic was made anew, or retention was faster than the reader: said loudly, then read.
  @Test(arguments: Backend.allCases)
  func recordsThatAreGoneAreCountedAndTheRestIsRead(on backend: Backend) throws {
    world = try StoreWorld(backend)
    try broker.write([choice("e-1")], to: .preferenceEvents)
    for partition: Int32 in 0..<3 {
      try world.service.resetIntake("preferences.events", partition, to: 500)
    }
    let intake = try EventIntake(
      world.service, properties: broker.properties, topics: TopicNames(),
      log: Logger(format: .json, levelMin: .error, sink: { _ in }), onEvent: { _ in })
    try run(intake) { try world.service.user(user) != nil }
    #expect(intake.counters.gaps.value == 3)
    #expect(try world.service.intakeOffsets("preferences.events").values.reduce(0, +) == 1)
  }

  @Test(arguments: Backend.allCases)
  func aTopicThatIsNotThereYetIsWaitedFor(on backend: Backend) throws {
    world = try StoreWorld(backend)
    let empty = try TestBroker()
    let intake = try EventIntake(
      world.service, properties: empty.properties, topics: TopicNames(), log: quietLog,
      onEvent: { _ in })
    #expect(!intake.counters.isCaughtUp.value)
    try empty.create()
    try empty.write([choice("e-1")], to: .preferenceEvents)
    try run(intake) { try world.service.user(user) != nil }
  }
}
