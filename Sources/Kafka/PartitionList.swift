import CKafka

/// A partition of a topic, and where in it.
public struct PartitionPosition: Sendable, Equatable {
  public var partition: Int32
  /// The next offset to read.
  public var offset: Int64

  public init(partition: Int32, offset: Int64) {
    self.partition = partition
    self.offset = offset
  }
}

/// Positions in a topic.
public struct TopicPositions: Sendable, Equatable {
  public var topic: String
  public var positions: [PartitionPosition]

  public init(topic: String, positions: [PartitionPosition]) {
    self.topic = topic
    self.positions = positions
  }
}

/// librdkafka's list of partitions, of one topic mostly, freed at the end of its scope.
struct PartitionList: ~Copyable {
  let raw: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

  /// Takes a list librdkafka made.
  init(taking raw: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) { self.raw = raw }

  init(_ topics: [TopicPositions]) {
    raw = rd_kafka_topic_partition_list_new(Int32(topics.reduce(0) { $0 + $1.positions.count }))
    for topic in topics {
      for position in topic.positions {
        rd_kafka_topic_partition_list_add(raw, topic.topic, position.partition).pointee.offset =
          position.offset
      }
    }
  }

  init(topic: String, positions: [PartitionPosition]) {
    self.init([TopicPositions(topic: topic, positions: positions)])
  }

  init(topic: String, partitions: [Int32], offset: Int64 = Int64(RD_KAFKA_OFFSET_INVALID)) {
    self.init(
      topic: topic,
      positions: partitions.map { PartitionPosition(partition: $0, offset: offset) })
  }

  deinit { rd_kafka_topic_partition_list_destroy(raw) }

  var positions: [PartitionPosition] {
    (0..<Int(raw.pointee.cnt)).map {
      let element = raw.pointee.elems[$0]
      return PartitionPosition(partition: element.partition, offset: element.offset)
    }
  }

  /// The first partition's own error, if any has one: a call may succeed as a whole and fail for
  /// one partition.
  func checkEach(_ operation: String) throws(KafkaError) {
    for i in 0..<Int(raw.pointee.cnt) {
      let element = raw.pointee.elems[i]
      guard element.err != RD_KAFKA_RESP_ERR_NO_ERROR else { continue }
      throw KafkaError(
        operation: "\(operation), \(String(cString: element.topic)) partition \(element.partition)",
        origin: .request, code: element.err)
    }
  }
}
