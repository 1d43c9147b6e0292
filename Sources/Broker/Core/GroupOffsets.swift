extension BrokerCore {
  func offsetCommit(_ request: OffsetCommitRequest) -> OffsetCommitResponse {
    let group =
      groups[request.groupId] ?? (request.generationId < 0 ? Group(id: request.groupId) : nil)
    var refusal = ErrorCode.none
    if let group {
      refusal = checkCommit(
        group, generation: request.generationId, member: request.memberId,
        instanceId: request.groupInstanceId, transactional: false)
      if refusal == .none {
        groups[group.id] = group
        switch group.state {
        case .empty: break
        case .completingRebalance: refusal = .rebalanceInProgress
        // While a rebalance is prepared members may still commit; the heartbeat tells them of it.
        case .stable, .preparingRebalance:
          if let member = group.member(request.memberId) { hear(from: member, in: group) }
        }
      }
    } else {
      refusal = .illegalGeneration
    }
    var accepted: [TopicPartition: CommittedOffset] = [:]
    var response = OffsetCommitResponse()
    for topic in request.topics {
      var errors = PartitionErrors()
      errors.name = topic.name
      for item in topic.partitions {
        var error = PartitionError()
        error.index = item.index
        error.error = refusal
        if refusal == .none {
          error.error = checkOffset(topic.name, item.index, item.metadata)
        }
        if error.error == .none {
          accepted[TopicPartition(topic.name, item.index)] = committed(
            item.offset, item.leaderEpoch, item.metadata)
        }
        errors.partitions.append(error)
      }
      response.topics.append(errors)
    }
    if let group, !accepted.isEmpty {
      journal?.write(.offsets(OffsetsEntry(group.id, producerId: -1, accepted)))
      group.offsets.merge(accepted) { $1 }
    }
    return response
  }

  func committed(_ offset: Int64, _ leaderEpoch: Int32, _ metadata: String?) -> CommittedOffset {
    commitOrder += 1
    return CommittedOffset(
      offset: offset, leaderEpoch: leaderEpoch, metadata: metadata ?? "", order: commitOrder)
  }

  func checkOffset(_ topic: String, _ index: Int32, _ metadata: String?) -> ErrorCode {
    if partition(topic, index) == nil { return .unknownTopicOrPartition }
    if (metadata?.utf8.count ?? 0) > config.offsetMetadataMaxBytes {
      return .offsetMetadataTooLarge
    }
    return .none
  }

  /// Whether someone may commit for the group. A committer that names no member is let in when the
  /// group is empty, or, in a transaction, always: older producers cannot name one.
  func checkCommit(
    _ group: Group, generation: Int32, member: String, instanceId: String?, transactional: Bool
  ) -> ErrorCode {
    if generation < 0, group.state == .empty { return .none }
    if generation >= 0 || !member.isEmpty || instanceId != nil {
      let code = group.check(member: member, instanceId: instanceId)
      if code != .none { return code }
      return generation == group.generation ? .none : .illegalGeneration
    }
    return !transactional && group.state != .empty ? .unknownMemberId : .none
  }

  func offsetFetch(_ request: OffsetFetchRequest) -> OffsetFetchResponse {
    var response = OffsetFetchResponse()
    let group = groups[request.groupId]
    var wanted = request.topics
    if wanted == nil {
      var all: [String: [Int32]] = [:]
      for name in group?.offsets.keys.sorted() ?? [] {
        all[name.topic, default: []].append(name.index)
      }
      wanted = all.keys.sorted().map { topic in
        var item = OffsetFetchTopic()
        (item.name, item.partitions) = (topic, all[topic]!)
        return item
      }
    }
    for topic in wanted ?? [] {
      var fetched = FetchedOffsets()
      fetched.name = topic.name
      fetched.partitions = topic.partitions.map { index in
        var result = FetchedOffset()
        result.index = index
        let name = TopicPartition(topic.name, index)
        if request.requireStable,
          group?.pendingOffsets.values.contains(where: { $0[name] != nil }) == true
        {
          // A transaction has an offset here and is not ended: what is committed may be about to
          // change, and whoever started from it would read records twice.
          result.error = .unstableOffsetCommit
        } else if let committed = group?.offsets[name] {
          result.offset = committed.offset
          result.leaderEpoch = committed.leaderEpoch
          result.metadata = committed.metadata
        }
        return result
      }
      response.topics.append(fetched)
    }
    return response
  }

  /// Drops committed offsets of partitions that are no more.
  func forgetOffsets(_ isGone: (TopicPartition) -> Bool) {
    for id in groups.keys.sorted() {
      let group = groups[id]!
      let gone = group.offsets.keys.filter(isGone)
      forget(gone.sorted(), of: group)
      for producer in group.pendingOffsets.keys {
        for name in group.pendingOffsets[producer]!.keys where isGone(name) {
          group.pendingOffsets[producer]![name] = nil
        }
      }
    }
  }

  func forget(_ names: [TopicPartition], of group: Group) {
    guard !names.isEmpty else { return }
    for name in names { group.offsets[name] = nil }
    journal?.write(.offsetsDeleted(OffsetsDeletedEntry(group.id, names)))
  }

  // MARK: Administration

  func describeGroups(_ request: DescribeGroupsRequest) -> DescribeGroupsResponse {
    var response = DescribeGroupsResponse()
    response.groups = request.groups.map { id in
      var item = DescribedGroup()
      item.groupId = id
      guard let group = groups[id] else {
        item.state = "Dead"
        return item
      }
      item.state = group.state.rawValue
      item.protocolType = group.protocolType ?? ""
      let settled = group.state == .stable
      item.protocolName = settled ? group.protocolName ?? "" : ""
      item.members = group.members.map { member in
        var described = DescribedMember()
        described.memberId = member.id
        described.groupInstanceId = member.instanceId
        described.clientId = member.clientId
        described.clientHost = member.clientHost
        if settled {
          described.metadata = member.metadata(for: group.protocolName)
          described.assignment = member.assignment
        }
        return described
      }
      return item
    }
    return response
  }

  func listGroups(_ request: ListGroupsRequest) -> ListGroupsResponse {
    var response = ListGroupsResponse()
    let states = Set(request.statesFilter.map { $0.lowercased() })
    for id in groups.keys.sorted() {
      let group = groups[id]!
      if !states.isEmpty, !states.contains(group.state.rawValue.lowercased()) { continue }
      var item = ListedGroup()
      item.groupId = id
      item.protocolType = group.protocolType ?? ""
      item.state = group.state.rawValue
      response.groups.append(item)
    }
    return response
  }

  func deleteGroups(_ request: DeleteGroupsRequest) -> DeleteGroupsResponse {
    var response = DeleteGroupsResponse()
    response.results = request.groups.map { id in
      var result = DeletedGroup()
      result.groupId = id
      if let group = groups[id] {
        if group.state == .empty {
          groups[id] = nil
          journal?.write(.groupDeleted(NameEntry(id)))
        } else {
          result.error = .nonEmptyGroup
        }
      } else {
        result.error = .groupIdNotFound
      }
      return result
    }
    return response
  }

  func offsetDelete(_ request: OffsetDeleteRequest) -> OffsetDeleteResponse {
    var response = OffsetDeleteResponse()
    guard let group = groups[request.groupId] else {
      response.error = .groupIdNotFound
      return response
    }
    guard group.state == .empty || group.protocolType == "consumer" else {
      response.error = .nonEmptyGroup
      return response
    }
    for topic in request.topics {
      var errors = PartitionErrors()
      errors.name = topic.name
      for index in topic.partitions {
        var item = PartitionError()
        item.index = index
        // What members subscribe to is in their own words, which this broker does not read: while
        // a group has members, all its topics count as subscribed.
        if partition(topic.name, index) == nil {
          item.error = .unknownTopicOrPartition
        } else if group.state != .empty {
          item.error = .groupSubscribedToTopic
        } else {
          forget([TopicPartition(topic.name, index)], of: group)
        }
        errors.partitions.append(item)
      }
      response.topics.append(errors)
    }
    return response
  }
}
