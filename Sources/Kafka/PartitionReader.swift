import CKafka

/// Reads partitions of one topic that were chosen by hand, outside any group.
public final class PartitionReader {
  public let topic: String
  let handle: KafkaHandle
  private let queue: OpaquePointer
  private var client: OpaquePointer { handle.client }

  public init(
    topic: String, properties: KafkaProperties, onEvent: @escaping KafkaEventHandler
  ) throws(ConfigurationError) {
    self.topic = topic
    handle = try KafkaHandle(RD_KAFKA_CONSUMER, properties, onEvent: onEvent)
    queue = ck_consumer_queue(handle.raw)
  }

  /// How many partitions the topic has; nil where there is none of that name. `other`: of another
  /// topic than the reader's own.
  public func partitionCount(
    of other: String? = nil, timeoutMs: Int32
  ) throws(KafkaError) -> Int32? {
    defer { handle.serveEvents() }
    return try handle.partitionCount(of: other ?? topic, timeoutMs: timeoutMs)
  }

  /// Reads each partition from its first offset, replacing what was assigned before.
  public func assignFromStart(_ partitions: [Int32]) throws(KafkaError) {
    let list = PartitionList(
      topic: topic, partitions: partitions, offset: Int64(RD_KAFKA_OFFSET_BEGINNING))
    try KafkaError.check(
      rd_kafka_assign(client, list.raw), "assign all partitions of \(topic)", .request)
  }

  /// Reads each partition from its position, and nothing else; an offset below 0 is the first. None:
  /// reads nothing any more.
  public func assign(_ positions: [PartitionPosition]) throws(KafkaError) {
    try assign([TopicPositions(topic: topic, positions: positions)])
  }

  /// The same of several topics.
  public func assign(_ topics: [TopicPositions]) throws(KafkaError) {
    let list = PartitionList(
      topics.map { one in
        let concrete = one.positions.map {
          PartitionPosition(
            partition: $0.partition,
            offset: $0.offset < 0 ? Int64(RD_KAFKA_OFFSET_BEGINNING) : $0.offset)
        }
        return TopicPositions(topic: one.topic, positions: concrete)
      })
    let names = topics.map(\.topic).joined(separator: ", ")
    try KafkaError.check(
      rd_kafka_assign(client, list.raw), "assign partitions of \(names)", .request)
  }

  public func poll(_ batch: RecordBatch, timeoutMs: Int32) {
    take(batch, timeoutMs: timeoutMs)
    handle.serveEvents()
  }

  /// The same without the handle's events, whose handler is its owner's alone: on any thread, one at a
  /// time for each batch.
  public func take(_ batch: RecordBatch, timeoutMs: Int32) {
    batch.poll(queue, timeoutMs: timeoutMs)
  }

  public func serveEvents() { handle.serveEvents() }

  /// Where each partition ends now: to a reader of committed records before the first record of an
  /// open transaction, to one of uncommitted ones behind the last of all. Asks the leaders, one
  /// request each. `other`: of another topic than the reader's own.
  public func ends(
    _ partitions: [Int32], of other: String? = nil, timeoutMs: Int32
  ) throws(KafkaError) -> [PartitionPosition] {
    let topic = other ?? topic
    let list = PartitionList(
      topic: topic, partitions: partitions, offset: Int64(RD_KAFKA_OFFSET_END))
    try askForEnds(list, of: topic, timeoutMs: timeoutMs)
    return list.positions
  }

  /// The same of several topics in one go, one request to each leader: in the order of `topics`, and
  /// in each of its partitions.
  public func ends(
    of topics: [(topic: String, partitions: [Int32])], timeoutMs: Int32
  ) throws(KafkaError) -> [Int64] {
    let list = PartitionList(
      topics.map { one in
        TopicPositions(
          topic: one.topic,
          positions: one.partitions.map {
            PartitionPosition(partition: $0, offset: Int64(RD_KAFKA_OFFSET_END))
          })
      })
    try askForEnds(
      list, of: topics.map(\.topic).joined(separator: ", "), timeoutMs: timeoutMs)
    return list.positions.map(\.offset)
  }

  private func askForEnds(
    _ list: borrowing PartitionList, of names: String, timeoutMs: Int32
  ) throws(KafkaError) {
    let operation = "query the ends of \(names)"
    try KafkaError.check(
      rd_kafka_offsets_for_times(client, list.raw, timeoutMs), operation, .request)
    try list.checkEach(operation)
  }

  /// Of these partitions, those in which nobody's transaction is open, each with where it ends now.
  /// Asked of a reader of committed records; `watcher` is one of uncommitted ones.
  public func settled(
    _ partitions: [Int32], of other: String? = nil, watcher: PartitionReader, timeoutMs: Int32
  ) throws(KafkaError) -> [PartitionPosition] {
    // The end of all first: what is committed between the two answers moves the second alone.
    let ends = try watcher.ends(partitions, of: other, timeoutMs: timeoutMs)
    let stable = try self.ends(partitions, of: other, timeoutMs: timeoutMs)
    return ends.filter { end in
      stable.contains { $0.partition == end.partition && $0.offset >= end.offset }
    }
  }

  /// The committed offsets of the reader's `group.id`, which it never joins; nil where nothing was ever
  /// committed. Stable where it reads committed records only.
  public func committed(
    _ partitions: [Int32], timeoutMs: Int32
  ) throws(KafkaError) -> [(partition: Int32, offset: Int64?)] {
    try handle.committed(partitions, of: topic, timeoutMs: timeoutMs)
  }

  /// The first offset there is. `other`: of another topic than the reader's own.
  public func logStart(
    _ partition: Int32, of other: String? = nil, timeoutMs: Int32
  ) throws(KafkaError) -> Int64 {
    try handle.logStart(partition, of: other ?? topic, timeoutMs: timeoutMs)
  }

  /// Batches must be released.
  public func close() {
    // A reader without a group has nothing to leave; close stops its fetchers.
    _ = ck_consumer_leave(handle.raw)
    handle.close()
  }
}
