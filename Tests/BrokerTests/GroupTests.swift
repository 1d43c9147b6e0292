import Testing

@testable import Broker

/// A member as a client library keeps one.
struct TestMember {
  var group: String
  var id = ""
  var instance: String?
  var generation: Int32 = -1
}

extension Sim {
  func join(_ member: TestMember, protocols: [String] = ["range"], sessionMs: Int32 = 10_000)
    -> RequestId
  {
    var request = JoinGroupRequest()
    request.groupId = member.group
    request.memberId = member.id
    request.groupInstanceId = member.instance
    request.sessionTimeoutMs = sessionMs
    request.rebalanceTimeoutMs = 60_000
    request.protocolType = "consumer"
    request.protocols = protocols.map {
      var item = JoinProtocol()
      (item.name, item.metadata) = ($0, Array($0.utf8))
      return item
    }
    return send(.joinGroup(request))
  }

  func joined(_ id: RequestId) -> JoinGroupResponse? {
    if case .joinGroup(let r)? = answer(id) { r } else { nil }
  }

  /// Joins, the second time with the id that was asked for.
  func joinNew(_ group: String) -> (TestMember, RequestId) {
    var member = TestMember(group: group)
    let refused = joined(join(member))!
    precondition(refused.error == .memberIdRequired)
    member.id = refused.memberId
    return (member, join(member))
  }

  func sync(_ member: TestMember, _ assignments: [String: String] = [:]) -> RequestId {
    var request = SyncGroupRequest()
    request.groupId = member.group
    request.memberId = member.id
    request.groupInstanceId = member.instance
    request.generationId = member.generation
    request.assignments = assignments.sorted { $0.key < $1.key }.map {
      var item = SyncAssignment()
      (item.memberId, item.assignment) = ($0.key, Array($0.value.utf8))
      return item
    }
    return send(.syncGroup(request))
  }

  func synced(_ id: RequestId) -> (ErrorCode, String)? {
    guard case .syncGroup(let r)? = answer(id) else { return nil }
    return (r.error, String(decoding: r.assignment, as: UTF8.self))
  }

  func beat(_ member: TestMember) -> ErrorCode {
    var request = HeartbeatRequest()
    request.groupId = member.group
    request.memberId = member.id
    request.groupInstanceId = member.instance
    request.generationId = member.generation
    guard case .heartbeat(let r) = call(.heartbeat(request)) else { fatalError() }
    return r.error
  }

  func leave(_ member: TestMember) -> ErrorCode {
    var request = LeaveGroupRequest()
    request.groupId = member.group
    var item = LeavingMember()
    (item.memberId, item.groupInstanceId) = (member.id, member.instance)
    request.members = [item]
    guard case .leaveGroup(let r) = call(.leaveGroup(request)) else { fatalError() }
    return r.members[0].error
  }

  /// A group of one, stable.
  func joinAlone(_ group: String) -> TestMember {
    var (member, id) = joinNew(group)
    member.generation = joined(id)!.generationId
    _ = sync(member, [member.id: "all"])
    return member
  }

  /// A stable group of two; the first leads.
  func pair(_ group: String) -> (TestMember, TestMember) {
    var a = joinAlone(group)
    var (b, second) = joinNew(group)
    precondition(beat(a) == .rebalanceInProgress)
    let first = join(a)
    a.generation = joined(first)!.generationId
    b.generation = joined(second)!.generationId
    let waiting = sync(b)
    precondition(synced(waiting) == nil)
    precondition(synced(sync(a, [a.id: "A", b.id: "B"]))! == (.none, "A"))
    precondition(synced(waiting)! == (.none, "B"))
    return (a, b)
  }
}

@Suite struct GroupTests {
  @Test func theLeaderAloneIsToldOfTheMembers() {
    let sim = Sim()
    let a = sim.joinAlone("g")
    let (b, second) = sim.joinNew("g")
    #expect(sim.joined(second) == nil)
    let first = sim.joined(sim.join(a))!
    #expect(first.leader == a.id && Set(first.members.map(\.memberId)) == [a.id, b.id])
    let other = sim.joined(second)!
    #expect(other.leader == a.id && other.members.isEmpty && other.generationId == 2)
    #expect(other.protocolName == "range" && other.protocolType == "consumer")
  }

  @Test func generationsAndMembersAreChecked() {
    let sim = Sim()
    let (a, b) = sim.pair("g")
    #expect(sim.beat(a) == .none)
    var wrong = a
    wrong.generation -= 1
    #expect(sim.beat(wrong) == .illegalGeneration)
    #expect(sim.synced(sim.sync(wrong))?.0 == .illegalGeneration)
    wrong.id = "nobody"
    #expect(sim.beat(wrong) == .unknownMemberId)
    #expect(sim.joined(sim.join(wrong))?.error == .unknownMemberId)
    wrong.group = "none"
    #expect(sim.beat(wrong) == .unknownMemberId)
    #expect(sim.joined(sim.join(TestMember(group: "")))?.error == .invalidGroupId)
    #expect(
      sim.joined(sim.join(TestMember(group: "g"), sessionMs: 5_999))?.error
        == .invalidSessionTimeout)
    #expect(
      sim.joined(sim.join(TestMember(group: "g"), protocols: ["sticky"]))?.error
        == .inconsistentGroupProtocol)
    #expect(sim.beat(b) == .none)
  }

  @Test func aSilentMemberIsDroppedAfterItsSession() {
    let sim = Sim()
    let (a, b) = sim.pair("g")
    for _ in 0..<4 {
      sim.pass(2_400)
      #expect(sim.beat(a) == .none)
    }
    sim.pass(401)
    #expect(sim.beat(a) == .rebalanceInProgress)
    #expect(sim.beat(b) == .unknownMemberId)
    let joined = sim.joined(sim.join(a))!
    #expect(joined.generationId == a.generation + 1 && joined.members.count == 1)
  }

  @Test func aMemberThatLeavesStartsARebalance() {
    let sim = Sim()
    let (a, b) = sim.pair("g")
    #expect(sim.leave(a) == .none)
    #expect(sim.leave(a) == .unknownMemberId)
    #expect(sim.beat(b) == .rebalanceInProgress)
    let joined = sim.joined(sim.join(b))!
    #expect(joined.leader == b.id)
  }

  @Test func thoseWhoDoNotRejoinInTimeAreDropped() {
    let sim = Sim()
    let (a, b) = sim.pair("g")
    let (_, newcomer) = sim.joinNew("g")
    let again = sim.join(a)
    // b only beats, and so stays alive, but does not come back.
    for _ in 0..<12 {
      #expect(sim.joined(again) == nil)
      #expect(sim.beat(b) == .rebalanceInProgress)
      sim.pass(5_000)
    }
    #expect(sim.joined(again)?.members.count == 2)
    #expect(sim.joined(newcomer)?.error == ErrorCode.none)
    #expect(sim.beat(b) == .unknownMemberId)
  }

  @Test func thoseWhoDoNotSyncInTimeAreDropped() {
    let sim = Sim()
    var a = sim.joinAlone("g")
    let (b, second) = sim.joinNew("g")
    a.generation = sim.joined(sim.join(a))!.generationId
    var lazy = b
    lazy.generation = sim.joined(second)!.generationId
    #expect(sim.synced(sim.sync(a, [a.id: "A"]))! == (.none, "A"))
    for _ in 0..<12 {
      #expect(sim.beat(a) == .none)
      #expect(sim.beat(lazy) == .none)
      sim.pass(5_000)
    }
    #expect(sim.beat(a) == .rebalanceInProgress)
    #expect(sim.beat(lazy) == .unknownMemberId)
  }

  @Test func aPendingMemberHoldsUpTheGroupForItsSessionOnly() {
    let sim = Sim()
    let a = sim.joinAlone("g")
    let ghost = sim.joined(sim.join(TestMember(group: "g")))!
    #expect(ghost.error == .memberIdRequired)
    let waiting = sim.join(a)
    #expect(sim.joined(waiting) == nil)
    sim.pass(10_000)
    #expect(sim.joined(waiting)?.generationId == 2)
  }

  @Test func theFirstRebalanceWaitsForMoreMembers() {
    let sim = Sim { $0.groupInitialRebalanceDelayMs = 3_000 }
    let (_, first) = sim.joinNew("g")
    sim.pass(2_000)
    let (_, second) = sim.joinNew("g")
    sim.pass(1_500)
    // The delay begins again with each newcomer.
    #expect(sim.joined(first) == nil)
    sim.pass(2_500)
    #expect(sim.joined(first)?.members.count == 2)
    #expect(sim.joined(second)?.generationId == 1)
  }

  @Test func commitsAreTakenFromCurrentMembersOnly() {
    let sim = Sim()
    sim.topic()
    var a = sim.joinAlone("g")
    #expect(sim.commit(4, group: "g", generation: a.generation, member: a.id) == .none)
    #expect(
      sim.commit(4, group: "g", generation: a.generation + 1, member: a.id) == .illegalGeneration)
    #expect(sim.commit(4, group: "g", generation: a.generation, member: "x") == .unknownMemberId)
    #expect(sim.commit(4, group: "g") == .unknownMemberId)
    #expect(sim.commit(4, group: "new", generation: 3, member: "x") == .illegalGeneration)
    #expect(
      sim.commit(4, group: "g", generation: 1, member: a.id, topic: "no")
        == .unknownTopicOrPartition)
    // While a rebalance is prepared, yes; once the new generation is told and not assigned, no.
    let (_, second) = sim.joinNew("g")
    #expect(sim.commit(5, group: "g", generation: a.generation, member: a.id) == .none)
    a.generation = sim.joined(sim.join(a))!.generationId
    #expect(sim.joined(second) != nil)
    #expect(
      sim.commit(6, group: "g", generation: a.generation, member: a.id) == .rebalanceInProgress)
    #expect(sim.committed("g").offset == 5)
  }

  @Test func staticMembersComeBackAndFenceTheirDoubles() {
    let sim = Sim()
    var a = TestMember(group: "g", instance: "one")
    let first = sim.joined(sim.join(a))!
    #expect(first.error == .none)
    a.id = first.memberId
    a.generation = first.generationId
    _ = sim.sync(a, [a.id: "A"])
    var again = TestMember(group: "g", instance: "one")
    let back = sim.joined(sim.join(again))!
    // The same generation, no rebalance, and told of the old leader so that it does not assign.
    #expect(back.error == .none && back.generationId == a.generation && back.leader == a.id)
    again.id = back.memberId
    again.generation = back.generationId
    #expect(sim.synced(sim.sync(again))! == (.none, "A"))
    #expect(sim.beat(a) == .fencedInstanceId)
    #expect(sim.leave(a) == .fencedInstanceId)
    #expect(sim.beat(again) == .none)
    sim.pass(10_001)
    #expect(sim.beat(again) == .unknownMemberId)
  }

  @Test func groupsAreDescribedAndDeleted() {
    let sim = Sim()
    sim.topic()
    let a = sim.joinAlone("g")
    func state() -> String {
      var request = DescribeGroupsRequest()
      request.groups = ["g"]
      guard case .describeGroups(let r) = sim.call(.describeGroups(request)) else { return "" }
      return r.groups[0].state
    }
    func delete() -> ErrorCode {
      var request = DeleteGroupsRequest()
      request.groups = ["g"]
      guard case .deleteGroups(let r) = sim.call(.deleteGroups(request)) else { return .none }
      return r.results[0].error
    }
    #expect(state() == "Stable")
    #expect(delete() == .nonEmptyGroup)
    #expect(sim.leave(a) == .none)
    #expect(state() == "Empty")
    #expect(delete() == .none)
    #expect(state() == "Dead")
    #expect(delete() == .groupIdNotFound)
  }
}
