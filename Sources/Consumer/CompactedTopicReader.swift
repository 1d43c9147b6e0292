import Kafka
import Pipeline

/// Why reading waits; it is tried again.
enum ReadingProblem {
  case noTopic(String)
  case kafka(KafkaError)
}

/// Reads a whole compacted topic: from the beginning to the end, and then what comes. One thread
/// makes every call.
final class CompactedTopicReader {
  private let reader: PartitionReader
  private let batch: RecordBatch
  private let requestTimeoutMs: Int32
  private let onProblem: (ReadingProblem) -> Void
  private var ends: FollowedEnds?
  private var partitions: [Int32] = []
  private var askAtMs: Int64 = 0

  /// Staleness is known to this; well below any limit worth setting, and one small request.
  private static let askIntervalMs: Int64 = 2000

  init(
    topic: String, properties: KafkaProperties, requestTimeoutMs: Int32,
    onEvent: @escaping KafkaEventHandler, onProblem: @escaping (ReadingProblem) -> Void
  ) throws(ConfigurationError) {
    reader = try PartitionReader(
      topic: topic, properties: try Self.properties(properties), onEvent: onEvent)
    batch = RecordBatch(recordsMax: 4096)
    self.requestTimeoutMs = requestTimeoutMs
    self.onProblem = onProblem
  }

  static func properties(
    _ properties: KafkaProperties
  ) throws(ConfigurationError) -> KafkaProperties {
    var properties = properties
    try properties.require(
      "isolation.level", "read_committed", because: "an aborted preference must never count")
    try properties.require("enable.auto.commit", "false", because: "the topic is read whole")
    try properties.require(
      "enable.partition.eof", "true", because: "it is how the reader knows that it has everything")
    try properties.require(
      "auto.offset.reset", "error",
      because: "what was deleted unread may have been an erasure")
    properties.setDefaults([
      ("queued.max.messages.kbytes", "262144"),
      // librdkafka's consumer queue exists only where there is a group; this one is never joined and
      // nothing is committed to it.
      ("group.id", "sendgate.preferences"),
    ])
    return properties
  }

  /// Finds the partitions and starts reading; false where the broker does not answer yet.
  func start(nowMs: Int64) -> Bool {
    do throws(KafkaError) {
      guard let count = try reader.partitionCount(timeoutMs: requestTimeoutMs) else {
        onProblem(.noTopic(reader.topic))
        return false
      }
      partitions = Array(0..<count)
      ends = FollowedEnds(partitionCount: Int(count))
      // Before the first fetch: a leader with nothing to give answers that one after half a second,
      // and what is asked behind it on the same connection after that.
      askAtMs = 0
      askForEnds(nowMs: nowMs)
      try reader.assignFromStart(partitions)
      return true
    } catch {
      onProblem(.kafka(error))
      return false
    }
  }

  /// Reads what is there, waiting up to `timeoutMs` for it. Nil: go on; else why reading cannot go
  /// on.
  func read(timeoutMs: Int32, _ body: (RecordView) -> Void) -> String? {
    reader.poll(batch, timeoutMs: timeoutMs)
    defer { batch.release() }
    for i in 0..<batch.count {
      let record = batch[i]
      if record.isRecord {
        body(record)
        ends?.reached(partition: record.partition, offset: record.offset + 1)
      } else if record.isEndOfPartition {
        ends?.reached(partition: record.partition, offset: record.offset)
      } else if record.isOutOfRange {
        return "\(reader.topic) partition \(record.partition): records were deleted before they "
          + "were read, erasures among them, perhaps; only reading it anew is safe"
      } else {
        onProblem(.kafka(record.error))
      }
    }
    return nil
  }

  /// Asks where the partitions end, when it is time to.
  func askForEnds(nowMs: Int64) {
    guard ends != nil && nowMs >= askAtMs else { return }
    askAtMs = nowMs + Self.askIntervalMs
    do throws(KafkaError) {
      for end in try reader.ends(partitions, timeoutMs: requestTimeoutMs) {
        ends?.asked(atMs: nowMs, partition: end.partition, end: end.offset)
      }
    } catch {
      onProblem(.kafka(error))
    }
  }

  /// The instant up to which everything is read; nil before it has been read once.
  var freshAtMs: Int64? { ends?.freshAtMs }

  func close() {
    batch.close()
    reader.close()
  }
}
