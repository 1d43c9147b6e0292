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

  /// How many partitions the topic has; nil where there is none of that name.
  public func partitionCount(timeoutMs: Int32) throws(KafkaError) -> Int32? {
    defer { handle.serveEvents() }
    return try handle.partitionCount(of: topic, timeoutMs: timeoutMs)
  }

  /// Reads each partition from its first offset, replacing what was assigned before.
  public func assignFromStart(_ partitions: [Int32]) throws(KafkaError) {
    let list = PartitionList(
      topic: topic, partitions: partitions, offset: Int64(RD_KAFKA_OFFSET_BEGINNING))
    try KafkaError.check(
      rd_kafka_assign(client, list.raw), "assign all partitions of \(topic)", .request)
  }

  public func poll(_ batch: RecordBatch, timeoutMs: Int32) {
    batch.poll(queue, timeoutMs: timeoutMs)
    handle.serveEvents()
  }

  /// Where each partition ends now, as a reader of committed records sees it: before the first
  /// record of an open transaction. Asks the leaders, one request each.
  public func ends(
    _ partitions: [Int32], timeoutMs: Int32
  ) throws(KafkaError) -> [PartitionPosition] {
    let list = PartitionList(
      topic: topic, partitions: partitions, offset: Int64(RD_KAFKA_OFFSET_END))
    let operation = "query the ends of \(topic)"
    try KafkaError.check(
      rd_kafka_offsets_for_times(client, list.raw, timeoutMs), operation, .request)
    try list.checkEach(operation)
    return list.positions
  }

  /// Batches must be released.
  public func close() {
    // A reader without a group has nothing to leave; close stops its fetchers.
    _ = ck_consumer_leave(handle.raw)
    handle.close()
  }
}
