import Testing

@testable import Gate
@testable import Pipeline

/// A user's erasure ends what was held for the user before it, without a record, whatever document
/// follows and whenever the lane hears of it.
@Suite struct LoopErasureTests {
  /// Users u0, u1 …, one held notification each, with no token for anything but an erasure.
  static func heldRig(_ count: Int) -> HoldRig {
    let rig = HoldRig(LoopHoldTests.candidates(count))
    rig.isOver = { [cluster = rig.cluster] in cluster.held.count == count }
    rig.run()
    #expect(rig.cluster.held.count == count && rig.cluster.ended.isEmpty)
    return rig
  }

  private static func opened(_ user: String) -> String {
    HoldRig.document(user, version: 1, window: "null")
  }

  /// Its new document would release the hold at once. `together`: the lane hears of both at once;
  /// `everything`: of neither, only that anything may have changed.
  @Test(arguments: ["together", "apart", "everything"])
  func theNextDocumentDoesNotDecideIt(_ way: String) {
    let rig = HoldRig(LoopHoldTests.candidates(4))
    rig.perSecond = 1
    rig.onPoll = { [unowned rig] poll in
      if poll == 20 {
        rig.prefer(nil, user: "u0", isNoted: way != "everything")
        if way != "apart" { rig.prefer(Self.opened("u0"), isNoted: way != "everything") }
        if way == "everything" { rig.changes.noteEverything() }
      }
      if poll == 22, way == "apart" { rig.prefer(Self.opened("u0")) }
      if poll == 30 {
        #expect(rig.cluster.held == ["n1", "n2", "n3"])
        rig.control.ask(.drain)
      }
    }
    rig.run()
    #expect(rig.cluster.ended.isEmpty)
    #expect(rig.cluster.holdViolations(erased: ["n0"]) == [])
    #expect(rig.counters[.erased] == 1 && rig.counters[.released] == 0)
  }

  /// What is held for the user after the return leaves as ever.
  @Test func whatIsHeldAfterTheReturnStays() {
    let rig = HoldRig(
      [(0, FakeCluster.candidate("before", "u0")), (0, FakeCluster.candidate("after", "u0"))])
    rig.onPoll = { [unowned rig] poll in
      rig.source.recordsPerPoll = poll == 10 || poll > 40 ? 1 : 0
      if poll == 20 {
        #expect(rig.cluster.held == ["before"])
        rig.prefer(nil, user: "u0")
        rig.prefer(HoldRig.document("u0"))
      }
      if poll == 40 { #expect(rig.cluster.held.isEmpty) }
    }
    rig.run(untilEnded: 1)
    #expect(rig.cluster.reasons("after") == [.released])
    #expect(rig.cluster.holdViolations(erased: ["before"]) == [])
  }

  /// A newer one of the same key, sent under the new document, tells nothing of the older one.
  @Test func aNewerOneTellsNothingOfTheErased() {
    let key = #","collapse_key":"k""#
    let rig = HoldRig(
      [
        (0, FakeCluster.candidate("older", "u0", key)),
        (0, FakeCluster.candidate("newer", "u0", key)),
      ])
    rig.onPoll = { [unowned rig] poll in
      rig.source.recordsPerPoll = poll == 10 || poll >= 20 ? 1 : 0
      guard poll == 20 else { return }
      #expect(rig.cluster.held == ["older"])
      // In the same turn, before the lane looks at who has changed.
      rig.prefer(nil, user: "u0", isNoted: false)
      rig.prefer(HoldRig.document("u0"), isNoted: false)
    }
    rig.run(untilEnded: 1)
    #expect(rig.cluster.reasons("newer") == [.released])
    #expect(rig.cluster.holdViolations(erased: ["older"]) == [])
    #expect(rig.counters[.erased] == 1 && rig.counters[.superseded] == 0)
  }

  /// Erased while no gate ran: what the topic still shows of it counts when the holds are read back.
  @Test(arguments: [false, true]) func erasedWhileTheGateWasDown(overdue: Bool) {
    let first = Self.heldRig(6)
    let second = HoldRig(on: first.cluster)
    for i in 0..<6 { second.prefer(HoldRig.document("u\(i)")) }
    second.preferenceOffset = first.preferenceOffset
    second.prefer(nil, user: "u0")
    second.prefer(nil, user: "u1")
    second.prefer(Self.opened("u1"))
    // Not erased: only changed.
    second.prefer(HoldRig.document("u2", version: 2))
    second.perSecond = 1
    if overdue { second.clock.wallBaseMs += 3_600_000 }
    second.onPoll = { [cluster = first.cluster, control = second.control] poll in
      if poll == 30 {
        #expect(Set(cluster.held).isDisjoint(with: ["n0", "n1"]))
        control.ask(.drain)
      }
    }
    second.run()
    #expect(first.cluster.holdViolations(erased: ["n0", "n1"]) == [])
    #expect(second.counters[.erased] == 2)
  }

  /// The transaction that ends it is aborted: it ends in another one, and still without a record.
  @Test func anAbortDoesNotBringItBack() {
    let rig = HoldRig(LoopHoldTests.candidates(2))
    // The first is of the holds.
    for call in 2...3 { rig.sink.faults.fail(.commit, call: call, .abort) }
    rig.onPoll = { [unowned rig] poll in
      if poll == 20 {
        rig.prefer(nil, user: "u0")
        rig.prefer(Self.opened("u0"))
      }
    }
    rig.run(untilEnded: 1)
    #expect(rig.cluster.reasons("n1") == [.released] && rig.cluster.held.isEmpty)
    #expect(rig.cluster.holdViolations(erased: ["n0"]) == [])
    #expect(rig.counters[.aborts] == 2 && rig.counters[.erased] == 1)
  }
}
