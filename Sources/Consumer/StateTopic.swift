import Kafka
import Pipeline

/// One lane's state topic, as the loop reads it back.
///
/// Two handles: librdkafka answers the question where a partition ends by the handle's own isolation
/// level, the last stable offset to one and the last of all to the other. Where they differ, a
/// transaction is open.
public final class StateTopic: StateSource {
  private let reader: PartitionReader
  /// Reads no record, ever: what it would read may be aborted yet.
  private let watcher: PartitionReader
  private let batch = RecordBatch(recordsMax: 8192)
  /// Besides the state topic: what else the last owner may have left open.
  private let otherTopics: [String]
  private let requestTimeoutMs: Int32
  private let onProblem: (KafkaError) -> Void

  /// - Parameters:
  ///   - otherTopics: topics with the same partitions that are to be settled too.
  ///   - onProblem: called on the lane's thread with what librdkafka reports and recovers from.
  public init(
    topic: String, otherTopics: [String], properties: KafkaProperties,
    requestTimeoutMs: Int32 = 1500, onEvent: @escaping KafkaEventHandler,
    onProblem: @escaping (KafkaError) -> Void
  ) throws(ConfigurationError) {
    reader = try PartitionReader(
      topic: topic, properties: try Self.properties(properties),
      onEvent: onEvent)
    do throws(ConfigurationError) {
      watcher = try PartitionReader(
        topic: topic, properties: try Self.properties(properties, isolation: "read_uncommitted"),
        onEvent: onEvent)
    } catch {
      batch.close()
      reader.close()
      throw error
    }
    self.otherTopics = otherTopics
    self.requestTimeoutMs = requestTimeoutMs
    self.onProblem = onProblem
  }

  /// What its readers are set to, over what the operator chose.
  public static func properties(
    _ properties: KafkaProperties, isolation: String = "read_committed"
  ) throws(ConfigurationError) -> KafkaProperties {
    var properties = properties
    try properties.require(
      "isolation.level", isolation, because: "both what is committed and what is not yet must show")
    try properties.require("enable.auto.commit", "false", because: "the topic is read whole")
    try properties.require(
      "enable.partition.eof", "true", because: "it is how the reader knows that it has everything")
    try properties.require(
      "auto.offset.reset", "error", because: "what is skipped would be let through twice")
    properties.setDefaults([
      // Beside the preferences' and the candidates' queues this one is empty but for a while.
      ("queued.max.messages.kbytes", "32768"),
      // The end is told by an answer without records; a broker keeps that back for so long.
      ("fetch.wait.max.ms", "10"),
      // librdkafka's consumer queue exists only where there is a group; this one is never joined.
      ("group.id", "sendgate.state"),
    ])
    return properties
  }

  public func settled(_ partitions: [Int32]) throws(Failure) -> [PartitionOffset] {
    try failing { () throws(KafkaError) in
      var settled = try self.settled(partitions, of: reader.topic)
      for topic in otherTopics where !settled.isEmpty {
        let alsoSettled = try self.settled(settled.map(\.partition), of: topic)
        settled.removeAll { one in !alsoSettled.contains { $0.partition == one.partition } }
      }
      return settled
    }
  }

  private func settled(
    _ partitions: [Int32], of topic: String
  ) throws(KafkaError) -> [PartitionOffset] {
    // The end of all first: what is committed between the two answers moves the second alone.
    let ends = try watcher.ends(partitions, of: topic, timeoutMs: requestTimeoutMs)
    let stable = try reader.ends(partitions, of: topic, timeoutMs: requestTimeoutMs)
    return ends.compactMap { end in
      let isStable = stable.contains { $0.partition == end.partition && $0.offset >= end.offset }
      return isStable ? PartitionOffset(partition: end.partition, offset: end.offset) : nil
    }
  }

  public func read(_ positions: [PartitionOffset]) throws(Failure) {
    try failing { () throws(KafkaError) in try reader.assign(positions.map(\.position)) }
  }

  public func poll(timeoutMs: Int32, _ body: (StateEvent) -> Void) throws(Failure) {
    reader.poll(batch, timeoutMs: timeoutMs)
    watcher.serveEvents()
    defer { batch.release() }
    for i in 0..<batch.count {
      let record = batch[i]
      if record.isRecord {
        body(
          .record(
            partition: record.partition, offset: record.offset, key: record.key,
            value: record.value))
      } else if record.isEndOfPartition {
        body(.end(partition: record.partition, offset: record.offset))
      } else if record.isOutOfRange {
        body(.outOfRange(partition: record.partition))
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
