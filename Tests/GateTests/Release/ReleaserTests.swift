import Testing

@testable import Gate

/// The life of a hold in Berlin, 22:00 to 07:00, winter (UTC+1): first decided at 23:00 on the 14th.
@Suite struct ReleaserTests {
  static let night = "2026-01-14T22:00:00Z"
  static let morning = "2026-01-15T06:00:00Z"

  func bench(_ document: String = HoldBench.document()) -> HoldBench {
    HoldBench(documents: [document])
  }

  @Test func releasedWhenTheWindowHasEnded() throws {
    let bench = bench()
    let hold = bench.hold(HoldBench.candidate("n", #","payload":{"a": 1}"#), at: Self.night)
    #expect(hold["deliver_after"] == .text("2026-01-15T06:00:00.000Z"))
    #expect(hold["held"] == nil)

    let released = bench.release(hold, at: Self.morning)
    #expect(released.verdict == "ended released")
    #expect(released.key == hold.key)
    #expect(released.provider == .fcm)
    let record = try #require(released.record)
    #expect(record.outcome == .approved)
    #expect(record.key == Array("u".utf8))
    #expect(record["decided_at"] == .text("2026-01-15T06:00:00.000Z"))
    #expect(record["held.decided_at"] == .text("2026-01-14T22:00:00.000Z"))
    #expect(record["held.deliver_after"] == .text("2026-01-15T06:00:00.000Z"))
    // Good until the next night, however slow the dispatcher.
    #expect(record["send_before"] == .text("2026-01-15T21:00:00.000Z"))
    #expect(record["device_id"] == .text("d"))
    #expect(record["notification"] == hold["notification"])
    #expect(String(decoding: record.value, as: UTF8.self).contains(#""payload":{"a": 1}"#))
  }

  /// C066: a wake that comes too early, by a clock that was stepped, changes nothing.
  @Test func anEarlyWakeHoldsOn() throws {
    let bench = bench()
    var hold = bench.hold(HoldBench.candidate(), at: Self.night)
    for early in ["2026-01-14T22:00:00Z", "2026-01-15T05:59:59Z", "2026-01-15T05:00:00Z"] {
      let again = bench.release(hold, at: early)
      #expect(again.verdict == "heldOn quiet_hours_deferred")
      #expect(again.key == hold.key)
      let record = try #require(again.record)
      #expect(record.key == hold.key)
      #expect(record["deliver_after"] == .text("2026-01-15T06:00:00.000Z"))
      // Of the first decision, however often it is held on.
      #expect(record["held.decided_at"] == .text("2026-01-14T22:00:00.000Z"))
      hold = record
    }
    let released = bench.release(hold, at: Self.morning)
    #expect(released.verdict == "ended released")
    #expect(released["held.decided_at"] == "2026-01-14T22:00:00.000Z")
  }

  /// C058 and C059: an expiry is half-open like a window, at the first decision and at the release.
  @Test func expiryToTheMillisecond() {
    let table = [
      ("2026-01-15T05:59:59.999Z", nil),
      ("2026-01-15T06:00:00.000Z", nil),
      ("2026-01-15T06:00:00.001Z", "ended released"),
    ]
    for (expires, verdict) in table {
      let bench = bench()
      let candidate = HoldBench.candidate("n", #","expires_at":"\#(expires)""#)
      guard let verdict else {
        let decided = bench.gate.decide(candidate, at: Self.night)
        #expect(decided.map(\.verdict) == ["dropped expires_in_quiet_hours"], "\(expires)")
        continue
      }
      let hold = bench.hold(candidate, at: Self.night)
      #expect(bench.release(hold, at: Self.morning).verdict == verdict, "\(expires)")
    }
    let bench = bench()
    let hold = bench.hold(
      HoldBench.candidate("n", #","expires_at":"2026-01-15T06:30:00.000Z""#), at: Self.night)
    let expiry = instant("2026-01-15T06:30:00Z") * 1000
    for (nowMs, verdict) in [
      (expiry - 1, "ended released"), (expiry, "ended expired"), (expiry + 1, "ended expired"),
    ] {
      let released = bench.release([hold.value], nowMs: nowMs)[0]
      #expect(released.verdict == verdict)
      #expect(released["held.decided_at"] == "2026-01-14T22:00:00.000Z")
      #expect(released["device_id"] == "d")
    }
  }

  /// C065: the gate was down; what is overdue is decided, expiry included.
  @Test func overdue() {
    let bench = bench()
    let hold = bench.hold(HoldBench.candidate(), at: Self.night)
    #expect(bench.release(hold, at: "2026-01-15T09:00:00Z").verdict == "ended released")
    // Down until the next night: inside again, and the bound is days away.
    let again = bench.release(hold, at: "2026-01-15T22:00:00Z")
    #expect(again.verdict == "heldOn quiet_hours_deferred")
    #expect(again["deliver_after"] == "2026-01-16T06:00:00.000Z")
  }

  /// C053: the user lands in another zone, either way.
  @Test func flight() throws {
    let bench = bench()
    let hold = bench.hold(HoldBench.candidate(), at: Self.night)
    // 07:00 in Berlin is 01:00 in New York.
    bench.gate.apply(HoldBench.document(version: 2, zone: "America/New_York"))
    #expect(
      bench.facts(hold, at: Self.morning)?.heldUntilMs == instant("2026-01-15T12:00:00Z") * 1000)
    let again = bench.release(hold, at: Self.morning)
    #expect(again.verdict == "heldOn quiet_hours_deferred")
    #expect(again["deliver_after"] == "2026-01-15T12:00:00.000Z")
    #expect(again["held.deliver_after"] == "2026-01-15T06:00:00.000Z")
    // And on to Tokyo, where it is afternoon: nothing holds it any more.
    bench.gate.apply(HoldBench.document(version: 3, zone: "Asia/Tokyo"))
    let record = try #require(again.record)
    #expect(bench.facts(record, at: Self.morning)?.heldUntilMs == nil)
    let released = bench.release(record, at: Self.morning)
    #expect(released.verdict == "ended released")
    #expect(released["held.deliver_after"] == "2026-01-15T06:00:00.000Z")
    #expect(released["evidence.quiet_hours.timezone"] == "Asia/Tokyo")
  }

  /// 72 hours from the first decision, however many windows it meets.
  @Test func bound() throws {
    let bench = bench(HoldBench.document(window: #"{"start":"00:00","end":"24:00"}"#))
    var hold = bench.hold(HoldBench.candidate(), at: Self.night)
    #expect(hold["deliver_after"] == .text("2026-01-17T22:00:00.000Z"))
    #expect(hold["evidence.quiet_hours.ends_at"] == .null)
    for now in ["2026-01-15T12:00:00Z", "2026-01-17T21:59:59Z"] {
      let again = bench.release(hold, at: now)
      #expect(again.verdict == "heldOn quiet_hours_deferred")
      #expect(again["deliver_after"] == "2026-01-17T22:00:00.000Z")
      hold = try #require(again.record)
    }
    let released = bench.release(hold, at: "2026-01-17T22:00:00Z")
    #expect(released.verdict == "ended released")
    #expect(released.record?["send_before"] == .null)
    #expect(released.record?["evidence.quiet_hours.in_window"] == .bool(true))
  }

  /// What the user did meanwhile, and what it makes of the hold at 07:00.
  @Test func changedMeanwhile() {
    let off = #","categories":{"transactional":{"state":"user-off"}}"#
    let other = """
      {"device_id":"e","platform":"ios","os_permission":"granted","token_status":"active"}
      """
    let table = [
      (HoldBench.document(account: off), "ended account_opted_out"),
      (HoldBench.document(permission: "denied"), "ended os_permission_denied"),
      (HoldBench.document(token: "revoked"), "ended token_revoked"),
      (HoldBench.document(token: "expired"), "ended token_expired"),
      (
        HoldBench.document(account: #","suppressions":["legal_hold"]"#),
        "ended suppressed_legal_hold"
      ),
      (HoldBench.document(devices: other), "ended unknown_device"),
      (HoldBench.document(devices: ""), "ended unknown_device"),
      (#"{"user_id":"u","devices":"none"}"#, "ended preferences_unreadable"),
      (HoldBench.document(window: "null"), "ended released"),
      (HoldBench.document(window: #"{"start":"7","end":"8"}"#), "ended released"),
    ]
    for (document, verdict) in table {
      let bench = bench()
      let hold = bench.hold(HoldBench.candidate(), at: Self.night)
      bench.gate.apply(document, offset: 1)
      let released = bench.release(hold, at: Self.morning)
      #expect(released.verdict == verdict)
      #expect(released["device_id"] == "d")
      #expect(released["held.decided_at"] == "2026-01-14T22:00:00.000Z")
      if let record = released.record, record.outcome == .dropped {
        #expect(record["blocked_by"]?.elements.first == .text("\(record.reason.name)"))
      }
    }
  }

  /// The one exception to "every candidate ends once": a null value, and no trace.
  @Test func tombstoneOfTheUser() {
    let bench = bench()
    let hold = bench.hold(HoldBench.candidate(), at: Self.night)
    withBytes("u") { _ = bench.gate.table.apply(key: $0, value: nil, offset: 2) }
    #expect(bench.facts(hold, at: Self.night)?.heldUntilMs == nil)
    let erased = bench.release(hold, at: Self.night)
    #expect(erased.verdict == "erased")
    #expect(erased.key == hold.key && erased.record == nil)
  }

  /// Whatever document follows the erasure: what was held before is not decided by it.
  @Test func whoIsBackAfterAnErasureBeginsAnew() {
    let bench = bench()
    let collapse = #","collapse_key":"k""#
    let older = bench.hold(HoldBench.candidate("n-1", collapse), at: Self.night)
    func back(offset: Int64, _ document: String?) {
      withBytes("u") { key in
        guard let document else {
          _ = bench.gate.table.apply(key: key, value: nil, offset: offset)
          return
        }
        withBytes(document) {
          _ = bench.gate.table.apply(key: key, value: $0, offset: offset)
        }
      }
    }
    for document in [HoldBench.document(version: 2), HoldBench.document(devices: ""), "{"] {
      back(offset: 10, nil)
      back(offset: 11, document)
      #expect(bench.facts(older, at: Self.night)?.isUserGone == true, "\(document)")
      let erased = bench.release(older, at: Self.morning)
      #expect(erased.verdict == "erased" && erased.key == older.key, "\(document)")
    }
    back(offset: 12, nil)
    back(offset: 13, HoldBench.document(version: 3))
    let newer = bench.hold(HoldBench.candidate("n-2", collapse), at: Self.night)
    #expect(bench.facts(newer, at: Self.night)?.isUserGone == false)
    // Not even a newer one of the same key tells of it.
    let ended = bench.supersede(older, by: newer, collapseKey: "k", at: Self.night)
    #expect(ended.verdict == "erased" && ended.key == older.key && ended.record == nil)
    #expect(bench.release(newer, at: Self.morning).verdict == "ended released")
    // A record that does not say by what it was decided is older than any erasure.
    var mute = newer
    let name = Array(#""preference_offset""#.utf8)
    let at = mute.value.indices.first { mute.value[$0...].starts(with: name) }!
    mute.value[at + 1] = UInt8(ascii: "x")
    #expect(bench.release(mute, at: Self.morning).verdict == "erased")
  }

  /// A user that was erased and is back by the time the hold is looked at: nothing is decided of it, so
  /// that nothing is counted against a cap that does not leave.
  @Test func whoIsBackIsNotDecidedAgain() {
    let bench = bench()
    let hold = bench.hold(HoldBench.candidate(), at: Self.night)
    let kept = bench.release(hold, at: Self.morning, erasedOnly: true)
    #expect(kept.verdict == "heldOn" && kept.record == nil && kept.key == nil)
    withBytes("u") { _ = bench.gate.table.apply(key: $0, value: nil, offset: 2) }
    #expect(bench.release(hold, at: Self.morning, erasedOnly: true).verdict == "erased")
    withBytes("u") { key in
      withBytes(HoldBench.document(version: 2)) {
        _ = bench.gate.table.apply(key: key, value: $0, offset: 3)
      }
    }
    #expect(bench.release(hold, at: Self.morning, erasedOnly: true).verdict == "erased")
  }

  @Test func superseded() throws {
    let bench = bench()
    let collapse = #","collapse_key":"order-7""#
    let older = bench.hold(HoldBench.candidate("n-1", collapse), at: Self.night)
    let newer = bench.hold(HoldBench.candidate("n-2", collapse), at: Self.night)
    let ended = bench.supersede(older, by: newer, collapseKey: "order-7", at: Self.night)
    #expect(ended.verdict == "ended superseded")
    #expect(ended.key == older.key)
    let record = try #require(ended.record)
    #expect(record["superseded_by"] == .text("n-2"))
    #expect(record["blocked_by"]?.elements == [.text("superseded")])
    #expect(record["held.decided_at"] == .text("2026-01-14T22:00:00.000Z"))
    #expect(record["evidence.os_permission"] == .text("granted"))
    #expect(record["notification_id"] == .text("n-1"))

    // What a hash cannot tell apart the bytes do.
    for (by, key) in [(newer, "order-8"), (older, "order-7")] {
      let kept = bench.supersede(older, by: by, collapseKey: key, at: Self.night)
      #expect(kept.verdict == "heldOn" && kept.record == nil)
    }
    #expect(bench.supersede(older, by: newer, collapseKey: nil, at: Self.night).verdict == "heldOn")
  }

  @Test func factsAgreeWithWhatIsLookedUp() throws {
    let bench = bench()
    let hold = bench.hold(
      HoldBench.candidate("n\\\"1", #","collapse_key":"c","expires_at":1768460400001"#),
      at: Self.night)
    let facts = try #require(bench.facts(hold, at: Self.night))
    #expect(facts.deliverAfterMs == instant(Self.morning) * 1000)
    #expect(facts.heldUntilMs == facts.deliverAfterMs)
    #expect(facts.expiresAtMs == 1_768_460_400_001)
    #expect(facts.provider == .fcm)
    #expect(hold.key!.withUnsafeBytes { bench.releaser.identity(ofKey: $0) } == facts.identity)
    #expect(withBytes("u") { bench.releaser.user($0) } == facts.identity.user)
    let collapse = withBytes("u") { user in
      withBytes("d") { device in
        withBytes("c") {
          bench.releaser.collapse(user: user, device: device, collapseKey: $0)
        }
      }
    }
    #expect(facts.collapse == collapse)
    #expect(bench.facts(hold, at: Self.night, key: Array("u\0n\0d".utf8)) == nil)
    // Another process has another hash key, and the same spread.
    #expect(HoldBench(documents: []).facts(hold, at: Self.night)?.spread == facts.spread)
  }

  /// A document that cannot be read now, or without the device, may be mended by the morning.
  @Test func brokenDocumentsLeaveTheDueTime() {
    for document in [#"{"user_id":"u","devices":"none"}"#, HoldBench.document(devices: "")] {
      let bench = bench()
      let hold = bench.hold(HoldBench.candidate(), at: Self.night)
      bench.gate.apply(document)
      #expect(bench.facts(hold, at: Self.night)?.heldUntilMs == instant(Self.morning) * 1000)
      #expect(bench.facts(hold, at: Self.morning)?.heldUntilMs == nil)
    }
  }

  /// A candidate as deep and as large as it may be is one level deeper and larger inside its hold.
  @Test func theLargestAndTheDeepest() {
    let bench = bench()
    let deep = String(repeating: #"{"a":"#, count: 62) + "{}" + String(repeating: "}", count: 62)
    let rest = HoldBench.candidate("n", #","x":"","payload":\#(deep)"#).utf8.count
    let filler = String(repeating: "x", count: 65_536 - rest)
    let hold = bench.hold(
      HoldBench.candidate("n", #","x":"\#(filler)","payload":\#(deep)"#), at: Self.night)
    #expect(bench.release(hold, at: Self.morning).verdict == "ended released")
  }

  /// Whoever writes to the topic, the gate goes on: no bytes make a hold of what is none, or trap.
  @Test func anyBytes() {
    let seed: UInt64 = 20_260_115
    var random = SeededGenerator(seed: seed)
    let bench = bench()
    let hold = bench.hold(HoldBench.candidate("n", #","payload":{"a":[1,2]}"#), at: Self.night)
    var unreadable = 0
    for _ in 0..<5_000 {
      var bytes = hold.value
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(
          in: 0...255, using: &random)
      case 1: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
      default:
        let at = Int.random(in: bytes.indices, using: &random)
        bytes.removeSubrange(at..<min(bytes.count, at + Int.random(in: 1..<40, using: &random)))
      }
      if bench.release([bytes], nowMs: instant(Self.morning) * 1000)[0].fate == .unreadable {
        unreadable += 1
      }
    }
    #expect(unreadable > 2_500, "seed \(seed)")
    #expect(bench.release([nil], nowMs: 0)[0].verdict == "unreadable")
    #expect(bench.release(hold, at: Self.morning).verdict == "ended released")
  }
}
