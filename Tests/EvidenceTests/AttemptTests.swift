import Gate
import Preferences
import Testing

@testable import Evidence

@Suite struct AttemptTests {
  let world: EvidenceWorld

  init() throws { world = try EvidenceWorld() }

  /// Each code that a gate can give comes back with the five values, and is counted once.
  @Test func everyReasonIsFoundAgain() throws {
    var offsets: [String: Int64] = [:]
    for reason in Reason.allCases {
      let outcome = "\(reason.outcome.name)"
      let offset = offsets[outcome, default: 0]
      offsets[outcome] = offset + 1
      let due = ",\"deliver_after\":\"\(Instant.text(EvidenceWorld.startMs + 1000))\""
      try world.take(
        outcome,
        [
          Sample(
            offset, key: "u-1",
            decision(
              outcome, "\(reason.name)", notification: "n-\(reason.name)",
              members: reason.outcome == .deferred ? due : ""))
        ])
    }
    let page = try world.reader.timeline(user: "u-1", limit: 100)
    #expect(Set(page.attempts.map(\.reason)) == Set(Reason.allCases.map { "\($0.name)" }))
    #expect(page.next == nil)
    #expect(world.index.counters.unreadable.value == 0)
    for attempt in page.attempts {
      let reason = try #require(Reason.allCases.first { "\($0.name)" == attempt.reason })
      #expect(attempt.outcome.rawValue == "\(reason.outcome.name)")
      #expect(attempt.blockedBy == [attempt.reason, "token_expired"])
      #expect(attempt.notificationID == "n-\(attempt.reason)" && attempt.deviceID == "d-1")
      #expect(attempt.category == "marketing" && attempt.subtype == "sale")
      #expect(attempt.event == "price_drop")
      #expect(attempt.atMs == EvidenceWorld.startMs)
      #expect(attempt.values.accountChoice == "default")
      #expect(attempt.values.deviceChoice == "user-off")
      #expect(attempt.values.effectiveChoice == false)
      #expect(attempt.values.osPermission == "granted" && attempt.values.tokenStatus == "active")
      #expect(attempt.values.suppression == "bounced")
      let quiet = attempt.values.quietHours
      #expect(quiet.start == "22:00" && quiet.end == "08:00" && quiet.days == ["mon"])
      #expect(quiet.timezone == "Europe/Berlin" && quiet.timezoneSource == "device")
      #expect(quiet.isInside == true && quiet.endsAtMs == 1_773_126_000_000)
      #expect(attempt.versions.policy == "2026-03-09" && attempt.versions.zones == "2026f")
      #expect(attempt.versions.preferences == 17 && attempt.versions.preferenceOffset == 90210)
      #expect(attempt.versions.gate == "0.1.0")
      #expect((attempt.approval != nil) == (attempt.outcome == .approved))
    }
    let counts = try world.reader.outcomes(
      fromMs: EvidenceWorld.startMs - 3_600_000, toMs: EvidenceWorld.startMs + 1)
    #expect(counts.count == Reason.allCases.count)
    #expect(counts.allSatisfy { $0.count == 1 && $0.category == "marketing" })
    #expect(Set(counts.map(\.hourMs)) == [EvidenceWorld.startMs / 3_600_000 * 3_600_000])
  }

  @Test func whatADispatcherWasToldIsThere() throws {
    let members = """
      ,"platform":"ios","interruption":"critical","critical":true,\
      "expires_at":"2026-06-01T00:00:00.000Z","send_before":"2026-05-29T00:00:00.000Z",\
      "collapse_key":"k","unsubscribe_url":"https://x.example/u","sms_fallback":"forbidden"
      """
    try world.take(
      "approved", [Sample(0, key: "u-1", decision("approved", "ok", members: members))])
    let approval = try #require(
      try world.reader.timeline(user: "u-1", limit: 1).attempts.first?.approval)
    #expect(approval.platform == "ios" && approval.interruption == "critical")
    #expect(approval.isCritical && approval.collapseKey == "k")
    #expect(approval.expiresAtMs == Instant.parse(text: "2026-06-01T00:00:00Z"))
    #expect(approval.sendBeforeMs == Instant.parse(text: "2026-05-29T00:00:00Z"))
    #expect(approval.unsubscribeURL == "https://x.example/u")
    #expect(approval.smsFallback == "forbidden")
  }

  @Test func whatIsSpecialToADropIsThere() throws {
    try world.take(
      "dropped",
      [
        Sample(
          0, key: "u-1",
          decision(
            "dropped", "frequency_capped",
            members: ",\"cap\":{\"name\":\"daily\",\"frees_at\":\"2026-06-01T00:00:00.000Z\"}")),
        Sample(
          1, key: "u-1",
          decision("dropped", "superseded", members: ",\"superseded_by\":\"n-2\"")),
        Sample(
          2, key: "u-1",
          decision(
            "dropped", "invalid_candidate",
            members: ",\"detail\":\"missing\",\"detail_member\":\"category\"")),
      ])
    let found = try world.reader.timeline(user: "u-1", limit: 10).attempts
    #expect(found.map(\.reason) == ["invalid_candidate", "superseded", "frequency_capped"])
    #expect(found[0].detail == "missing" && found[0].detailMember == "category")
    #expect(found[1].supersededBy == "n-2")
    #expect(
      found[2].cap
        == EvidenceCap(name: "daily", freesAtMs: Instant.parse(text: "2026-06-01T00:00:00Z")))
  }

  /// Whatever the bytes are: kept, counted, found by the key's user, and the next one is taken.
  @Test func whatNoGateWritesIsKeptAndStopsNothing() throws {
    let deep = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
    let values: [String?] = [
      nil, "", "no json", "[]", "{}", "{\"outcome\":\"dropped\"}", decision("approved", "ok"),
      "{\"a\":\(deep)}",
      decision("dropped", "expired").replacing("decided_at", with: "decided"),
      decision("dropped", "expired") + "}", decision("dropped", "expired").replacing("Z", with: ""),
      "{\"user_id\":\"" + String(repeating: "u", count: 3_000_000) + "\"}",
    ]
    var samples = values.enumerated().map { Sample(Int64($0), key: "u-1", $1) }
    samples.append(Sample(Int64(samples.count), key: "u-1", nil))
    samples[samples.count - 1].value = [0x7B, 0x22, 0xFF, 0x22, 0x7D]
    samples.append(Sample(Int64(samples.count), key: "u-1", decision("dropped", "expired")))
    try world.take("dropped", samples)
    let found = try world.reader.timeline(user: "u-1", limit: 100).attempts
    #expect(found.count == samples.count)
    #expect(world.index.counters.unreadable.value == UInt64(samples.count - 1))
    for attempt in found {
      let sample = samples[Int(attempt.place.offset)]
      #expect(attempt.record == sample.value ?? [])
      #expect(attempt.isUnreadable == (attempt.place.offset != Int64(samples.count - 1)))
      #expect(attempt.userID == "u-1" && attempt.outcome == .dropped)
    }
    let counts = try world.reader.outcomes(fromMs: 0, toMs: .max)
    #expect(counts.map(\.count) == [1])
  }

  /// A candidate can call itself what it likes; charts have so many lines and no more.
  @Test func countsHaveClosedSets() throws {
    try world.take(
      "dropped",
      (0..<50).map {
        Sample(
          $0, key: "u-1", decision("dropped", "unknown_category", category: "made-up-\($0)"))
      })
    let counts = try world.reader.outcomes(fromMs: 0, toMs: .max)
    #expect(counts.count == 1 && counts[0].category == "other" && counts[0].count == 50)
    #expect(try world.reader.timeline(user: "u-1", limit: 1).attempts[0].category == "made-up-49")
  }

  /// On a quiet system a timer's runs would be most of what the charts show.
  @Test func theSelfTestsUsersDoNotCount() throws {
    let made = "sendgate-selftest.expired"
    try world.take("selftest", [Sample(0, key: made, decision("approved", "ok", user: made))])
    try world.take(
      "dropped",
      [
        Sample(0, key: made, decision("dropped", "token_expired", user: made)),
        Sample(1, key: "u-1", decision("dropped", "token_expired")),
      ])
    let counts = try world.reader.outcomes(fromMs: 0, toMs: .max)
    #expect(counts.map(\.count) == [1])
    #expect(try world.reader.timeline(user: made, limit: 9).attempts.count == 2, "they are kept")
    #expect(world.index.counters.unreadable.value == 0)
  }

  @Test func aNewerGatesReasonIsShownAsItIs() throws {
    try world.take("dropped", [Sample(0, key: "u-1", decision("dropped", "of_a_newer_release"))])
    let attempt = try #require(try world.reader.timeline(user: "u-1", limit: 1).attempts.first)
    #expect(!attempt.isUnreadable && attempt.reason == "of_a_newer_release")
    #expect(try world.reader.outcomes(fromMs: 0, toMs: .max).map(\.reason) == ["other"])
  }

  /// As wide as the contract allows: nested as deep as a candidate may be, and escaped.
  @Test func candidatesOfAnyShapeAreReadBack() throws {
    let deep = String(repeating: "[", count: 62) + String(repeating: "]", count: 62)
    let record = decision("dropped", "expired", user: #"ü\"\u0041"#).replacing(
      "{\"a\":1,\"a\":2}", with: "{\"a\":\(deep)}")
    try world.take("dropped", [Sample(0, key: "ü\"A", record)])
    let attempt = try #require(try world.reader.timeline(user: "ü\"A", limit: 1).attempts.first)
    #expect(!attempt.isUnreadable && attempt.reason == "expired" && attempt.event == "price_drop")
  }

  @Test(arguments: 0..<20) func pagesAreWholeAndInOrder(seed: UInt64) throws {
    var random = SeededRandom(seed)
    // Many at one instant.
    let instants = (0..<60).map { _ in
      EvidenceWorld.startMs + Int64.random(in: 0..<8, using: &random)
    }
    try world.take(
      "dropped",
      instants.enumerated().map { number, atMs in
        Sample(
          Int64(number), key: "u-1",
          decision("dropped", "expired", notification: "n-\(number)", atMs: atMs))
      })
    let wanted = instants.indices.sorted { (instants[$0], $0) > (instants[$1], $1) }
    for ofDevice in [false, true] {
      var found: [String] = []
      var cursor: EvidenceCursor?
      repeat {
        let limit = Int.random(in: 1...9, using: &random)
        let page =
          try ofDevice
          ? world.reader.device("d-1", before: cursor, limit: limit)
          : world.reader.timeline(user: "u-1", before: cursor, limit: limit)
        #expect(page.attempts.count <= limit)
        found += page.attempts.map { $0.notificationID! }
        cursor = page.next.flatMap { EvidenceCursor($0.text) }
        #expect((cursor == nil) == (page.next == nil))
      } while cursor != nil
      #expect(found == wanted.map { "n-\($0)" }, "seed \(seed)")
    }
    #expect(try world.reader.timeline(user: "u-2", limit: 1).attempts.isEmpty)
  }

  @Test(arguments: ["", "1", "-", "a-1", "1-a", "1-2-3", "--", "1-"])
  func whatIsNoCursorIsRefused(text: String) { #expect(EvidenceCursor(text) == nil) }
}

/// splitmix64.
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
