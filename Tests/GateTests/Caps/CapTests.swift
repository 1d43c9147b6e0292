import Testing

@testable import Gate

/// Row 14 through the engine, and what it leaves for the state topic.
@Suite struct CapTests {
  typealias Lane = DuplicateTests.Lane
  static let nowMs = DuplicateTests.nowMs
  static let hour = CapSupport.hourMs

  static func candidate(_ id: String, _ more: String = "") -> [UInt8] {
    DuplicateTests.candidate(id, "social", more)
  }
  static let oneDevice = DuplicateTests.document(DuplicateTests.device("d"))
  static let twoDevices = DuplicateTests.document(
    DuplicateTests.device("a") + "," + DuplicateTests.device("b"))

  static func lane(_ documents: [String], _ caps: String) -> Lane {
    Lane(documents, policy: CapSupport.policy(social: "[\(caps)]"))
  }

  static let capped = "dropped frequency_capped"

  @Test func countsInABatchInATransactionAndAfterIt() {
    let lane = Self.lane([Self.oneDevice], CapSupport.sliding(3, seconds: 3600))
    #expect(
      lane.verdicts([Self.candidate("1"), Self.candidate("2")])
        == ["approved ok", "approved ok"])
    #expect(
      lane.verdicts([Self.candidate("3"), Self.candidate("4")])
        == ["approved ok", Self.capped])
    lane.state.commit(nowMs: Self.nowMs)
    #expect(lane.verdicts([Self.candidate("5")], at: Self.nowMs + Self.hour - 1) == [Self.capped])
    #expect(
      lane.verdicts([Self.candidate("5"), Self.candidate("6")], at: Self.nowMs + Self.hour)
        == ["approved ok", "approved ok"])
  }

  @Test func whatAnAbortTookBackIsNotCounted() {
    let lane = Self.lane([Self.oneDevice], CapSupport.daily(2))
    #expect(lane.verdicts([Self.candidate("1")]) == ["approved ok"])
    lane.state.commit(nowMs: Self.nowMs)
    for _ in 0..<3 {
      #expect(
        lane.verdicts([Self.candidate("2"), Self.candidate("3")])
          == ["approved ok", Self.capped])
      lane.state.rollback()
    }
    #expect(lane.state.cappedCount == 1)
  }

  /// A fan-out counts once, and a later device of a counted one is not stopped by it, however long
  /// after; a dropped one counts nothing.
  @Test func aNotificationCountsOnceForAllItsDevices() {
    let off = #","categories":{"social":{"state":"user-off"}}"#
    let lane = Self.lane([Self.twoDevices], CapSupport.sliding(1, seconds: 60))
    #expect(lane.verdicts([Self.candidate("n")]) == ["approved ok", "approved ok"])
    #expect(lane.verdicts([Self.candidate("m")]) == [Self.capped, Self.capped])
    let one = Self.lane(
      [DuplicateTests.document(DuplicateTests.device("a") + "," + DuplicateTests.device("b", off))],
      CapSupport.sliding(1, seconds: 60))
    #expect(one.verdicts([Self.candidate("n")]) == ["approved ok", "dropped device_opted_out"])
    one.gate.apply(Self.twoDevices)
    for hours in [0, 1, 50] as [Int64] {
      let verdicts = one.verdicts(
        [Self.candidate("n", #","device_id":"b""#)], at: Self.nowMs + hours * Self.hour)
      #expect(verdicts == [hours == 0 ? "approved ok" : "dropped duplicate"])
    }
    // Counted at its first approval: a minute after that, there is room, and "b" did not take it.
    #expect(one.verdicts([Self.candidate("m")], at: Self.nowMs + 60_000).first == "approved ok")
  }

  @Test func aSecondDeviceMayComeHoursLater() {
    let off = #","os_permission":"denied""#
    let document = DuplicateTests.document(
      DuplicateTests.device("a") + ","
        + DuplicateTests.device("b").replacing(#","os_permission":"granted""#, with: off))
    let lane = Self.lane([document], CapSupport.sliding(1, seconds: 7200))
    #expect(
      lane.verdicts([Self.candidate("n")]) == ["approved ok", "dropped os_permission_denied"])
    lane.gate.apply(Self.twoDevices)
    let later = Self.nowMs + Self.hour
    #expect(lane.verdicts([Self.candidate("m")], at: later) == [Self.capped, Self.capped])
    #expect(
      lane.verdicts([Self.candidate("n")], at: later) == ["dropped duplicate", "approved ok"])
    // Not renewed by the second.
    #expect(lane.verdicts([Self.candidate("m")], at: Self.nowMs + 2 * Self.hour).count == 2)
    #expect(lane.state.cappedCount == 2)
  }

  /// The account's zone says whose day it is; without one, the deciding device's.
  @Test func theDayIsTheAccountsElseTheDevices() {
    let devices =
      DuplicateTests.device("east", #","timezone":"Asia/Tokyo""#) + ","
      + DuplicateTests.device("west", #","timezone":"America/Los_Angeles""#)
    let atMs = instant("2026-03-09T14:30:00Z") * 1000
    // Midnight in Tokyo is at 15:00, in Los Angeles at 07:00, in Berlin at 23:00.
    let later = atMs + Self.hour
    let withoutZone = Self.lane([DuplicateTests.document(devices)], CapSupport.daily(1))
    #expect(
      withoutZone.verdicts([Self.candidate("1")], at: atMs) == ["approved ok", "approved ok"])
    #expect(
      withoutZone.verdicts([Self.candidate("2", #","device_id":"west""#)], at: later)
        == [Self.capped])
    #expect(
      withoutZone.verdicts([Self.candidate("2", #","device_id":"east""#)], at: later)
        == ["approved ok"])
    let berlin = DuplicateTests.document(devices, #""timezone":"Europe/Berlin""#)
    let withZone = Self.lane([berlin], CapSupport.daily(1))
    #expect(withZone.verdicts([Self.candidate("1")], at: atMs) == ["approved ok", "approved ok"])
    #expect(withZone.verdicts([Self.candidate("2")], at: later) == [Self.capped, Self.capped])
    #expect(
      withZone.verdicts([Self.candidate("2")], at: instant("2026-03-09T23:00:00Z") * 1000)
        == ["approved ok", "approved ok"])
  }

  @Test func namesTheCapThatFreesUpLastAndWhen() {
    let lane = Self.lane(
      [Self.oneDevice],
      CapSupport.sliding(2, seconds: 600, "ten") + ","
        + CapSupport.sliding(3, seconds: 3600, "six\\\"ty"))
    let minute: Int64 = 60_000
    for (id, at) in [("1", 0), ("2", 1), ("3", 11)] as [(String, Int64)] {
      #expect(lane.verdicts([Self.candidate(id)], at: Self.nowMs + at * minute) == ["approved ok"])
    }
    func told(_ id: String, _ at: Int64) -> [String]? {
      let decided = lane.gate.decide(Self.candidate(id), nowMs: Self.nowMs + at * minute)
      #expect(decided.map(\.verdict) == [Self.capped])
      return decided[0]["cap"].map { cap in
        [cap["name"]!.text!, cap["frees_at"]!.text!]
      }
    }
    // 22:30 is now; three within the hour of the first.
    #expect(told("4", 12) == [#"six"ty"#, "2026-03-09T23:30:00.000Z"])
    #expect(lane.verdicts([Self.candidate("4")], at: Self.nowMs + 60 * minute) == ["approved ok"])
    #expect(lane.verdicts([Self.candidate("5")], at: Self.nowMs + 61 * minute) == ["approved ok"])
    // Both are used up: ten minutes on from the fourth is 23:40, an hour on from the third is 23:41.
    #expect(told("6", 62) == [#"six"ty"#, "2026-03-09T23:41:00.000Z"])
  }

  /// Row 14 stands behind every other dropping row and hides where the window speaks.
  @Test func itsPlaceAmongTheReasons() {
    let allDay = #""quiet_hours":{"start":"00:00","end":"24:00"}"#
    let lane = Lane(
      [Self.oneDevice],
      policy: CapSupport.policy(
        transactional: "[\(CapSupport.daily(1))]", social: "[\(CapSupport.daily(1))]"))
    func blocked(_ value: [UInt8]) -> [String] {
      lane.gate.decide(value, nowMs: Self.nowMs).flatMap {
        [$0.verdict] + $0["blocked_by"]!.elements.compactMap(\.text)
      }
    }
    let transactional = DuplicateTests.candidate("t", "transactional")
    _ = lane.verdicts([Self.candidate("1"), DuplicateTests.candidate("x", "transactional")])
    lane.gate.apply(
      DuplicateTests.document(
        DuplicateTests.device("d", #","suppressions":["bounced"]"#),
        #""categories":{"social":{"state":"user-off"}}"#))
    #expect(
      blocked(Self.candidate("2"))
        == [
          "dropped suppressed_bounced", "suppressed_bounced", "account_opted_out",
          "frequency_capped",
        ])
    // Counted itself: no cap stands in its way.
    #expect(
      blocked(Self.candidate("1"))
        == ["dropped duplicate", "duplicate", "suppressed_bounced", "account_opted_out"])
    lane.gate.apply(DuplicateTests.document(DuplicateTests.device("d"), allDay))
    #expect(
      blocked(Self.candidate("2")) == ["dropped quiet_hours_dropped", "quiet_hours_dropped"])
    #expect(blocked(transactional) == ["deferred quiet_hours_deferred"])
    #expect(
      blocked(
        DuplicateTests.candidate(
          "e", "transactional", #","expires_at":"2026-03-09T22:31:00Z""#))
        == ["dropped expires_in_quiet_hours", "expires_in_quiet_hours"])
    // An event that passes the window is capped like any other.
    let failed = DuplicateTests.candidate("f", "transactional", #","event":"payment_failed""#)
    #expect(blocked(failed) == [Self.capped, "frequency_capped"])
  }

  /// What is held counts nothing before it is approved.
  @Test func aHeldOneDoesNotCount() {
    let allDay = #""quiet_hours":{"start":"00:00","end":"24:00"}"#
    let lane = Lane(
      [DuplicateTests.document(DuplicateTests.device("d"), allDay)],
      policy: CapSupport.policy(transactional: "[\(CapSupport.daily(1))]"))
    for id in ["1", "2", "3"] {
      #expect(
        lane.verdicts([DuplicateTests.candidate(id, "transactional")])
          == ["deferred quiet_hours_deferred"])
    }
    #expect(lane.state.cappedCount == 0)
    lane.gate.apply(Self.oneDevice)
    #expect(
      lane.verdicts([DuplicateTests.candidate("4", "transactional")]) == ["approved ok"])
  }

  @Test func usersCategoriesAndPartitionsAreApart() {
    let other = Self.oneDevice.replacing(#""user_id":"u""#, with: #""user_id":"v""#)
    let lane = Lane(
      [Self.oneDevice, other],
      policy: CapSupport.policy(
        transactional: "[\(CapSupport.daily(1))]", social: "[\(CapSupport.daily(1))]"),
      partitions: [0, 3])
    let one = Self.candidate("n")
    #expect(lane.verdicts([one, Self.candidate("m")]) == ["approved ok", Self.capped])
    #expect(
      lane.verdicts([
        Array(
          String(decoding: Self.candidate("m"), as: UTF8.self)
            .replacing(#""user_id":"u""#, with: #""user_id":"v""#).utf8)
      ]) == ["approved ok"])
    #expect(lane.verdicts([DuplicateTests.candidate("t", "transactional")]) == ["approved ok"])
    #expect(lane.verdicts([one], partition: 3) == ["approved ok"])
    lane.state.forget(3)
    lane.state.open(3)
    #expect(lane.verdicts([one], partition: 3) == ["approved ok"])
  }

  /// A policy without caps remembers and writes nothing of them.
  @Test func withoutCapsNothingIsCounted() {
    let lane = Lane([Self.oneDevice])
    for id in 0..<100 { #expect(lane.verdicts([Self.candidate("\(id)")]) == ["approved ok"]) }
    #expect(lane.state.cappedCount == 0 && lane.state.capMemoryBytes == 0)
    #expect(lane.gate.engine.stateRecords.count == 1)
  }

  // MARK: The state topic

  struct Written {
    var key: [UInt8]
    var value: [UInt8]?
  }

  static func written(_ lane: Lane) -> [Written] {
    lane.gate.engine.stateRecords.map {
      Written(key: Array($0.key), value: $0.value.map { Array($0) })
    }
  }

  static func restore(_ records: [Written], into lane: Lane, nowMs: Int64) {
    for record in records {
      record.key.withUnsafeBytes { key in
        if let value = record.value {
          value.withUnsafeBytes {
            #expect(lane.state.restore(0, key: key, value: $0, nowMs: nowMs) == .taken)
          }
        } else {
          #expect(lane.state.restore(0, key: key, value: nil, nowMs: nowMs) == .taken)
        }
      }
    }
    lane.state.finishRestore(0, nowMs: nowMs)
  }

  @Test func theStateTopicBringsItBack() {
    let caps = CapSupport.sliding(2, seconds: 3600)
    let lane = Self.lane([Self.twoDevices], caps)
    _ = lane.verdicts([Self.candidate("1"), Self.candidate("2"), Self.candidate("3")])
    let records = Self.written(lane)
    let a = withBytes("a") { CapDevice.hash($0) }
    let b = withBytes("b") { CapDevice.hash($0) }
    func hex(_ hash: UInt64) -> String {
      let digits = String(hash, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }
    let counted = records.filter { $0.key.starts(with: "u\0c\0".utf8) }
    #expect(
      counted.map { String(decoding: $0.key, as: UTF8.self) }
        == ["u\0c\0social\u{0}1", "u\0c\0social\u{0}2"])
    #expect(
      counted.map { String(decoding: $0.value!, as: UTF8.self) }
        == Array(
          repeating:
            #"{"at":"2026-03-09T22:30:00.000Z","state":"open","waiting":["\#(hex(b))","\#(hex(a))"],"rejected":[]}"#,
          count: 2))
    let heir = Self.lane([Self.twoDevices], caps)
    Self.restore(records, into: heir, nowMs: Self.nowMs)
    #expect(heir.state.cappedCount == 2)
    #expect(heir.verdicts([Self.candidate("3")]) == [Self.capped, Self.capped])
    // Under other caps the same counts count.
    let wider = Self.lane([Self.twoDevices], CapSupport.daily(3, "other"))
    Self.restore(records, into: wider, nowMs: Self.nowMs)
    #expect(
      wider.verdicts([Self.candidate("3"), Self.candidate("4")])
        == ["approved ok", "approved ok", Self.capped, Self.capped])
    // Forgotten by null values, and by time.
    let emptied = Self.lane([Self.twoDevices], caps)
    Self.restore(
      records + counted.map { Written(key: $0.key, value: nil) }, into: emptied, nowMs: Self.nowMs)
    #expect(emptied.state.cappedCount == 0)
    let late = Self.lane([Self.twoDevices], caps)
    Self.restore(records, into: late, nowMs: Self.nowMs + 96 * Self.hour)
    #expect(late.state.cappedCount == 0)
  }

  @Test func standings() {
    let lane = Self.lane([Self.oneDevice], CapSupport.sliding(2, seconds: 3600))
    _ = lane.verdicts([Self.candidate("1")])
    lane.state.commit(nowMs: Self.nowMs)
    let value = #"{"at":"2026-03-09T22:30:00.000Z","state":"accepted"}"#
    let older = #"{"at":"2026-03-09T22:29:00.000Z","state":"refunded"}"#
    func standing(_ state: LaneState, _ key: String, _ value: String?, hours: Int64 = 0)
      -> LaneState.Standing
    {
      let nowMs = Self.nowMs + hours * Self.hour
      return withBytes(key) { key in
        guard let value else { return state.standing(0, key: key, value: nil, nowMs: nowMs) }
        return withBytes(value) { state.standing(0, key: key, value: $0, nowMs: nowMs) }
      }
    }
    let key = "u\0c\0social\u{0}1"
    #expect(standing(lane.state, key, value) == .needed)
    #expect(standing(lane.state, key, older) == .passedOver)
    #expect(standing(lane.state, key, "?") == .passedOver)
    #expect(standing(lane.state, key, nil) == .passedOver)
    #expect(standing(lane.state, key, value, hours: 95) == .needed)
    #expect(standing(lane.state, key, value, hours: 96) == .over)
    #expect(standing(lane.state, "u\0c\0social\u{0}2", value) == .over)
    // Of a category that is not capped: by the clock alone.
    for state in [lane.state, Lane([Self.oneDevice]).state] {
      let key = "u\0c\0marketing\u{0}1"
      #expect(standing(state, key, value, hours: 95) == .needed)
      #expect(standing(state, key, value, hours: 96) == .over)
    }
  }
}
