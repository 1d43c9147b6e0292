import Gate
import Kafka
import Pipeline

/// The receipts topic, as the ordinary lane reads it: partitions by hand, offsets of the lane's group.
public final class ReceiptTopic: ReceiptSource {
  private let reader: PartitionReader
  private let batch: RecordBatch
  private let records: UnsafeMutableBufferPointer<InputRecord>
  private let requestTimeoutMs: Int32
  private let onProblem: (KafkaError) -> Void

  /// - Parameters:
  ///   - groupID: of the lane: its offsets are asked for, and it is never joined.
  ///   - onProblem: called on the lane's thread with what librdkafka reports and recovers from.
  public init(
    topic: String, groupID: String, properties: KafkaProperties, recordsMax: Int = 1024,
    requestTimeoutMs: Int32 = 1500, onEvent: @escaping KafkaEventHandler,
    onProblem: @escaping (KafkaError) -> Void
  ) throws(ConfigurationError) {
    reader = try PartitionReader(
      topic: topic, properties: try Self.properties(properties, groupID: groupID),
      onEvent: onEvent)
    batch = RecordBatch(recordsMax: recordsMax)
    records = .allocate(capacity: recordsMax)
    self.requestTimeoutMs = requestTimeoutMs
    self.onProblem = onProblem
  }

  deinit { records.deallocate() }

  /// What its reader is set to, over what the operator chose.
  public static func properties(
    _ properties: KafkaProperties, groupID: String
  ) throws(ConfigurationError) -> KafkaProperties {
    var properties = properties
    properties["group.id"] = groupID
    try properties.require(
      "isolation.level", "read_committed",
      because: "an aborted receipt must not refund, nor an unstable offset be started from")
    try properties.require(
      "enable.auto.commit", "false", because: "offsets are committed with what receipts changed")
    try properties.require(
      "auto.offset.reset", "error", because: "what was deleted is told, not skipped in silence")
    properties.setDefaults([("queued.max.messages.kbytes", "32768")])
    return properties
  }

  public func startOffsets(of partitions: [Int32]) throws(Failure) -> [PartitionOffset] {
    try failing { () throws(KafkaError) in
      var starts: [PartitionOffset] = []
      for (partition, offset) in try reader.committed(partitions, timeoutMs: requestTimeoutMs) {
        var start = offset ?? 0
        if offset == nil { start = try reader.logStart(partition, timeoutMs: requestTimeoutMs) }
        starts.append(PartitionOffset(partition: partition, offset: start))
      }
      return starts
    }
  }

  public func logStart(of partition: Int32) throws(Failure) -> Int64 {
    try failing { () throws(KafkaError) in
      try reader.logStart(partition, timeoutMs: requestTimeoutMs)
    }
  }

  public func read(_ positions: [PartitionOffset]) throws(Failure) {
    try failing { () throws(KafkaError) in try reader.assign(positions.map(\.position)) }
  }

  public func poll(
    _ onOutOfRange: (Int32) -> Void
  ) throws(Failure) -> UnsafeMutableBufferPointer<InputRecord> {
    reader.poll(batch, timeoutMs: 0)
    var count = 0
    for i in 0..<batch.count {
      let record = batch[i]
      if record.isRecord {
        (records.baseAddress! + count).initialize(
          to: InputRecord(
            partition: record.partition, offset: record.offset, timestampMs: record.timestampMs,
            key: record.key, value: record.value, handle: record.handle))
        count += 1
      } else if record.isOutOfRange {
        onOutOfRange(record.partition)
      } else if !record.isEndOfPartition {
        onProblem(record.error)
      }
    }
    return UnsafeMutableBufferPointer(rebasing: records[..<count])
  }

  public func release() { batch.release() }

  public func close() {
    batch.close()
    reader.close()
  }
}
