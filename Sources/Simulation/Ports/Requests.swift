import Broker

/// Requests of the broker, by what they ask for.
enum Requests {
  /// - Parameter isolation: 1: committed records only.
  static func fetch(
    _ positions: [(topic: String, partition: Int32, offset: Int64)], isolation: Int8,
    maxWaitMs: Int32, partitionBytes: Int32 = .max
  ) -> Request {
    var request = FetchRequest()
    request.maxWaitMs = maxWaitMs
    request.minBytes = 1
    request.isolationLevel = isolation
    request.topics = positions.map { position in
      var wanted = FetchPartition()
      (wanted.index, wanted.fetchOffset) = (position.partition, position.offset)
      wanted.maxBytes = partitionBytes
      var topic = FetchTopic()
      (topic.name, topic.partitions) = (position.topic, [wanted])
      return topic
    }
    return .fetch(request)
  }

  /// - Parameter timestamp: -1: the end; -2: the start.
  static func offsets(
    _ topic: String, _ partitions: [Int32], timestamp: Int64, isolation: Int8
  ) -> Request {
    var request = ListOffsetsRequest()
    request.isolationLevel = isolation
    var listed = ListOffsetsTopic()
    listed.name = topic
    listed.partitions = partitions.map {
      var wanted = ListOffsetsPartition()
      (wanted.index, wanted.timestamp) = ($0, timestamp)
      return wanted
    }
    request.topics = [listed]
    return .listOffsets(request)
  }

  static func committed(
    _ topics: [(topic: String, partitions: [Int32])], group: String, isStable: Bool
  ) -> Request {
    var request = OffsetFetchRequest()
    request.groupId = group
    request.requireStable = isStable
    request.topics = topics.map {
      var topic = OffsetFetchTopic()
      (topic.name, topic.partitions) = $0
      return topic
    }
    return .offsetFetch(request)
  }

  static func produce(
    _ records: [Record], to topic: String, _ partition: Int32,
    builder: BatchBuilder = BatchBuilder(),
    transactionalID: String? = nil
  ) -> Request {
    var data = ProducePartition()
    (data.index, data.records) = (partition, [ByteSlice(builder.build(records))])
    var produced = ProduceTopic()
    (produced.name, produced.partitions) = (topic, [data])
    var request = ProduceRequest()
    request.acks = -1
    request.transactionalId = transactionalID
    request.topics = [produced]
    return .produce(request)
  }

  static func createTopic(
    _ name: String, partitions: Int32, _ settings: [(String, String)]
  ) -> Request {
    var topic = CreatableTopic()
    (topic.name, topic.partitionCount, topic.replicationFactor) = (name, partitions, 1)
    topic.configs = settings.map {
      var item = CreatableConfig()
      (item.name, item.value) = $0
      return item
    }
    var request = CreateTopicsRequest()
    request.topics = [topic]
    return .createTopics(request)
  }
}

/// Answers, by what was asked for.
extension Response {
  var fetched: [(topic: String, partition: FetchedPartition)] {
    guard case .fetch(let response) = self else { return [] }
    return response.topics.flatMap { topic in topic.partitions.map { (topic.name, $0) } }
  }

  var listed: [ListedPartition] {
    guard case .listOffsets(let response) = self else { return [] }
    return response.topics.flatMap(\.partitions)
  }

  var offsets: [FetchedOffset] {
    guard case .offsetFetch(let response) = self else { return [] }
    return response.topics.flatMap(\.partitions)
  }
}

extension ErrorCode {
  /// What passes by itself, at the same or another broker.
  var isTemporary: Bool {
    switch self {
    case .coordinatorLoadInProgress, .coordinatorNotAvailable, .notCoordinator,
      .notLeaderOrFollower, .leaderNotAvailable, .requestTimedOut, .networkException,
      .notEnoughReplicas, .kafkaStorageError, .concurrentTransactions, .unstableOffsetCommit:
      true
    default: false
    }
  }
}
