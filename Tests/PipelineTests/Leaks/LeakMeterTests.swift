import Testing

@testable import Gate
@testable import Pipeline

/// How long after an opt-out something was still approved, as the outputs on the cluster tell it.
@Suite struct LeakMeterTests {
  /// Many notifications for few users, none of them in a window.
  static func rig(_ count: Int, users: Int, category: String = "transactional") -> HoldRig {
    let rig = HoldRig(
      (0..<count).map { i in
        (
          Int32(i % users % 2),
          FakeCluster.candidate("n\(i)", "u\(i % users)")
            .replacing("transactional", with: category)
        )
      })
    for user in 0..<users { rig.prefer(document(user), partition: Int32(user % 2)) }
    rig.source.recordsPerPoll = 1
    return rig
  }

  static func document(_ user: Int, _ state: String = "default") -> String {
    HoldRig.document("u\(user)", window: "null", state: state)
  }

  /// The last approval of the user on a document before the opt-out; 0 where none came after it. The
  /// oracle: it reads what reached the cluster.
  static func leakMs(_ optOut: OptOut, user: Int, _ cluster: FakeCluster) -> Int64 {
    let late = cluster.outputs.filter {
      $0.outcome == .approved && $0.key == Array("u\(user)".utf8)
    }
    .filter { number(after: #""preference_offset":"#, in: $0) < optOut.offset }
    .map { decidedAtMs($0) - optOut.committedAtMs }
    return max(0, late.max() ?? 0)
  }

  private static func number(after mark: String, in output: FakeCluster.Output) -> Int64 {
    Int64(LoopHoldTests.text(output).text(after: mark).prefix { $0.isNumber })!
  }

  private static func decidedAtMs(_ output: FakeCluster.Output) -> Int64 {
    Instant.parse(
      text: String(LoopHoldTests.text(output).text(after: #""decided_at":""#).prefix(24)))!
  }

  private func wallMs(_ rig: HoldRig) -> Int64 { rig.clock.wallBaseMs + rig.clock.nowMs }

  /// Opt-outs that were on their way for some milliseconds, under commits that fail now and then.
  @Test(arguments: 0..<30 as Range<Int>) func agreesWithTheOutputs(seed: Int) {
    let users = 8
    let rig = Self.rig(400, users: users)
    rig.commitIntervalMs = [1, 7, 20][seed % 3]
    if seed % 2 == 1 {
      for call in stride(from: 3, to: 60, by: 4) {
        rig.sink.faults.fail(.commit, call: call, .abort)
      }
    }
    var optOuts: [(OptOut, Int)] = []
    rig.onPoll = { [unowned rig] poll in
      guard poll > 10, poll % 5 == 0, optOuts.count < users else { return }
      let user = optOuts.count
      let delayMs = Int64((poll * 7 + seed * 11) % 60)
      let optOut = rig.prefer(
        user == 5 ? nil : Self.document(user, "user-off"), user: "u\(user)",
        partition: Int32(user % 2), committedAtMs: wallMs(rig) - delayMs)
      optOuts.append((optOut, user))
    }
    rig.run(untilEnded: 400)
    #expect(optOuts.count == users)
    var expected: [Int64] = []
    for (optOut, user) in optOuts {
      expected.append(Self.leakMs(optOut, user: user, rig.cluster))
      // An erasure is one of every category.
      if user == 5 { expected += [0, 0, 0] }
    }
    let counters = rig.counters
    #expect(counters[.optOuts] == UInt64(expected.count) && counters[.optOutsUnmeasured] == 0)
    #expect(counters.optOutLeak.count == UInt64(expected.count))
    #expect(counters.optOutLeak.sumMs == UInt64(expected.reduce(0, +)), "\(expected)")
    #expect(counters[.optOutLeaks] == UInt64(expected.count { $0 > 0 }))
    #expect(counters[.optOutLeaksLate] == UInt64(expected.count { $0 > rig.objectiveMs }))
    // Not that nothing leaked at all.
    #expect(expected.contains { $0 > 0 })
  }

  /// Off, and on again before the lane hears of it: what the new document allows is none.
  @Test func allowedAgainIsNoLeak() {
    let rig = Self.rig(60, users: 1)
    var optOut: OptOut?
    rig.onPoll = { [unowned rig] poll in
      if poll == 20 {
        optOut = rig.prefer(Self.document(0, "user-off"), committedAtMs: wallMs(rig) - 50)
        rig.prefer(Self.document(0, "user-on"))
      }
    }
    rig.run(untilEnded: 60)
    #expect(rig.cluster.outputs.allSatisfy { $0.outcome == .approved })
    #expect(rig.counters[.optOuts] == 1)
    let leakMs = Self.leakMs(optOut!, user: 0, rig.cluster)
    #expect((1...50).contains(leakMs))
    #expect(rig.counters.optOutLeak.sumMs == UInt64(leakMs))
  }

  /// Of another category, or of somebody else, is none.
  @Test func otherCategoriesAndUsersAreNone() {
    let rig = Self.rig(60, users: 2, category: "social")
    rig.onPoll = { [unowned rig] poll in
      if poll == 20 { rig.prefer(Self.document(0, "user-off"), committedAtMs: wallMs(rig) - 10) }
    }
    rig.run(untilEnded: 60)
    #expect(rig.counters[.optOuts] == 1 && rig.counters[.optOutLeaks] == 0)
    #expect(rig.counters.optOutLeak.count == 1)
  }

  /// What was off before, or is of a partition that is not this lane's, is not asked about.
  @Test func whatIsNoOptOutIsNotCounted() {
    let rig = HoldRig(
      on: FakeCluster.holding([(0, FakeCluster.candidate("n", "u0"))], partitions: 2), assign: [0])
    rig.prefer(Self.document(0))
    rig.onPoll = { [unowned rig] poll in
      if poll == 20 {
        // New, so that there was nothing to switch off; then off; then off still.
        rig.prefer(Self.document(1, "user-off"))
        rig.prefer(Self.document(0, "user-off"), committedAtMs: wallMs(rig))
        rig.prefer(Self.document(0, "user-off"), committedAtMs: wallMs(rig))
        rig.prefer(Self.document(3))
        rig.prefer(Self.document(3, "user-off"), partition: 1, committedAtMs: wallMs(rig))
      }
      if poll == 40 { rig.control.ask(.drain) }
    }
    rig.run()
    #expect(rig.counters[.optOuts] == 1 && rig.counters[.optOutsUnmeasured] == 0)
  }

  /// A lane that has approved more than it can look back over says so, unless it finds one all the
  /// same.
  @Test func whatIsNotKnownIsSaid() {
    let rig = Self.rig(200, users: 4)
    rig.approvalsMax = 8
    rig.onPoll = { [unowned rig] poll in
      // Long ago: nobody can say.
      if poll == 40 {
        rig.prefer(Self.document(0, "user-off"), committedAtMs: wallMs(rig) - 10_000)
        // Somebody who is sent nothing.
        rig.prefer(Self.document(9))
        rig.prefer(Self.document(9, "user-off"), committedAtMs: wallMs(rig) - 10_000)
      }
    }
    rig.run(untilEnded: 200)
    #expect(rig.counters[.optOuts] == 2)
    #expect(rig.counters[.optOutsUnmeasured] == 1 && rig.counters[.optOutLeaks] == 1)
    // Before the lane had the partition it cannot know either.
    let fresh = Self.rig(4, users: 1)
    fresh.onPoll = { [unowned fresh] poll in
      if poll == 30 {
        fresh.prefer(Self.document(9))
        fresh.prefer(Self.document(9, "user-off"), partition: 1, committedAtMs: 1)
      }
      if poll == 40 { fresh.control.ask(.drain) }
    }
    fresh.run()
    #expect(fresh.counters[.optOutsUnmeasured] == 1 && fresh.counters.optOutLeak.count == 0)
  }

  /// A release that was decided before the lane had the opt-out counts like any approval.
  @Test func aReleaseIsAnApproval() {
    let rig = HoldRig(LoopHoldTests.candidates(1, partitions: 1))
    var optOut: OptOut?
    rig.onPoll = { [unowned rig] _ in
      if optOut == nil, rig.cluster.ended.count == 1 {
        optOut = rig.prefer(
          HoldRig.document("u0", version: 2, state: "user-off"), committedAtMs: HoldRig.endMs - 3)
      }
    }
    rig.isOver = { [counters = rig.counters] in counters[.optOuts] == 1 }
    rig.run()
    #expect(rig.cluster.reasons("n0") == [.released])
    let leakMs = Self.leakMs(optOut!, user: 0, rig.cluster)
    #expect(leakMs >= 3 && rig.counters.optOutLeak.sumMs == UInt64(leakMs))
  }

  @Test func pastTheBoundTheyAreCounted() {
    let notes = OptOutNotes()
    var drained: [OptOut] = []
    #expect(notes.drain(into: &drained) == 0 && drained.isEmpty)
    let optOut = OptOut(
      partition: 0, user: 1, categories: CategorySet([.social]), committedAtMs: 1, offset: 1)
    for _ in 0..<(OptOutNotes.notesMax + 5) { notes.note(optOut) }
    #expect(notes.drain(into: &drained) == 5 && drained.count == OptOutNotes.notesMax)
    drained = []
    #expect(notes.drain(into: &drained) == 0 && drained.isEmpty)
  }
}
