import Testing

@testable import Gate

/// Reports from the field that concern caps, each by its id, in both styles where that makes sense.
@Suite struct FieldReportCapTests {
  private static func atMs(_ text: String) -> Int64 { instant(text) * 1000 }

  private static func lane(_ cap: String) -> DuplicateTests.Lane {
    let device = DuplicateTests.device("d")
    let on =
      #""timezone":"America/Los_Angeles","categories":{"marketing":{"state":"user-on","at":"2025-10-01T09:00:00Z","source":"in_app_settings"}}"#
    return DuplicateTests.Lane(
      [DuplicateTests.document(device, on)], policy: CapSupport.policy(marketing: "[\(cap)]"))
  }

  private static func verdict(_ lane: DuplicateTests.Lane, _ id: String, _ at: String) -> String {
    lane.verdicts([DuplicateTests.candidate(id, "marketing")], at: atMs(at))[0]
  }

  /// A day is the user's, not Greenwich's.
  @Test func c091_theDayIsTheUsers() {
    let lane = Self.lane(CapSupport.daily(3))
    for (id, at) in [
      ("1", "2026-05-05T20:00:00Z"), ("2", "2026-05-05T21:00:00Z"), ("3", "2026-05-05T22:00:00Z"),
    ] {
      #expect(Self.verdict(lane, id, at) == "approved ok")
    }
    let fourth = lane.gate.decide(
      DuplicateTests.candidate("4", "marketing"), nowMs: Self.atMs("2026-05-06T00:30:00Z"))
    #expect(fourth.map(\.verdict) == ["dropped frequency_capped"])
    #expect(fourth[0]["cap.name"] == .text("daily"))
    #expect(fourth[0]["cap.frees_at"] == .text("2026-05-06T07:00:00.000Z"))
    #expect(Self.verdict(lane, "5", "2026-05-06T06:59:59Z") == "dropped frequency_capped")
    #expect(Self.verdict(lane, "4", "2026-05-06T07:00:00Z") == "approved ok")
  }

  /// The same sends under a sliding day: the fourth waits for the first to be 24 hours old.
  @Test func c091_sliding() {
    let lane = Self.lane(CapSupport.sliding(3, seconds: 86_400))
    for (id, at) in [
      ("1", "2026-05-05T20:00:00Z"), ("2", "2026-05-05T21:00:00Z"), ("3", "2026-05-05T22:00:00Z"),
    ] {
      #expect(Self.verdict(lane, id, at) == "approved ok")
    }
    let fourth = lane.gate.decide(
      DuplicateTests.candidate("4", "marketing"), nowMs: Self.atMs("2026-05-06T07:00:00Z"))
    #expect(fourth[0]["cap.frees_at"] == .text("2026-05-06T20:00:00.000Z"))
    #expect(Self.verdict(lane, "4", "2026-05-06T19:59:59Z") == "dropped frequency_capped")
    #expect(Self.verdict(lane, "4", "2026-05-06T20:00:00Z") == "approved ok")
    #expect(Self.verdict(lane, "5", "2026-05-06T20:00:00Z") == "dropped frequency_capped")
  }

  /// In one batch, in two, and after an abort: one goes out.
  @Test(arguments: [CapSupport.daily(1), CapSupport.sliding(1, seconds: 86_400)])
  func c092_twoTogether(_ cap: String) {
    let at = Self.atMs("2026-05-05T20:00:00Z")
    let two = ["n1", "n2"].map { DuplicateTests.candidate($0, "marketing") }
    let inOne = Self.lane(cap)
    #expect(inOne.verdicts(two, at: at) == ["approved ok", "dropped frequency_capped"])
    let inTwo = Self.lane(cap)
    #expect(inTwo.verdicts([two[0]], at: at) == ["approved ok"])
    #expect(inTwo.verdicts([two[1]], at: at) == ["dropped frequency_capped"])
    let aborted = Self.lane(cap)
    for _ in 0..<3 {
      #expect(aborted.verdicts(two, at: at) == ["approved ok", "dropped frequency_capped"])
      aborted.state.rollback()
    }
    #expect(aborted.verdicts(two, at: at) == ["approved ok", "dropped frequency_capped"])
  }

  /// On two partitions of a mis-keyed topic: the one where the user is not at home decides nothing.
  @Test func c092_onAPartitionThatIsNotTheUsers() {
    let policy = CapSupport.policy(social: "[\(CapSupport.daily(1))]")
    let state = LaneState(policy: policy, partitionCount: 4, hashKey: (3, 4))
    for partition in Int32(0)..<4 { state.open(partition) }
    let gate = TestGate(
      policy: policy, partitionCount: 4, documents: [CapTests.oneDevice], state: state)
    let key = Array("u".utf8)
    let home = key.withUnsafeBytes { Partitioner.partition(forKey: $0, count: 4) }
    let decided = gate.decideAll(
      [
        (CapTests.candidate("n1"), key, home), (CapTests.candidate("n2"), key, (home + 1) % 4),
        (CapTests.candidate("n3"), key, home),
      ], nowMs: Self.atMs("2026-05-05T20:00:00Z"))
    #expect(
      decided.map(\.verdict)
        == ["approved ok", "dropped invalid_candidate", "dropped frequency_capped"])
    #expect(decided[1]["detail"] == .text("partition_mismatch"))
  }
}
