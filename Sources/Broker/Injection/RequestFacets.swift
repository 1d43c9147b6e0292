/// What the conditions of a plan look at.
extension Request {
  var groupId: String? {
    switch self {
    case .offsetCommit(let r): r.groupId
    case .offsetFetch(let r): r.groupId
    case .joinGroup(let r): r.groupId
    case .heartbeat(let r): r.groupId
    case .leaveGroup(let r): r.groupId
    case .syncGroup(let r): r.groupId
    case .addOffsetsToTxn(let r): r.groupId
    case .txnOffsetCommit(let r): r.groupId
    case .findCoordinator(let r): r.keyType == 0 ? r.key : nil
    default: nil
    }
  }

  var memberId: String? {
    switch self {
    case .offsetCommit(let r): r.memberId
    case .joinGroup(let r): r.memberId
    case .heartbeat(let r): r.memberId
    case .syncGroup(let r): r.memberId
    case .txnOffsetCommit(let r): r.memberId
    default: nil
    }
  }

  var transactionalId: String? {
    switch self {
    case .produce(let r): r.transactionalId
    case .initProducerId(let r): r.transactionalId
    case .addPartitionsToTxn(let r): r.transactionalId
    case .addOffsetsToTxn(let r): r.transactionalId
    case .endTxn(let r): r.transactionalId
    case .txnOffsetCommit(let r): r.transactionalId
    case .findCoordinator(let r): r.keyType == 1 ? r.key : nil
    default: nil
    }
  }

  /// The partitions it names; a request that names topics only, as Metadata does, has index -1.
  var partitions: [TopicPartition] {
    func named<Topic, Item>(
      _ topics: [Topic], _ name: (Topic) -> String, _ items: (Topic) -> [Item],
      _ index: (Item) -> Int32
    ) -> [TopicPartition] {
      topics.flatMap { topic in items(topic).map { TopicPartition(name(topic), index($0)) } }
    }
    switch self {
    case .produce(let r): return named(r.topics, \.name, \.partitions, \.index)
    case .fetch(let r): return named(r.topics, \.name, \.partitions, \.index)
    case .listOffsets(let r): return named(r.topics, \.name, \.partitions, \.index)
    case .offsetCommit(let r): return named(r.topics, \.name, \.partitions, \.index)
    case .offsetFetch(let r): return named(r.topics ?? [], \.name, \.partitions, \.self)
    case .addPartitionsToTxn(let r): return named(r.topics, \.name, \.partitions, \.self)
    case .txnOffsetCommit(let r): return named(r.topics, \.name, \.partitions, \.index)
    case .offsetForLeaderEpoch(let r): return named(r.topics, \.name, \.partitions, \.index)
    case .deleteRecords(let r): return named(r.topics, \.name, \.partitions, \.index)
    case .metadata(let r): return (r.topics ?? []).map { TopicPartition($0.name, -1) }
    case .createTopics(let r): return r.topics.map { TopicPartition($0.name, -1) }
    case .deleteTopics(let r): return r.names.map { TopicPartition($0, -1) }
    case .createPartitions(let r): return r.topics.map { TopicPartition($0.name, -1) }
    default: return []
    }
  }
}
