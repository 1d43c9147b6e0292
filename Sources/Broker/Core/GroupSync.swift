extension BrokerCore {
  func syncGroup(_ request: SyncGroupRequest, _ id: RequestId) {
    func refuse(_ code: ErrorCode) { answer(id, .syncGroup(Self.syncFailure(code))) }
    guard !request.groupId.isEmpty else { return refuse(.invalidGroupId) }
    guard let group = groups[request.groupId] else { return refuse(.unknownMemberId) }
    let code = group.check(member: request.memberId, instanceId: request.groupInstanceId)
    guard code == .none else { return refuse(code) }
    guard request.generationId == group.generation else { return refuse(.illegalGeneration) }
    if let type = request.protocolType, type != group.protocolType {
      return refuse(.inconsistentGroupProtocol)
    }
    if let name = request.protocolName, name != group.protocolName {
      return refuse(.inconsistentGroupProtocol)
    }
    let member = group.member(request.memberId)!
    switch group.state {
    case .empty: refuse(.unknownMemberId)
    case .preparingRebalance: refuse(.rebalanceInProgress)
    case .completingRebalance:
      if let earlier = member.sync { finish(earlier, .nothing) }
      member.sync = id
      group.pendingSync.remove(member.id)
      if group.leader == member.id { assign(request.assignments, group) }
    case .stable:
      group.pendingSync.remove(member.id)
      member.sync = id
      answerSync(member, group, .none)
    }
  }

  static func syncFailure(_ code: ErrorCode) -> SyncGroupResponse {
    var response = SyncGroupResponse()
    response.error = code
    return response
  }

  /// The leader's word: everyone gets their part, and the group is stable.
  private func assign(_ assignments: [SyncAssignment], _ group: Group) {
    for member in group.members {
      member.assignment = assignments.first { $0.memberId == member.id }?.assignment ?? []
    }
    group.state = .stable
    keep(group)
    for member in group.members { answerSync(member, group, .none) }
  }

  /// Keeps what a rebalance came to, so that members go on after a restart as if nothing was.
  func keep(_ group: Group) {
    group.settled = GroupEntry(group)
    journal?.write(.group(group.settled!))
  }

  func answerSync(_ member: Member, _ group: Group, _ code: ErrorCode) {
    guard let id = member.sync else { return }
    member.sync = nil
    var response = Self.syncFailure(code)
    if code == .none {
      response.protocolType = group.protocolType
      response.protocolName = group.protocolName
      response.assignment = member.assignment
    }
    answer(id, .syncGroup(response))
    expect(member, in: group, withinMs: Int64(member.sessionTimeoutMs))
  }

  /// Members that took their place in a generation and never asked for their part are dropped.
  func syncDue(_ groupId: String, _ generation: Int32) {
    guard let group = groups[groupId], group.generation == generation, !group.pendingSync.isEmpty,
      group.state == .completingRebalance || group.state == .stable
    else { return }
    for id in group.pendingSync.sorted() {
      if let member = group.member(id) { group.remove(member) }
    }
    prepareRebalance(group)
  }

  // MARK: Liveness

  func heartbeat(_ request: HeartbeatRequest) -> HeartbeatResponse {
    var response = HeartbeatResponse()
    response.error = beat(request)
    return response
  }

  private func beat(_ request: HeartbeatRequest) -> ErrorCode {
    guard !request.groupId.isEmpty else { return .invalidGroupId }
    guard let group = groups[request.groupId] else { return .unknownMemberId }
    let code = group.check(member: request.memberId, instanceId: request.groupInstanceId)
    guard code == .none else { return code }
    guard request.generationId == group.generation else { return .illegalGeneration }
    guard group.state != .empty else { return .unknownMemberId }
    hear(from: group.member(request.memberId)!, in: group)
    return group.state == .preparingRebalance ? .rebalanceInProgress : .none
  }

  func hear(from member: Member, in group: Group) {
    expect(member, in: group, withinMs: Int64(member.sessionTimeoutMs))
  }

  /// Sets when a member is given up. Timers are not taken back: one that comes early sets the next.
  func expect(_ member: Member, in group: Group, withinMs: Int64) {
    member.deadlineMs = nowMs + withinMs
    guard member.deadlineMs < member.timerMs else { return }
    member.timerMs = member.deadlineMs
    timers.add(
      .session(group: group.id, member: member.id, atMs: member.timerMs), at: member.timerMs)
  }

  func sessionDue(_ groupId: String, _ memberId: String, _ atMs: Int64) {
    guard let group = groups[groupId], let member = group.member(memberId), member.timerMs == atMs
    else { return }
    member.timerMs = .max
    if member.deadlineMs > nowMs {
      expect(member, in: group, withinMs: member.deadlineMs - nowMs)
    } else if member.isNew || (member.join == nil && member.sync == nil) {
      removeMember(member, from: group)
    }
    // A member that waits for the others is alive as far as anyone can tell.
  }

  func pendingMemberDue(_ groupId: String, _ memberId: String) {
    guard let group = groups[groupId], group.pendingMembers.remove(memberId) != nil else { return }
    completeJoinIfAllHere(group)
  }

  func removeMember(_ member: Member, from group: Group) {
    if let join = member.join {
      member.join = nil
      answer(join, .joinGroup(Self.joinFailure(.unknownMemberId, "")))
    }
    if let sync = member.sync {
      member.sync = nil
      answer(sync, .syncGroup(Self.syncFailure(.unknownMemberId)))
    }
    group.remove(member)
    switch group.state {
    case .empty: break
    case .stable, .completingRebalance: prepareRebalance(group)
    case .preparingRebalance: completeJoinIfAllHere(group)
    }
  }

  func leaveGroup(_ request: LeaveGroupRequest, _ client: Client) -> LeaveGroupResponse {
    var response = LeaveGroupResponse()
    guard !request.groupId.isEmpty else {
      response.error = .invalidGroupId
      return response
    }
    var leaving = request.members
    if client.version < 3 {
      var one = LeavingMember()
      one.memberId = request.memberId
      leaving = [one]
    }
    response.members = leaving.map { item in
      var left = LeftMember()
      left.memberId = item.memberId
      left.groupInstanceId = item.groupInstanceId
      left.error = leave(item, request.groupId)
      return left
    }
    // Before version 3 there is one member, and its error is the answer's.
    if client.version < 3 { response.error = response.members[0].error }
    return response
  }

  private func leave(_ leaving: LeavingMember, _ groupId: String) -> ErrorCode {
    guard let group = groups[groupId] else { return .unknownMemberId }
    if leaving.memberId.isEmpty {
      guard let member = leaving.groupInstanceId.flatMap(group.staticMember) else {
        return .unknownMemberId
      }
      removeMember(member, from: group)
      return .none
    }
    if group.pendingMembers.remove(leaving.memberId) != nil {
      completeJoinIfAllHere(group)
      return .none
    }
    let code = group.check(member: leaving.memberId, instanceId: leaving.groupInstanceId)
    if code == .none { removeMember(group.member(leaving.memberId)!, from: group) }
    return code
  }
}
