import Gate
import Preferences
import Testing

@testable import Evidence

/// What belongs together and stands in several records.
@Suite struct LinkTests {
  let world: EvidenceWorld
  let startMs = EvidenceWorld.startMs
  let hourMs: Int64 = 3_600_000

  init() throws { world = try EvidenceWorld() }

  private let key = "u-1\0n-1\0d-1"

  private func notification(_ id: String = "n-1") throws -> EvidenceNotification {
    try #require(try world.reader.notification(id))
  }

  @Test func acceptedAndSeenAreTwoReceipts() throws {
    try world.take("approved", [Sample(0, key: "u-1", decision("approved", "ok"))])
    let seenMs: Int64 = 1_780_272_060_000
    world.nowMs = seenMs
    let accepted = #""provider":"apns","status":"accepted","at":"2026-06-01T00:00:00Z""#
    try world.take(
      "receipts",
      [
        Sample(0, key: "u-1", receipt(accepted)),
        Sample(1, key: "u-1", receipt(#""event":"user_observed","via":"tap","at":1780272060000"#)),
        Sample(2, key: "u-1", receipt(accepted, device: "d-2")),
        Sample(3, key: "u-2", receipt(accepted, user: "u-2")),
        Sample(4, key: "u-1", receipt(accepted, notification: "n-2")),
        Sample(5, key: "u-1", "no json"),
        Sample(6, key: "u-1", receipt(#""status":"pondering","at":"2026-06-01T00:00:00Z""#)),
      ].map { $0.written(atMs: seenMs) })
    let found = try notification()
    let receipts = try #require(found.attempts.first?.receipts)
    #expect(receipts.map(\.kind) == [.accepted, .other, .userObserved])
    #expect(receipts[2].via == "tap" && receipts[2].provider == nil)
    #expect(receipts[2].atMs == seenMs)
    #expect(receipts[0].provider == "apns" && receipts[0].code == nil)
    #expect(receipts[0].atMs == Instant.parse(text: "2026-06-01T00:00:00Z"))
    // Of another device and of another user: of no attempt that is known.
    #expect(Set(found.otherReceipts.map(\.place.offset)) == [2, 3])
    #expect(try notification("n-2").attempts.isEmpty)
    #expect(world.index.counters.unreadable.value == 1)
    #expect(try world.reader.notification("n-3") == nil)
  }

  @Test func oneUsersPartOfACampaignIsFoundAmongMany() throws {
    try world.take(
      "dropped",
      (0..<20).map { number in
        let value = decision("dropped", "expired", user: "u-\(number)", device: "d-\(number)")
        return Sample(Int64(number), key: "u-\(number)", value)
      })
    #expect(try world.reader.notification("n-1", limit: 5)?.attempts.count == 5)
    let own = try #require(try world.reader.notification("n-1", user: "u-19", limit: 5))
    #expect(own.attempts.map(\.userID) == ["u-19"])
    #expect(try world.reader.notification("n-1", user: "u-20") == nil)
  }

  @Test func aRejectionKeepsTheProvidersOwnName() throws {
    try world.take("approved", [Sample(0, key: "u-1", decision("approved", "ok"))])
    try world.take(
      "receipts",
      [
        Sample(
          0, key: "u-1",
          receipt(
            #""provider":"fcm","status":"rejected","code":"UNREGISTERED","event":null,"#
              + #""at":"2026-06-01T00:00:00Z""#))
      ])
    let receipt = try #require(try notification().attempts.first?.receipts.first)
    #expect(receipt.kind == .rejected && receipt.code == "UNREGISTERED")
  }

  @Test func aHoldIsOpenUntilItsNullValueAndLinkedWithWhatCame() throws {
    let due = startMs + 2 * hourMs
    try world.take("deferred", [Sample(0, key: key, deferral(dueMs: due))])
    var hold = try #require(try notification().attempts.first)
    #expect(hold.isOpenHold && hold.releasedAs == nil && hold.deliverAfterMs == due)
    #expect(
      try world.reader.holdsDue(fromMs: startMs, toMs: due + 1)
        == [HoldsDue(hourMs: due / hourMs * hourMs, count: 1)])
    #expect(try world.reader.holdsDue(fromMs: startMs, toMs: due).isEmpty)

    try world.take("deferred", [Sample(1, key: key, nil)])
    try world.take(
      "approved",
      [
        Sample(
          0, key: "u-1",
          decision(
            "approved", "released", atMs: due, members: held(atMs: startMs, dueMs: due)))
      ])
    let found = try notification().attempts
    hold = found[0]
    #expect(!hold.isOpenHold && hold.outcome == .deferred)
    #expect(found[1].reason == "released" && hold.releasedAs == found[1].sequence)
    #expect(found[1].heldAs == hold.sequence)
    #expect(found[1].held == EvidenceHold(decidedAtMs: startMs, deliverAfterMs: due))
    #expect(try world.reader.holdsDue(fromMs: 0, toMs: .max).isEmpty)
  }

  /// Held on twice, each by the decision before.
  @Test func aChainOfHoldsIsFollowedLinkByLink() throws {
    let first = held(atMs: startMs, dueMs: startMs + hourMs)
    try world.take(
      "deferred",
      [
        Sample(0, key: key, deferral(dueMs: startMs + hourMs)),
        Sample(1, key: key, nil),
        Sample(
          2, key: key, deferral(atMs: startMs + 1, dueMs: startMs + 2 * hourMs, members: first)),
        Sample(3, key: key, nil),
        Sample(
          4, key: key, deferral(atMs: startMs + 2, dueMs: startMs + 3 * hourMs, members: first)),
      ])
    let found = try notification().attempts
    #expect(found.map(\.isOpenHold) == [false, false, true])
    #expect(found.map(\.heldAs) == [nil, found[0].sequence, found[1].sequence])
    #expect(found.map(\.releasedAs) == [found[1].sequence, found[2].sequence, nil])
    #expect(try world.reader.holdsDue(fromMs: 0, toMs: .max).map(\.count) == [1])
  }

  @Test func ofManyUsersTheHoldsAreCountedByTheHour() throws {
    var wanted: [Int64: Int64] = [:]
    var random = SeededRandom(7)
    let samples = (0..<500).map { number in
      let due = startMs + Int64.random(in: 0..<(30 * hourMs), using: &random)
      wanted[due / hourMs * hourMs, default: 0] += 1
      return Sample(
        Int64(number), key: "u-\(number)\0n-1\0d-1", deferral(dueMs: due, user: "u-\(number)"))
    }
    try world.take("deferred", samples)
    let found = try world.reader.holdsDue(fromMs: 0, toMs: .max)
    #expect(Dictionary(uniqueKeysWithValues: found.map { ($0.hourMs, $0.count) }) == wanted)
    #expect(found.map(\.hourMs) == wanted.keys.sorted())
  }

  @Test func runsOfTheSelfTestAreKeptInOrder() throws {
    #expect(try world.reader.latestSelfTest() == nil)
    let runs = (0..<3).map {
      SelfTestRun(
        atMs: startMs + $0, version: "0.1.0", outcome: $0 == 1 ? .failed : .passed,
        report: "{\"run\":\($0)}")
    }
    for run in runs { try world.index.add(run) }
    #expect(try world.reader.latestSelfTest() == runs[2])
    #expect(try world.reader.selfTests(limit: 2) == [runs[2], runs[1]])
  }
}
