extension Request {
  /// An answer of the right shape that carries an error wherever the request can be told of one.
  public func refused(_ code: ErrorCode) -> Response {
    switch self {
    case .produce(let r):
      var response = ProduceResponse()
      response.topics = r.topics.map { topic in
        var item = ProducedTopic()
        item.name = topic.name
        item.partitions = topic.partitions.map {
          var partition = ProducedPartition()
          (partition.index, partition.error) = ($0.index, code)
          return partition
        }
        return item
      }
      return .produce(response)
    case .fetch(let r):
      var response = FetchResponse()
      response.topics = r.topics.map { topic in
        var item = FetchedTopic()
        item.name = topic.name
        item.partitions = topic.partitions.map {
          var partition = FetchedPartition()
          (partition.index, partition.error, partition.records) = ($0.index, code, [])
          return partition
        }
        return item
      }
      return .fetch(response)
    case .listOffsets(let r):
      var response = ListOffsetsResponse()
      response.topics = r.topics.map { topic in
        var item = ListedTopic()
        item.name = topic.name
        item.partitions = topic.partitions.map {
          var partition = ListedPartition()
          (partition.index, partition.error) = ($0.index, code)
          return partition
        }
        return item
      }
      return .listOffsets(response)
    case .metadata(let r):
      var response = MetadataResponse()
      response.topics = (r.topics ?? []).map {
        var topic = MetadataTopic()
        (topic.name, topic.error) = ($0.name, code)
        return topic
      }
      return .metadata(response)
    case .offsetCommit(let r):
      var response = OffsetCommitResponse()
      response.topics = errors(r.topics.map { ($0.name, $0.partitions.map(\.index)) }, code)
      return .offsetCommit(response)
    case .txnOffsetCommit(let r):
      var response = TxnOffsetCommitResponse()
      response.topics = errors(r.topics.map { ($0.name, $0.partitions.map(\.index)) }, code)
      return .txnOffsetCommit(response)
    case .addPartitionsToTxn(let r):
      var response = AddPartitionsToTxnResponse()
      response.topics = errors(r.topics.map { ($0.name, $0.partitions) }, code)
      return .addPartitionsToTxn(response)
    case .offsetForLeaderEpoch(let r):
      var response = OffsetForLeaderEpochResponse()
      response.topics = r.topics.map { topic in
        var item = LeaderEpochEndTopic()
        item.name = topic.name
        item.partitions = topic.partitions.map {
          var end = LeaderEpochEnd()
          (end.index, end.error) = ($0.index, code)
          return end
        }
        return item
      }
      return .offsetForLeaderEpoch(response)
    case .joinGroup(let r): return .joinGroup(BrokerCore.joinFailure(code, r.memberId))
    case .syncGroup: return .syncGroup(BrokerCore.syncFailure(code))
    default: return refusedWhole(code)
    }
  }

  /// Those whose answers have one error for all.
  private func refusedWhole(_ code: ErrorCode) -> Response {
    func with<Message: WireStruct>(_ path: WritableKeyPath<Message, ErrorCode>) -> Message {
      var message = Message()
      message[keyPath: path] = code
      return message
    }
    switch self {
    case .offsetFetch(let r):
      var response = OffsetFetchResponse()
      response.error = code
      // Version 1 has no error for all, only one for each partition.
      response.topics = (r.topics ?? []).map { topic in
        var item = FetchedOffsets()
        item.name = topic.name
        item.partitions = topic.partitions.map {
          var offset = FetchedOffset()
          (offset.index, offset.error) = ($0, code)
          return offset
        }
        return item
      }
      return .offsetFetch(response)
    case .findCoordinator:
      var response: FindCoordinatorResponse = with(\.error)
      response.nodeId = -1
      response.port = -1
      return .findCoordinator(response)
    case .heartbeat: return .heartbeat(with(\.error))
    case .leaveGroup: return .leaveGroup(with(\.error))
    case .listGroups: return .listGroups(with(\.error))
    case .apiVersions:
      var response = BrokerCore.apiVersions
      response.error = code
      return .apiVersions(response)
    case .initProducerId: return .initProducerId(with(\.error))
    case .addOffsetsToTxn: return .addOffsetsToTxn(with(\.error))
    case .endTxn: return .endTxn(with(\.error))
    case .offsetDelete: return .offsetDelete(with(\.error))
    default: return refusedNamed(code)
    }
  }

  /// Those that answer for each thing named.
  private func refusedNamed(_ code: ErrorCode) -> Response {
    func each<Source, Item: WireStruct>(_ sources: [Source], _ set: (inout Item, Source) -> Void)
      -> [Item]
    {
      sources.map {
        var item = Item()
        set(&item, $0)
        return item
      }
    }
    switch self {
    case .describeGroups(let r):
      var response = DescribeGroupsResponse()
      response.groups = each(r.groups) { ($0.groupId, $0.error) = ($1, code) }
      return .describeGroups(response)
    case .createTopics(let r):
      var response = CreateTopicsResponse()
      response.topics = each(r.topics) { ($0.name, $0.error) = ($1.name, code) }
      return .createTopics(response)
    case .deleteTopics(let r):
      var response = DeleteTopicsResponse()
      response.topics = each(r.names) { ($0.name, $0.error) = ($1, code) }
      return .deleteTopics(response)
    case .deleteRecords(let r):
      var response = DeleteRecordsResponse()
      response.topics = each(r.topics) { item, topic in
        item.name = topic.name
        item.partitions = each(topic.partitions) { ($0.index, $0.error) = ($1.index, code) }
      }
      return .deleteRecords(response)
    case .describeConfigs(let r):
      var response = DescribeConfigsResponse()
      response.results = each(r.resources) {
        ($0.type, $0.name, $0.error) = ($1.type, $1.name, code)
      }
      return .describeConfigs(response)
    case .alterConfigs(let r):
      var response = AlterConfigsResponse()
      response.resources = each(r.resources) {
        ($0.type, $0.name, $0.error) = ($1.type, $1.name, code)
      }
      return .alterConfigs(response)
    case .incrementalAlterConfigs(let r):
      var response = AlterConfigsResponse()
      response.resources = each(r.resources) {
        ($0.type, $0.name, $0.error) = ($1.type, $1.name, code)
      }
      return .incrementalAlterConfigs(response)
    case .createPartitions(let r):
      var response = CreatePartitionsResponse()
      response.topics = each(r.topics) { ($0.name, $0.error) = ($1.name, code) }
      return .createPartitions(response)
    case .deleteGroups(let r):
      var response = DeleteGroupsResponse()
      response.results = each(r.groups) { ($0.groupId, $0.error) = ($1, code) }
      return .deleteGroups(response)
    default: preconditionFailure("\(key.name) is answered above")
    }
  }
}

private func errors(_ topics: [(String, [Int32])], _ code: ErrorCode) -> [PartitionErrors] {
  topics.map { name, indices in
    var item = PartitionErrors()
    item.name = name
    item.partitions = indices.map {
      var error = PartitionError()
      (error.index, error.error) = ($0, code)
      return error
    }
    return item
  }
}
