/// A decoded request.
public enum Request {
  case produce(ProduceRequest)
  case fetch(FetchRequest)
  case listOffsets(ListOffsetsRequest)
  case metadata(MetadataRequest)
  case offsetCommit(OffsetCommitRequest)
  case offsetFetch(OffsetFetchRequest)
  case findCoordinator(FindCoordinatorRequest)
  case joinGroup(JoinGroupRequest)
  case heartbeat(HeartbeatRequest)
  case leaveGroup(LeaveGroupRequest)
  case syncGroup(SyncGroupRequest)
  case describeGroups(DescribeGroupsRequest)
  case listGroups(ListGroupsRequest)
  case apiVersions(ApiVersionsRequest)
  case createTopics(CreateTopicsRequest)
  case deleteTopics(DeleteTopicsRequest)
  case deleteRecords(DeleteRecordsRequest)
  case initProducerId(InitProducerIdRequest)
  case offsetForLeaderEpoch(OffsetForLeaderEpochRequest)
  case addPartitionsToTxn(AddPartitionsToTxnRequest)
  case addOffsetsToTxn(AddOffsetsToTxnRequest)
  case endTxn(EndTxnRequest)
  case txnOffsetCommit(TxnOffsetCommitRequest)
  case describeConfigs(DescribeConfigsRequest)
  case alterConfigs(AlterConfigsRequest)
  case createPartitions(CreatePartitionsRequest)
  case deleteGroups(DeleteGroupsRequest)
  case incrementalAlterConfigs(IncrementalAlterConfigsRequest)
  case offsetDelete(OffsetDeleteRequest)

  public var key: ApiKey {
    switch self {
    case .produce: .produce
    case .fetch: .fetch
    case .listOffsets: .listOffsets
    case .metadata: .metadata
    case .offsetCommit: .offsetCommit
    case .offsetFetch: .offsetFetch
    case .findCoordinator: .findCoordinator
    case .joinGroup: .joinGroup
    case .heartbeat: .heartbeat
    case .leaveGroup: .leaveGroup
    case .syncGroup: .syncGroup
    case .describeGroups: .describeGroups
    case .listGroups: .listGroups
    case .apiVersions: .apiVersions
    case .createTopics: .createTopics
    case .deleteTopics: .deleteTopics
    case .deleteRecords: .deleteRecords
    case .initProducerId: .initProducerId
    case .offsetForLeaderEpoch: .offsetForLeaderEpoch
    case .addPartitionsToTxn: .addPartitionsToTxn
    case .addOffsetsToTxn: .addOffsetsToTxn
    case .endTxn: .endTxn
    case .txnOffsetCommit: .txnOffsetCommit
    case .describeConfigs: .describeConfigs
    case .alterConfigs: .alterConfigs
    case .createPartitions: .createPartitions
    case .deleteGroups: .deleteGroups
    case .incrementalAlterConfigs: .incrementalAlterConfigs
    case .offsetDelete: .offsetDelete
    }
  }

  static func decode(_ key: ApiKey, _ c: inout Codec) throws(WireError) -> Request {
    switch key {
    case .produce: .produce(try c.message())
    case .fetch: .fetch(try c.message())
    case .listOffsets: .listOffsets(try c.message())
    case .metadata: .metadata(try c.message())
    case .offsetCommit: .offsetCommit(try c.message())
    case .offsetFetch: .offsetFetch(try c.message())
    case .findCoordinator: .findCoordinator(try c.message())
    case .joinGroup: .joinGroup(try c.message())
    case .heartbeat: .heartbeat(try c.message())
    case .leaveGroup: .leaveGroup(try c.message())
    case .syncGroup: .syncGroup(try c.message())
    case .describeGroups: .describeGroups(try c.message())
    case .listGroups: .listGroups(try c.message())
    case .apiVersions: .apiVersions(try c.message())
    case .createTopics: .createTopics(try c.message())
    case .deleteTopics: .deleteTopics(try c.message())
    case .deleteRecords: .deleteRecords(try c.message())
    case .initProducerId: .initProducerId(try c.message())
    case .offsetForLeaderEpoch: .offsetForLeaderEpoch(try c.message())
    case .addPartitionsToTxn: .addPartitionsToTxn(try c.message())
    case .addOffsetsToTxn: .addOffsetsToTxn(try c.message())
    case .endTxn: .endTxn(try c.message())
    case .txnOffsetCommit: .txnOffsetCommit(try c.message())
    case .describeConfigs: .describeConfigs(try c.message())
    case .alterConfigs: .alterConfigs(try c.message())
    case .createPartitions: .createPartitions(try c.message())
    case .deleteGroups: .deleteGroups(try c.message())
    case .incrementalAlterConfigs: .incrementalAlterConfigs(try c.message())
    case .offsetDelete: .offsetDelete(try c.message())
    }
  }

  /// Encodes the body; a client in the same process, such as a test, needs it.
  func encode(_ c: inout Codec) throws(WireError) {
    switch self {
    case .produce(let body): try c.write(body)
    case .fetch(let body): try c.write(body)
    case .listOffsets(let body): try c.write(body)
    case .metadata(let body): try c.write(body)
    case .offsetCommit(let body): try c.write(body)
    case .offsetFetch(let body): try c.write(body)
    case .findCoordinator(let body): try c.write(body)
    case .joinGroup(let body): try c.write(body)
    case .heartbeat(let body): try c.write(body)
    case .leaveGroup(let body): try c.write(body)
    case .syncGroup(let body): try c.write(body)
    case .describeGroups(let body): try c.write(body)
    case .listGroups(let body): try c.write(body)
    case .apiVersions(let body): try c.write(body)
    case .createTopics(let body): try c.write(body)
    case .deleteTopics(let body): try c.write(body)
    case .deleteRecords(let body): try c.write(body)
    case .initProducerId(let body): try c.write(body)
    case .offsetForLeaderEpoch(let body): try c.write(body)
    case .addPartitionsToTxn(let body): try c.write(body)
    case .addOffsetsToTxn(let body): try c.write(body)
    case .endTxn(let body): try c.write(body)
    case .txnOffsetCommit(let body): try c.write(body)
    case .describeConfigs(let body): try c.write(body)
    case .alterConfigs(let body): try c.write(body)
    case .createPartitions(let body): try c.write(body)
    case .deleteGroups(let body): try c.write(body)
    case .incrementalAlterConfigs(let body): try c.write(body)
    case .offsetDelete(let body): try c.write(body)
    }
  }
}

/// A typed answer.
public enum Response {
  case produce(ProduceResponse)
  case fetch(FetchResponse)
  case listOffsets(ListOffsetsResponse)
  case metadata(MetadataResponse)
  case offsetCommit(OffsetCommitResponse)
  case offsetFetch(OffsetFetchResponse)
  case findCoordinator(FindCoordinatorResponse)
  case joinGroup(JoinGroupResponse)
  case heartbeat(HeartbeatResponse)
  case leaveGroup(LeaveGroupResponse)
  case syncGroup(SyncGroupResponse)
  case describeGroups(DescribeGroupsResponse)
  case listGroups(ListGroupsResponse)
  case apiVersions(ApiVersionsResponse)
  case createTopics(CreateTopicsResponse)
  case deleteTopics(DeleteTopicsResponse)
  case deleteRecords(DeleteRecordsResponse)
  case initProducerId(InitProducerIdResponse)
  case offsetForLeaderEpoch(OffsetForLeaderEpochResponse)
  case addPartitionsToTxn(AddPartitionsToTxnResponse)
  case addOffsetsToTxn(AddOffsetsToTxnResponse)
  case endTxn(EndTxnResponse)
  case txnOffsetCommit(TxnOffsetCommitResponse)
  case describeConfigs(DescribeConfigsResponse)
  case alterConfigs(AlterConfigsResponse)
  case createPartitions(CreatePartitionsResponse)
  case deleteGroups(DeleteGroupsResponse)
  case incrementalAlterConfigs(AlterConfigsResponse)
  case offsetDelete(OffsetDeleteResponse)

  static func decode(_ key: ApiKey, _ c: inout Codec) throws(WireError) -> Response {
    switch key {
    case .produce: .produce(try c.message())
    case .fetch: .fetch(try c.message())
    case .listOffsets: .listOffsets(try c.message())
    case .metadata: .metadata(try c.message())
    case .offsetCommit: .offsetCommit(try c.message())
    case .offsetFetch: .offsetFetch(try c.message())
    case .findCoordinator: .findCoordinator(try c.message())
    case .joinGroup: .joinGroup(try c.message())
    case .heartbeat: .heartbeat(try c.message())
    case .leaveGroup: .leaveGroup(try c.message())
    case .syncGroup: .syncGroup(try c.message())
    case .describeGroups: .describeGroups(try c.message())
    case .listGroups: .listGroups(try c.message())
    case .apiVersions: .apiVersions(try c.message())
    case .createTopics: .createTopics(try c.message())
    case .deleteTopics: .deleteTopics(try c.message())
    case .deleteRecords: .deleteRecords(try c.message())
    case .initProducerId: .initProducerId(try c.message())
    case .offsetForLeaderEpoch: .offsetForLeaderEpoch(try c.message())
    case .addPartitionsToTxn: .addPartitionsToTxn(try c.message())
    case .addOffsetsToTxn: .addOffsetsToTxn(try c.message())
    case .endTxn: .endTxn(try c.message())
    case .txnOffsetCommit: .txnOffsetCommit(try c.message())
    case .describeConfigs: .describeConfigs(try c.message())
    case .alterConfigs: .alterConfigs(try c.message())
    case .createPartitions: .createPartitions(try c.message())
    case .deleteGroups: .deleteGroups(try c.message())
    case .incrementalAlterConfigs: .incrementalAlterConfigs(try c.message())
    case .offsetDelete: .offsetDelete(try c.message())
    }
  }

  func encode(_ c: inout Codec) throws(WireError) {
    switch self {
    case .produce(let body): try c.write(body)
    case .fetch(let body): try c.write(body)
    case .listOffsets(let body): try c.write(body)
    case .metadata(let body): try c.write(body)
    case .offsetCommit(let body): try c.write(body)
    case .offsetFetch(let body): try c.write(body)
    case .findCoordinator(let body): try c.write(body)
    case .joinGroup(let body): try c.write(body)
    case .heartbeat(let body): try c.write(body)
    case .leaveGroup(let body): try c.write(body)
    case .syncGroup(let body): try c.write(body)
    case .describeGroups(let body): try c.write(body)
    case .listGroups(let body): try c.write(body)
    case .apiVersions(let body): try c.write(body)
    case .createTopics(let body): try c.write(body)
    case .deleteTopics(let body): try c.write(body)
    case .deleteRecords(let body): try c.write(body)
    case .initProducerId(let body): try c.write(body)
    case .offsetForLeaderEpoch(let body): try c.write(body)
    case .addPartitionsToTxn(let body): try c.write(body)
    case .addOffsetsToTxn(let body): try c.write(body)
    case .endTxn(let body): try c.write(body)
    case .txnOffsetCommit(let body): try c.write(body)
    case .describeConfigs(let body): try c.write(body)
    case .alterConfigs(let body): try c.write(body)
    case .createPartitions(let body): try c.write(body)
    case .deleteGroups(let body): try c.write(body)
    case .incrementalAlterConfigs(let body): try c.write(body)
    case .offsetDelete(let body): try c.write(body)
    }
  }
}

extension Codec {
  mutating func message<Message: WireStruct>() throws(WireError) -> Message {
    var message = Message()
    try message.code(&self)
    return message
  }

  mutating func write<Message: WireStruct>(_ message: Message) throws(WireError) {
    var message = message
    try message.code(&self)
  }
}
