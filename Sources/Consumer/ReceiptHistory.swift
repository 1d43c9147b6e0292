import Kafka
import Pipeline

/// The receipts of some partitions, read back whole: what a dispatcher remembers by.
public final class ReceiptHistory {
  public enum Event {
    /// `value` lives until the caller returns.
    case receipt(partition: Int32, value: UnsafeRawBufferPointer?)
    /// Everything that is committed was read.
    case end(partition: Int32)
    /// Retention took what was about to be read.
    case cut(partition: Int32)
  }

  private let reader: PartitionReader
  /// Reads nothing. librdkafka answers where a partition ends by the handle's isolation level: the last
  /// stable offset to the reader, the end of all to this one.
  private let watcher: PartitionReader
  private let batch = RecordBatch(recordsMax: 8192)
  private let requestTimeoutMs: Int32
  private let onProblem: (KafkaError) -> Void

  /// - Parameter onProblem: called with what librdkafka reports and recovers from by itself.
  public init(
    topic: String, properties: KafkaProperties, requestTimeoutMs: Int32 = 1500,
    onEvent: @escaping KafkaEventHandler, onProblem: @escaping (KafkaError) -> Void
  ) throws(ConfigurationError) {
    self.requestTimeoutMs = requestTimeoutMs
    self.onProblem = onProblem
    var properties = properties
    try properties.require(
      "enable.partition.eof", "true", because: "it is how the reader knows that it has everything")
    properties.setDefaults([
      ("auto.offset.reset", "error"), ("enable.auto.commit", "false"),
      // librdkafka's consumer queue exists only where there is a group; this one is never joined.
      ("group.id", "sendgate.receipts"),
    ])
    func open(_ isolation: String) throws(ConfigurationError) -> PartitionReader {
      var own = properties
      try own.require(
        "isolation.level", isolation, because: "what is committed and what is open must differ")
      return try PartitionReader(topic: topic, properties: own, onEvent: onEvent)
    }
    reader = try open("read_committed")
    do throws(ConfigurationError) {
      watcher = try open("read_uncommitted")
    } catch {
      batch.close()
      reader.close()
      throw error
    }
  }

  /// Whether nobody's transaction is open in any of these partitions.
  public func isSettled(_ partitions: [Int32]) throws(Failure) -> Bool {
    try failing { () throws(KafkaError) in
      let settled = try reader.settled(partitions, watcher: watcher, timeoutMs: requestTimeoutMs)
      return settled.count == partitions.count
    }
  }

  /// Reads these from their beginning, and nothing else; none: nothing any more.
  public func read(_ partitions: [Int32]) throws(Failure) {
    try failing { () throws(KafkaError) in try reader.assignFromStart(partitions) }
  }

  /// Waits up to `timeoutMs` for what comes, in order of each partition.
  public func poll(timeoutMs: Int32, _ body: (Event) -> Void) {
    reader.poll(batch, timeoutMs: timeoutMs)
    watcher.serveEvents()
    defer { batch.release() }
    for i in 0..<batch.count {
      let record = batch[i]
      if record.isRecord {
        body(.receipt(partition: record.partition, value: record.value))
      } else if record.isEndOfPartition {
        body(.end(partition: record.partition))
      } else if record.isOutOfRange {
        body(.cut(partition: record.partition))
      } else {
        onProblem(record.error)
      }
    }
  }

  public func close() {
    batch.close()
    reader.close()
    watcher.close()
  }
}
