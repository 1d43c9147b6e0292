import Testing

@testable import Gate
@testable import Pipeline

/// How what is held leaves: superseded, paced, from memory or from the topic, and through whatever
/// happens to the lane.
@Suite struct LoopReleaseTests {
  // MARK: Supersede

  static let collapse = #","collapse_key":"k""#

  /// In whatever batches they come: the older gives way in the transaction of the newer.
  @Test(arguments: [1, 2, 5]) func aNewerOneTakesThePlace(recordsPerPoll: Int) throws {
    let rig = HoldRig(
      partitions: 1,
      (0..<4).map { (0, FakeCluster.candidate("n\($0)", "u", Self.collapse)) }
        + [
          (0, FakeCluster.candidate("other", "u", #","collapse_key":"l""#)),
          (0, FakeCluster.candidate("none", "u")),
          (0, FakeCluster.candidate("else", "v", Self.collapse)),
        ])
    rig.source.recordsPerPoll = recordsPerPoll
    rig.commitIntervalMs = 3
    rig.onPoll = { [cluster = rig.cluster] _ in
      // Never one without the other.
      let known = Set(cluster.outputs.map(\.notificationID))
      for i in 0..<3 where known.contains("n\(i + 1)") {
        #expect(cluster.reasons("n\(i)") == [.superseded])
      }
      #expect(cluster.held.filter { $0.hasPrefix("n") && $0 != "none" }.count <= 1)
    }
    rig.run(untilEnded: 7)
    #expect(rig.cluster.holdViolations() == [])
    #expect(rig.counters[.superseded] == 3 && rig.counters[.released] == 4)
    for i in 0..<3 {
      let output = try #require(rig.cluster.ended["n\(i)"]?.first)
      let text = String(decoding: output.value, as: UTF8.self)
      #expect(text.text(after: #""superseded_by":""#).hasPrefix("n\(i + 1)\""))
      #expect(!text.text(after: #""held":{"decided_at":""#).isEmpty)
      #expect(output.headers == Array("0-\(rig.cluster.log[0]![i])".utf8))
    }
    for id in ["n3", "other", "none", "else"] { #expect(rig.cluster.reasons(id) == [.released]) }
  }

  /// One that is approved does so too; what is read back gives way like any other.
  @Test func anApprovalTakesThePlaceOfWhatWasReadBack() {
    let candidates: [(Int32, String)] = [
      (0, FakeCluster.candidate("older", "u", Self.collapse)),
      (0, FakeCluster.candidate("newer", "u", Self.collapse + #","event":"payment_failed""#)),
    ]
    let first = HoldRig(partitions: 1, candidates)
    first.source.recordsPerPoll = 1
    first.commitIntervalMs = 1
    first.isOver = { [unowned first] in
      guard first.cluster.held == ["older"] else { return false }
      first.source.recordsPerPoll = 0
      return true
    }
    first.run()
    #expect(first.cluster.ended.isEmpty)
    let second = HoldRig(on: first.cluster)
    second.prefer(HoldRig.document("u"))
    second.run(untilEnded: 2)
    #expect(first.cluster.reasons("older") == [.superseded])
    #expect(first.cluster.reasons("newer") == [.quietHoursBypassed])
    #expect(first.cluster.holdViolations() == [])
  }

  // MARK: Caps

  /// What is held counts when it leaves: the second of a day does not, also where the first one's
  /// transaction was aborted on the way.
  @Test(arguments: [false, true]) func aCapIsAskedAtTheRelease(aborts: Bool) {
    let rig = HoldRig(
      partitions: 1,
      [
        (0, FakeCluster.candidate("n0", "u")), (0, FakeCluster.candidate("n1", "u")),
        (0, FakeCluster.candidate("n2", "v")),
      ])
    rig.policy = HoldRig.cappedPolicy()
    if aborts {
      rig.onPoll = { [cluster = rig.cluster, faults = rig.sink.faults] _ in
        guard cluster.held.count == 3, faults.calls[.flush] == 1 else { return }
        faults.fail(.flush, call: 2, .abort)
      }
    }
    rig.run(untilEnded: 3)
    #expect(rig.cluster.reasons("n0") == [.released])
    #expect(rig.cluster.reasons("n1") == [.frequencyCapped])
    #expect(rig.cluster.reasons("n2") == [.released])
    #expect(rig.counters[.aborts] == (aborts ? 1 : 0))
    #expect(rig.cluster.holdViolations() == [])
  }

  // MARK: Pacing

  static func decidedMs(_ output: FakeCluster.Output) -> Int64 {
    let text = String(decoding: output.value, as: UTF8.self)
    let at = Array(text.text(after: #""decided_at":""#).prefix(24).utf8)
    return at.withUnsafeBytes { Instant.parse($0)! }
  }

  @Test func neverMoreThanTheBucketInAnySecond() {
    let perSecond: Int64 = 40
    let rig = HoldRig(LoopHoldTests.candidates(200))
    rig.perSecond = perSecond
    rig.pollsMax = 4000
    rig.run(untilEnded: 200)
    let times = rig.cluster.ended.values.map { Self.decidedMs($0[0]) }.sorted()
    #expect(times.count == 200)
    for (i, later) in times.dropFirst(Int(perSecond)).enumerated() {
      #expect(later - times[i] >= 1000)
    }
    // And not much less: a tenth is the price.
    #expect(times.last! - times.first! < 200 * 1000 / perSecond * 13 / 10)
    #expect(rig.cluster.holdViolations() == [])
  }

  /// What is dropped at its release takes no token from those that leave.
  @Test func tokensAreForApprovals() {
    let rig = HoldRig(LoopHoldTests.candidates(60))
    rig.perSecond = 5
    rig.pollsMax = 4000
    rig.onPoll = { [unowned rig] poll in
      guard poll == 60 else { return }
      for i in 0..<55 { rig.prefer(HoldRig.document("u\(i)", version: 2, state: "user-off")) }
    }
    rig.run(untilEnded: 60)
    let times = rig.cluster.ended.values.map { Self.decidedMs($0[0]) }.sorted()
    #expect(times.count == 60)
    #expect(times.last! - times.first! < 3_000)
  }

  @Test func theSpreadIsByUserAndLaterOnly() {
    let rig = HoldRig(LoopHoldTests.candidates(80))
    rig.spreadMs = 20_000
    rig.run(untilEnded: 80)
    let delays = rig.cluster.ended.values.map { Self.decidedMs($0[0]) - HoldRig.endMs }
    #expect(delays.count == 80)
    #expect(delays.allSatisfy { (0..<20_050).contains($0) })
    #expect(Set(delays.map { $0 / 2_000 }).count > 7, "\(delays)")
  }

  // MARK: Memory

  /// Payloads over the limit: where they are is learned from the topic, then they go, and are read again
  /// when they are due; the topic not answering meanwhile.
  @Test func payloadsAreReadAgainFromTheTopic() {
    let padding = #","payload":{"text":"\#(String(repeating: "x1y2z3", count: 300))"}"#
    let rig = HoldRig(LoopHoldTests.candidates(200, padding))
    rig.payloadBytesMax = 2
    rig.onPoll = { [topic = rig.topic, clock = rig.clock] _ in
      if topic.reads == 0, clock.wallBaseMs + clock.nowMs > HoldRig.endMs - 150 {
        topic.failures = 3
      }
    }
    rig.run(untilEnded: 200)
    #expect(rig.topic.keysRead > 0 && rig.topic.reads > 3)
    #expect(rig.topic.failures == 0)
    #expect(rig.cluster.ended.count == 200)
    #expect(rig.cluster.holdViolations() == [])
    for (id, outputs) in rig.cluster.ended {
      let number = Int(id.dropFirst())!
      let offset = rig.cluster.log[Int32(number % 2)]![number / 2]
      #expect(outputs[0].headers == Array("\(number % 2)-\(offset)".utf8))
    }
  }

  // MARK: At least once

  /// Whatever fails between the outputs, the null values and the offsets: nothing is lost.
  @Test func atLeastOnceLosesNothing() {
    for step in [TransactionMachine.Step.write, .flush, .commit] {
      for call in 1...8 {
        let rig = HoldRig(
          on: FakeCluster.holding(LoopHoldTests.candidates(12), partitions: 2),
          isTransactional: false)
        for i in 0..<12 { rig.prefer(HoldRig.document("u\(i)")) }
        rig.source.recordsPerPoll = 2
        rig.clock.wallBaseMs += 59_000
        rig.pollsMax = 300
        rig.sink.faults.fail(step, call: call, .abort)
        rig.run(untilEnded: 12)
        #expect(rig.cluster.ended.count == 12, "\(step) \(call)")
        #expect(rig.cluster.holdViolations(allowDoubles: true) == [], "\(step) \(call)")
      }
    }
  }

  // MARK: Everything at once

  @Test(arguments: UInt64(1)...60) func atRandom(seed: UInt64) {
    var random = Xorshift(seed: seed)
    let rig = HoldRig(
      partitions: 3,
      (0..<60).map { i in
        let user = Int.random(in: 0..<20, using: &random)
        let more =
          Int.random(in: 0..<3, using: &random) == 0
          ? #","collapse_key":"k\#(Int.random(in: 0..<2, using: &random))""# : ""
        return (Int32(user) % 3, FakeCluster.candidate("n\(i)", "u\(user)", more))
      })
    // Four seconds to the end.
    rig.clock.wallBaseMs += 56_000
    rig.source.recordsPerPoll = Int.random(in: 1...4, using: &random)
    rig.states.recordsPerPoll = Int.random(in: 1...9, using: &random)
    if Bool.random(using: &random) { rig.perSecond = 40 }
    if Bool.random(using: &random) { rig.spreadMs = 1_500 }
    var ours: Set<Int32> = [0, 1, 2]
    var version = 1
    rig.onPoll = { [unowned rig] poll in
      guard poll < 150 else {
        if poll == 150 { rig.source.note(.assigned(Set(0..<3).subtracting(ours).sorted())) }
        return
      }
      if Int.random(in: 0..<6, using: &random) == 0 {
        version += 1
        let user = Int.random(in: 0..<20, using: &random)
        let window = [#"{"start":"22:00","end":"22:31"}"#, #"{"start":"22:05","end":"22:31"}"#]
          .randomElement(using: &random)!
        rig.prefer(
          HoldRig.document("u\(user)", version: version, window: window),
          partition: Int32(user) % 3)
      }
      if Int.random(in: 0..<40, using: &random) == 0 { rig.changes.noteEverything() }
      guard Set(rig.source.assigned) == ours, Int.random(in: 0..<12, using: &random) == 0 else {
        return
      }
      rig.states.failures = Int.random(in: 0...1, using: &random)
      let some = ours.sorted().filter { _ in Bool.random(using: &random) }
      let others = Set(rig.cluster.partitions).subtracting(ours)
      switch Int.random(in: 0..<3, using: &random) {
      case 0 where !some.isEmpty:
        ours.subtract(some)
        rig.source.note(.revoked(some), losing: 1)
      case 1 where !some.isEmpty:
        rig.cluster.member = GroupClaim(
          generation: rig.cluster.member.generation + 2, memberID: "m-\(poll)")
        rig.source.believes = rig.cluster.member
        rig.source.note(.lost(ours.sorted()), losing: 1)
        ours = []
      default:
        ours.formUnion(others)
        rig.source.note(.assigned(others.sorted()), losing: 1)
      }
    }
    let kinds: [Failure.Kind] = [.retriable, .abort, .lostTransaction]
    for step in [TransactionMachine.Step.write, .flush, .sendOffsets, .commit, .abort] {
      for call in 1...40 where Int.random(in: 0..<12, using: &random) == 0 {
        rig.sink.faults.fail(step, call: call, kinds.randomElement(using: &random)!)
      }
    }
    let end = rig.run(untilEnded: 60)
    #expect(rig.cluster.holdViolations() == [], "seed \(seed), \(end)")
    if end == .drained { #expect(rig.cluster.ended.count == 60, "seed \(seed)") }
  }
}
