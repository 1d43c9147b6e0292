import Kafka
import Pipeline

/// What a lane remembers, as the loop reads it back: its state topic, and the deferred topic where it
/// holds.
///
/// Two handles: librdkafka answers the question where a partition ends by the handle's own isolation
/// level, the last stable offset to one and the last of all to the other. Where they differ, a
/// transaction is open.
public final class StateTopic: StateSource {
  private let reader: PartitionReader
  /// Reads no record, ever: what it would read may be aborted yet.
  private let watcher: PartitionReader
  private let ahead: ReadAhead
  /// By stream; the reader's own first.
  private let topics: [(stream: StateStream, name: String)]
  private let requestTimeoutMs: Int32
  private let onProblem: (KafkaError) -> Void

  public var streams: [StateStream] { topics.map(\.stream) }

  /// - Parameters:
  ///   - deferredTopic: where the lane holds; it has the same partitions.
  ///   - onProblem: called on the lane's thread with what librdkafka reports and recovers from.
  public init(
    topic: String, deferredTopic: String?, properties: KafkaProperties,
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
      reader.close()
      throw error
    }
    ahead = ReadAhead(reader, keepingHeadersOf: deferredTopic, recordsMax: 8192)
    topics = [(.state, topic)] + (deferredTopic.map { [(.holds, $0)] } ?? [])
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
    // A lane decides nothing of a partition while this waits. The queue is empty but for a while.
    _ = LaneConsumerProperties.avoidFetchStall(&properties)
    properties.setDefaults([
      // The end is told by an answer without records; a broker keeps that back for so long.
      ("fetch.wait.max.ms", "10"),
      // librdkafka's consumer queue exists only where there is a group; this one is never joined.
      ("group.id", "sendgate.state"),
    ])
    return properties
  }

  public func settled(_ partitions: [Int32]) throws(Failure) -> [StatePosition] {
    try failing { () throws(KafkaError) in
      var settled = partitions
      var ends: [StatePosition] = []
      for (stream, topic) in topics where !settled.isEmpty {
        let found = try reader.settled(
          settled, of: topic, watcher: watcher, timeoutMs: requestTimeoutMs)
        settled = found.map(\.partition)
        ends += found.map {
          StatePosition(stream, partition: $0.partition, offset: $0.offset)
        }
      }
      return ends.filter { settled.contains($0.partition) }
    }
  }

  public func read(_ positions: [StatePosition]) throws(Failure) {
    ahead.discard()
    try failing { () throws(KafkaError) in
      try reader.assign(
        topics.map { stream, topic in
          let wanted = positions.filter { $0.stream == stream }
            .map { PartitionPosition(partition: $0.partition, offset: $0.offset) }
          return TopicPositions(topic: topic, positions: wanted)
        })
    }
  }

  public func poll(timeoutMs: Int32, _ body: (StateEvent) -> Void) throws(Failure) {
    let batch = ahead.poll(timeoutMs: timeoutMs)
    reader.serveEvents()
    watcher.serveEvents()
    defer { ahead.release() }
    for i in 0..<batch.records.count {
      let record = batch.records[i]
      guard let stream = topics.first(where: { record.isOf($0.name) })?.stream else {
        onProblem(record.error)
        continue
      }
      let position = StatePosition(stream, partition: record.partition, offset: record.offset)
      if record.isRecord {
        body(
          .record(
            position, key: record.key, value: record.value, headers: batch.headers(of: i)))
      } else if record.isEndOfPartition {
        body(.end(position))
      } else if record.isOutOfRange {
        body(.outOfRange(stream, partition: record.partition))
      } else {
        onProblem(record.error)
      }
    }
  }

  public func close() {
    ahead.close()
    reader.close()
    watcher.close()
  }
}
