import Testing

@testable import Gate

/// Row 6 through the engine, and what it leaves for the state topic.
@Suite struct DuplicateTests {
  static let policyOfOneHour = policy { text in
    text.replacing("\"duplicates_horizon_hours\": 96", with: "\"duplicates_horizon_hours\": 1")
      .replacing("\"hold_hours_max\": 72", with: "\"hold_hours_max\": 1")
  }

  static func policy(_ edit: (String) -> String) -> Policy {
    let text = edit(String(decoding: repositoryFile("deploy/policy.json"), as: UTF8.self))
    return withBytes(text) { try! Policy(json: $0) }
  }

  static func device(_ id: String, _ more: String = "") -> String {
    #"{"device_id":"\#(id)","platform":"ios","os_permission":"granted","token_status":"active","region":"US"\#(more)}"#
  }
  static func document(_ devices: String, _ account: String = "") -> String {
    #"{"user_id":"u","version":1,"account":{\#(account)},"devices":[\#(devices)]}"#
  }
  static func candidate(_ id: String, _ category: String = "social", _ more: String = "") -> [UInt8]
  {
    Array(#"{"notification_id":"\#(id)","user_id":"u","category":"\#(category)"\#(more)}"#.utf8)
  }
  static let nowMs: Int64 = 1_773_095_400_000

  final class Lane {
    let state: LaneState
    let gate: TestGate
    init(_ documents: [String], policy: Policy = .builtIn, partitions: [Int32] = [0]) {
      state = LaneState(policy: policy, partitionCount: 1, hashKey: (3, 4))
      for partition in partitions { state.open(partition) }
      gate = TestGate(policy: policy, documents: documents, state: state)
    }
    func verdicts(_ values: [[UInt8]], at nowMs: Int64 = nowMs, partition: Int32 = 0) -> [String] {
      gate.decideAll(values.map { ($0, nil, partition) }, nowMs: nowMs).map(\.verdict)
    }
  }

  @Test func aRepeatIsADuplicateInTheBatchInTheTransactionAndAfterIt() {
    let lane = Lane([Self.document(Self.device("d"))])
    let one = Self.candidate("n")
    #expect(
      lane.verdicts([one, one]) == ["approved ok", "dropped duplicate"])
    #expect(lane.verdicts([one]) == ["dropped duplicate"])
    lane.state.commit(nowMs: Self.nowMs)
    #expect(lane.verdicts([one]) == ["dropped duplicate"])
    #expect(lane.verdicts([Self.candidate("m")]) == ["approved ok"])
  }

  @Test func whatAnAbortTookBackIsNoDuplicate() {
    let lane = Lane([Self.document(Self.device("d"))])
    #expect(lane.verdicts([Self.candidate("a")]) == ["approved ok"])
    lane.state.commit(nowMs: Self.nowMs)
    let both = [Self.candidate("a"), Self.candidate("b")]
    for _ in 0..<3 {
      #expect(lane.verdicts(both) == ["dropped duplicate", "approved ok"])
      lane.state.rollback()
    }
  }

  @Test func theHorizonCountsFromTheFirstAndIsNotRenewed() {
    let lane = Lane([Self.document(Self.device("d"))], policy: Self.policyOfOneHour)
    let one = [Self.candidate("n")]
    let hour: Int64 = 3_600_000
    #expect(lane.verdicts(one) == ["approved ok"])
    for ms in [1, hour / 2, hour - 1] {
      #expect(lane.verdicts(one, at: Self.nowMs + ms) == ["dropped duplicate"])
      lane.state.commit(nowMs: Self.nowMs + ms)
    }
    #expect(lane.verdicts(one, at: Self.nowMs + hour) == ["approved ok"])
    #expect(lane.verdicts(one, at: Self.nowMs + 2 * hour - 1) == ["dropped duplicate"])
  }

  /// Only what is let through is remembered; each device, user, id and partition for itself.
  @Test func whatWasDroppedMayComeAgain() {
    let off = #","categories":{"social":{"state":"user-off"}}"#
    let lane = Lane([Self.document(Self.device("a") + "," + Self.device("b", off))])
    let all = Self.candidate("n")
    #expect(lane.verdicts([all]) == ["approved ok", "dropped device_opted_out"])
    #expect(
      lane.verdicts([all]) == ["dropped duplicate", "dropped device_opted_out"])
    lane.gate.apply(Self.document(Self.device("a") + "," + Self.device("b")))
    #expect(lane.verdicts([all]) == ["dropped duplicate", "approved ok"])
    #expect(
      lane.verdicts([Self.candidate("n", "social", #","device_id":"b""#)])
        == ["dropped duplicate"])
  }

  @Test func aHeldOneIsRememberedAndPartitionsAreApart() {
    let allDay = #""quiet_hours":{"start":"00:00","end":"24:00"}"#
    let lane = Lane([Self.document(Self.device("d"), allDay)], partitions: [0, 3])
    let one = [Self.candidate("n", "transactional")]
    #expect(lane.verdicts(one) == ["deferred quiet_hours_deferred"])
    #expect(lane.verdicts(one) == ["dropped duplicate"])
    #expect(lane.verdicts(one, partition: 3) == ["deferred quiet_hours_deferred"])
    lane.state.forget(3)
    lane.state.open(3)
    #expect(lane.verdicts(one, partition: 3) == ["deferred quiet_hours_deferred"])
  }

  /// Of a transactional candidate with nothing else in it, computed apart from the code.
  static let content = 12173

  /// A producer that sends again may date it anew; one that says something else has a fault.
  @Test func aRepeatThatSaysSomethingElseIsCounted() {
    let lane = Lane([Self.document(Self.device("d"))])
    func said(_ more: String) -> Int {
      let before = lane.gate.engine.differingDuplicates
      #expect(lane.verdicts([Self.candidate("n", "social", more)]) == ["dropped duplicate"])
      return lane.gate.engine.differingDuplicates - before
    }
    let first = #","event":"like","payload":{"title":"abcdefgh"}"#
    #expect(lane.verdicts([Self.candidate("n", "social", first)]) == ["approved ok"])
    #expect(said(first) == 0)
    #expect(said(first + #","created_at":"2026-03-09T22:29:00Z","collapse_key":"k""#) == 0)
    #expect(said(#","event":"like","payload":{"title":"abcdefgi"}"#) == 1)
    #expect(said(#","event":"like","payload":{"title":"abcdefgh" }"#) == 1)
    #expect(said(#","subtype":"like","payload":{"title":"abcdefgh"}"#) == 1)
    #expect(said(#","event":"mention","payload":{"title":"abcdefgh"}"#) == 1)
    #expect(said(#","event":"like""#) == 1)
    #expect(said(#","event":"like","payload":{}"#) == 1)
  }

  /// It stands before the suppressions, and hides nothing behind it.
  @Test func blockedByNamesItFirst() {
    let lane = Lane([Self.document(Self.device("d"))])
    _ = lane.verdicts([Self.candidate("n")])
    lane.gate.apply(
      Self.document(
        Self.device(
          "d", #","suppressions":["bounced"],"categories":{"social":{"state":"user-off"}}"#)))
    let decided = lane.gate.decide(Self.candidate("n"), nowMs: Self.nowMs)
    #expect(decided.count == 1)
    #expect(
      decided[0]["blocked_by"]?.elements.map(\.text)
        == ["duplicate", "suppressed_bounced", "device_opted_out"])
  }

  @Test func withoutStateRowSixIsOff() {
    let gate = TestGate(documents: [Self.document(Self.device("d"))])
    for _ in 0..<3 {
      #expect(
        gate.decide(Self.candidate("n"), nowMs: Self.nowMs).map(\.verdict) == ["approved ok"])
    }
    #expect(gate.engine.stateRecords.isEmpty)
  }

  /// What goes to the topic brings the same memory back, in another process under another key.
  @Test func theStateTopicBringsItBack() {
    let allDay = #","quiet_hours":{"start":"00:00","end":"24:00"}"#
    let lane = Lane([Self.document(Self.device("a") + "," + Self.device("b", allDay))])
    let values = [
      Self.candidate("n", "transactional"), Self.candidate("m", "transactional"),
      Self.candidate("n", "transactional"),
    ]
    _ = lane.verdicts(values)
    let written = lane.gate.engine.stateRecords.map {
      ($0.partition, Array($0.key), $0.value.map { Array($0) })
    }
    #expect(
      written.map { String(decoding: $0.1, as: UTF8.self) }
        == ["u\0d\0n\0a", "u\0d\0n\0b", "u\0d\0m\0a", "u\0d\0m\0b"])
    #expect(
      written.map { String(decoding: $0.2!, as: UTF8.self) }.prefix(2)
        == [
          #"{"at":"2026-03-09T22:30:00.000Z","outcome":"approved","content":\#(Self.content)}"#,
          #"{"at":"2026-03-09T22:30:00.000Z","outcome":"deferred","content":\#(Self.content)}"#,
        ])
    let other = Lane([Self.document(Self.device("a") + "," + Self.device("b", allDay))])
    for (partition, key, value) in written {
      let taken = key.withUnsafeBytes { key in
        value!.withUnsafeBytes {
          other.state.restore(partition, key: key, value: $0, nowMs: Self.nowMs)
        }
      }
      #expect(taken == .taken)
    }
    other.state.finishRestore(0, nowMs: Self.nowMs)
    #expect(other.state.seenCount == 4)
    #expect(other.verdicts(values) == Array(repeating: "dropped duplicate", count: 6))
    #expect(other.gate.engine.differingDuplicates == 0)
    let changed = Self.candidate("n", "transactional", #","subtype":"order_shipped""#)
    #expect(other.verdicts([changed]) == Array(repeating: "dropped duplicate", count: 2))
    #expect(other.gate.engine.differingDuplicates == 2)
  }
}

@Suite struct SeenRecordTests {
  @Test(arguments: [
    (#"{"at":"2026-03-09T22:30:00.000Z","outcome":"approved"}"#, false),
    (#"{"at":"2026-03-09T22:30:00.000Z","outcome":"deferred"}"#, true),
    (#"{ "outcome":"deferred", "x":[1,{}], "at":"2026-03-09T23:30:00+01:00" }"#, true),
    (#"{"at":1773095400000,"outcome":"approved","more":null}"#, false),
    (#"{"at":"2026-03-09T22:30:00.000Z","outcome":"approved","content":null}"#, false),
    (#"{"at":"2026-03-09T22:30:00.000Z","outcome":"deferred","content":65536}"#, true),
    (#"{"at":"2026-03-09T22:30:00.000Z","outcome":"deferred","content":-1}"#, true),
  ]) func isRead(_ text: String, isDeferred: Bool) {
    let value = withBytes(text) { SeenRecord.value($0) }
    #expect(value == SeenRecord.Value(atMs: 1_773_095_400_000, isDeferred: isDeferred))
  }

  @Test(arguments: [
    #"{"at":"2026-03-09T22:30:00.000Z","outcome":"approved","content":51966}"#,
    #"{ "content":51966, "at":1773095400000, "outcome":"approved" }"#,
  ]) func theContentIsRead(_ text: String) {
    let value = withBytes(text) { SeenRecord.value($0) }
    #expect(
      value == SeenRecord.Value(atMs: 1_773_095_400_000, isDeferred: false, content: 51966))
  }

  /// Anything else than what the gate writes goes a way that allocates: a restore took half as long again
  /// when the quick way missed by a byte.
  @Test(arguments: [Outcome.approved, .deferred], [UInt16.min, 7, 51966, .max])
  func whatIsWrittenIsReadTheQuickWay(_ outcome: Outcome, content: UInt16) {
    var out = JSONWriter(capacity: SeenRecord.valueBytesMax)
    SeenRecord.writeValue(outcome, atMs: 1_773_095_400_000, content: content, to: &out)
    #expect(
      SeenRecord.plainValue(Bytes(start: out.base, count: out.count))
        == SeenRecord.Value(
          atMs: 1_773_095_400_000, isDeferred: outcome == .deferred, content: content))
  }

  @Test(arguments: [
    "", "{}", "null", "[]", #"{"at":"2026-03-09T22:30:00.000Z"}"#, #"{"outcome":"approved"}"#,
    #"{"at":"2026-03-09T22:30:00.000Z","outcome":"dropped"}"#,
    #"{"at":"2026-03-09T22:30:00.000","outcome":"approved"}"#,
    #"{"at":"2026-03-09T22:30:00.000Z","outcome":"approved"}}"#,
    #"{"at":"2026-13-09T22:30:00.000Z","outcome":"approved"}"#,
    #"{"at":5,"outcome":"approved"}"#, #"{"at":1773095400000.5,"outcome":"approved"}"#,
  ]) func isRefused(_ text: String) {
    #expect(withBytes(text) { SeenRecord.value($0) } == nil)
  }

  @Test(arguments: [
    ("u\0d\0n\0p", true), ("u\0d\0", false), ("u\0d\0n", true), ("\0d\0n\0p", false),
    ("u\0c\0social\0daily", false), ("u", false), ("", false), ("u\0", false), ("u\0d", false),
    ("u\0dd\0n\0p", false),
  ]) func keysOfSeenIDsAreToldApart(_ key: String, _ isSeen: Bool) {
    #expect(withBytes(key) { SeenRecord.isKey($0) } == isSeen, "\(key)")
  }

  @Test func standings() {
    let state = LaneState(
      policy: DuplicateTests.policyOfOneHour, partitionCount: 4, hashKey: (1, 2))
    state.open(1)
    let at = 1_773_095_400_000 as Int64
    func standing(_ key: String, _ value: String?, _ nowMs: Int64) -> LaneState.Standing {
      withBytes(key) { key in
        guard let value else { return state.standing(1, key: key, value: nil, nowMs: nowMs) }
        return withBytes(value) { state.standing(1, key: key, value: $0, nowMs: nowMs) }
      }
    }
    let key = "u\0d\0n\0p"
    let value = #"{"at":"2026-03-09T22:30:00.000Z","outcome":"approved"}"#
    #expect(standing(key, value, at) == .over)
    let taken = withBytes(key) { key in
      withBytes(value) { state.restore(1, key: key, value: $0, nowMs: at) }
    }
    #expect(taken == .taken)
    #expect(standing(key, value, at) == .needed)
    let older = #"{"at":"2026-03-09T22:29:00.000Z","outcome":"approved"}"#
    #expect(standing(key, older, at) == .passedOver)
    #expect(standing(key, "?", at) == .passedOver)
    #expect(standing(key, value, at + 3_600_000) == .over)
    #expect(standing(key, nil, at) == .passedOver)
    #expect(standing("u\0c\0x", value, at) == .passedOver)
  }
}
