extension BrokerCore {
  func joinGroup(_ request: JoinGroupRequest, _ id: RequestId, _ client: Client) {
    func refuse(_ code: ErrorCode, memberId: String = request.memberId) {
      answer(id, .joinGroup(Self.joinFailure(code, memberId)))
    }
    guard !request.groupId.isEmpty else { return refuse(.invalidGroupId) }
    guard
      (config.groupMinSessionTimeoutMs...config.groupMaxSessionTimeoutMs)
        .contains(request.sessionTimeoutMs)
    else { return refuse(.invalidSessionTimeout) }
    guard
      let group = groups[request.groupId]
        ?? (request.memberId.isEmpty ? Group(id: request.groupId) : nil)
    else { return refuse(.unknownMemberId) }
    groups[group.id] = group
    guard group.supports(request.protocolType, request.protocols) else {
      return refuse(.inconsistentGroupProtocol)
    }

    if request.memberId.isEmpty {
      if let instanceId = request.groupInstanceId {
        let newId = makeMemberId(instanceId)
        if let old = group.staticMember(instanceId) {
          replaceStatic(old, newId: newId, in: group, request, id)
        } else {
          addMember(newId, to: group, request, id, client)
        }
      } else if client.version >= 4 {
        // KIP-394: a member that never comes back with its id must not hold up the group.
        let newId = makeMemberId(client.id)
        group.pendingMembers.insert(newId)
        timers.add(
          .pendingMember(group: group.id, member: newId),
          at: nowMs + Int64(request.sessionTimeoutMs))
        refuse(.memberIdRequired, memberId: newId)
      } else {
        addMember(makeMemberId(client.id), to: group, request, id, client)
      }
    } else if group.pendingMembers.contains(request.memberId) {
      addMember(request.memberId, to: group, request, id, client)
    } else {
      let code = group.check(member: request.memberId, instanceId: request.groupInstanceId)
      guard code == .none else { return refuse(code) }
      rejoin(group.member(request.memberId)!, group, request, id)
    }
    completeJoinIfAllHere(group)
  }

  static func joinFailure(_ code: ErrorCode, _ memberId: String) -> JoinGroupResponse {
    var response = JoinGroupResponse()
    response.error = code
    response.memberId = memberId
    response.protocolName = ""
    return response
  }

  private func makeMemberId(_ prefix: String) -> String {
    let hex = [random.next(), random.next()].map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
    return prefix + "-" + hex
  }

  private func addMember(
    _ memberId: String, to group: Group, _ request: JoinGroupRequest, _ id: RequestId,
    _ client: Client
  ) {
    let member = Member(
      id: memberId, instanceId: request.groupInstanceId, clientId: client.id,
      clientHost: client.host, sessionTimeoutMs: request.sessionTimeoutMs,
      rebalanceTimeoutMs: Self.rebalanceTimeout(request), protocols: request.protocols)
    member.isNew = true
    member.join = id
    if group.state == .preparingRebalance, group.generation == 0 { group.memberAddedInDelay = true }
    if group.members.isEmpty { group.protocolType = request.protocolType }
    if group.leader == nil { group.leader = memberId }
    group.pendingMembers.remove(memberId)
    group.members.append(member)
    // It does not know its id yet and sends no heartbeats, so its session does not count; but a
    // client that gave up on its JoinGroup must not stay for good.
    expect(member, in: group, withinMs: 5 * 60 * 1000)
    prepareRebalanceIfSettled(group)
  }

  private static func rebalanceTimeout(_ request: JoinGroupRequest) -> Int32 {
    request.rebalanceTimeoutMs < 0 ? request.sessionTimeoutMs : request.rebalanceTimeoutMs
  }

  private func update(_ member: Member, _ request: JoinGroupRequest, _ id: RequestId) {
    member.protocols = request.protocols
    member.sessionTimeoutMs = request.sessionTimeoutMs
    member.rebalanceTimeoutMs = Self.rebalanceTimeout(request)
    // An earlier JoinGroup of the same member gets no answer any more: whoever sent it has gone.
    if let earlier = member.join, earlier != id { finish(earlier, .nothing) }
    member.join = id
  }

  private func rejoin(
    _ member: Member, _ group: Group, _ request: JoinGroupRequest, _ id: RequestId
  ) {
    switch group.state {
    case .empty:
      answer(id, .joinGroup(Self.joinFailure(.unknownMemberId, member.id)))
    case .preparingRebalance:
      update(member, request, id)
    case .completingRebalance:
      // The same again: it may have missed the first answer.
      if member.matches(request.protocols) {
        answer(id, .joinGroup(joined(member, in: group)))
      } else {
        update(member, request, id)
        prepareRebalanceIfSettled(group)
      }
    case .stable:
      // The leader joins again when the topics changed; others with the same protocols only ask.
      if group.leader == member.id || !member.matches(request.protocols) {
        update(member, request, id)
        prepareRebalanceIfSettled(group)
      } else {
        answer(id, .joinGroup(joined(member, in: group, withMembers: false)))
      }
    }
  }

  /// A static member that comes back without its id takes a new one; whoever still uses the old one
  /// is fenced.
  private func replaceStatic(
    _ member: Member, newId: String, in group: Group, _ request: JoinGroupRequest, _ id: RequestId
  ) {
    let oldId = member.id
    let oldLeader = group.leader
    if let join = member.join {
      member.join = nil
      answer(join, .joinGroup(Self.joinFailure(.fencedInstanceId, oldId)))
    }
    if let sync = member.sync {
      member.sync = nil
      answer(sync, .syncGroup(Self.syncFailure(.fencedInstanceId)))
    }
    member.id = newId
    if group.leader == oldId { group.leader = newId }
    if group.pendingSync.remove(oldId) != nil { group.pendingSync.insert(newId) }
    // Timers of the old id find nobody any more.
    member.timerMs = .max
    expect(member, in: group, withinMs: Int64(request.sessionTimeoutMs))
    update(member, request, id)
    switch group.state {
    case .empty, .preparingRebalance: break
    case .completingRebalance: prepareRebalance(group)
    case .stable:
      guard group.chooseProtocol() == group.protocolName else {
        return prepareRebalance(group)
      }
      // Nothing changes for the others. It is told of the old leader even if that was itself, so
      // that it does not assign: the group is stable and would not take a new assignment.
      member.join = nil
      var response = joined(member, in: group, withMembers: false)
      response.leader = oldLeader ?? ""
      keep(group)
      answer(id, .joinGroup(response))
    }
  }

  private func joined(_ member: Member, in group: Group, withMembers: Bool = true)
    -> JoinGroupResponse
  {
    var response = JoinGroupResponse()
    response.generationId = group.generation
    response.protocolType = group.protocolType
    response.protocolName = group.protocolName ?? ""
    response.leader = group.leader ?? ""
    response.memberId = member.id
    if withMembers, group.leader == member.id {
      response.members = group.members.map { other in
        var item = JoinedMember()
        item.memberId = other.id
        item.groupInstanceId = other.instanceId
        item.metadata = other.metadata(for: group.protocolName)
        return item
      }
    }
    return response
  }

  // MARK: Rebalance

  func prepareRebalanceIfSettled(_ group: Group) {
    if group.state != .preparingRebalance { prepareRebalance(group) }
  }

  func prepareRebalance(_ group: Group) {
    if group.state == .completingRebalance {
      for member in group.members {
        member.assignment = []
        answerSync(member, group, .rebalanceInProgress)
      }
    }
    group.pendingSync.removeAll()
    group.joinStamp += 1
    let wait: Int64
    if group.state == .empty {
      wait = config.groupInitialRebalanceDelayMs
      group.initialDelayLeftMs = max(group.rebalanceTimeoutMs - wait, 0)
    } else {
      wait = group.rebalanceTimeoutMs
      group.initialDelayLeftMs = nil
    }
    group.state = .preparingRebalance
    timers.add(.join(group: group.id, stamp: group.joinStamp), at: nowMs + wait)
    completeJoinIfAllHere(group)
  }

  func completeJoinIfAllHere(_ group: Group) {
    // The first rebalance waits out its delay for more members to come.
    guard group.state == .preparingRebalance, group.initialDelayLeftMs == nil, group.haveAllJoined
    else { return }
    completeJoin(group)
  }

  func joinDue(_ groupId: String, _ stamp: Int) {
    guard let group = groups[groupId], group.state == .preparingRebalance, group.joinStamp == stamp
    else { return }
    if let left = group.initialDelayLeftMs, group.memberAddedInDelay, left > 0 {
      group.memberAddedInDelay = false
      let wait = min(config.groupInitialRebalanceDelayMs, left)
      group.initialDelayLeftMs = left - wait
      timers.add(.join(group: groupId, stamp: stamp), at: nowMs + wait)
      return
    }
    completeJoin(group)
  }

  private func completeJoin(_ group: Group) {
    for member in group.members where member.join == nil && member.instanceId == nil {
      group.remove(member)
    }
    group.joinStamp += 1
    group.initialDelayLeftMs = nil
    group.memberAddedInDelay = false
    if let leader = group.leader, group.member(leader)?.join == nil {
      group.leader = group.members.first { $0.join != nil }?.id ?? leader
    }
    if !group.members.isEmpty, group.members.allSatisfy({ $0.join == nil }) {
      // Only static members are left, and none came back: their sessions decide.
      timers.add(
        .join(group: group.id, stamp: group.joinStamp), at: nowMs + group.rebalanceTimeoutMs)
      return
    }
    group.generation += 1
    group.pendingSync.removeAll()
    guard !group.members.isEmpty else {
      group.state = .empty
      group.protocolName = nil
      group.leader = nil
      keep(group)
      return
    }
    group.protocolName = group.chooseProtocol()
    group.state = .completingRebalance
    for member in group.members {
      if let join = member.join {
        member.join = nil
        answer(join, .joinGroup(joined(member, in: group)))
      }
      expect(member, in: group, withinMs: Int64(member.sessionTimeoutMs))
      member.isNew = false
      group.pendingSync.insert(member.id)
    }
    timers.add(
      .sync(group: group.id, generation: group.generation), at: nowMs + group.rebalanceTimeoutMs)
  }
}
