import Kafka
import Pipeline

/// Reads records of the deferred topic again whose payloads memory had no room for. Opened when it is
/// first needed: most gates have the room.
public final class DeferredTopic: HoldPayloadSource {
  /// Offsets that are closer than this are read in one go; for others the broker is asked anew.
  private static let gapMax: Int64 = 2_000
  private static let pollMs: Int32 = 20
  /// What `readKeys` takes at once.
  private static let keysMax = 10_000
  private static let keysMs: Int64 = 200

  private let topic: String
  private let properties: KafkaProperties
  private let timeoutMs: Int64
  private let onEvent: KafkaEventHandler
  private let clock = SystemClock()
  private let headers = HeaderKeeper()
  private var opened: (reader: PartitionReader, batch: RecordBatch)?

  /// - Parameter timeoutMs: how long one call may take before the loop hears `retriable`.
  public init(
    topic: String, properties: KafkaProperties, timeoutMs: Int64 = 5000,
    onEvent: @escaping KafkaEventHandler
  ) {
    self.topic = topic
    self.properties = properties
    self.timeoutMs = timeoutMs
    self.onEvent = onEvent
  }

  /// What the reader is set to. Throws where `properties` contradict what it rests on.
  public static func properties(
    _ properties: KafkaProperties
  ) throws(ConfigurationError) -> KafkaProperties {
    var properties = properties
    try properties.require(
      "isolation.level", "read_committed", because: "an aborted hold was never made")
    try properties.require("enable.auto.commit", "false", because: "nothing is committed of it")
    try properties.require(
      "auto.offset.reset", "error", because: "another record must not be taken for the hold")
    try properties.require(
      "enable.partition.eof", "true", because: "it ends a look at what is new")
    properties.setDefaults([
      // A few records are wanted of what a fetch brings.
      ("queued.min.messages", "1000"), ("queued.max.messages.kbytes", "8192"),
      ("group.id", "sendgate.deferred"),
    ])
    return properties
  }

  private func open() throws(Failure) -> (reader: PartitionReader, batch: RecordBatch) {
    if let opened { return opened }
    do throws(ConfigurationError) {
      let reader = try PartitionReader(
        topic: topic, properties: try Self.properties(properties), onEvent: onEvent)
      opened = (reader, RecordBatch(recordsMax: 1024))
      return opened!
    } catch {
      throw Failure(.fatal, "\(error)")
    }
  }

  public func read(
    _ offsets: [Int64], partition: Int32, _ body: (Int, HoldPayload) -> Void
  ) throws(Failure) {
    let (reader, batch) = try open()
    let untilMs = clock.monotonicMs() + timeoutMs
    var next = 0
    while next < offsets.count {
      var last = next
      while last + 1 < offsets.count, offsets[last + 1] - offsets[last] < Self.gapMax { last += 1 }
      let start = PartitionPosition(partition: partition, offset: offsets[next])
      try failing { () throws(KafkaError) in try reader.assign([start]) }
      while next <= last {
        guard clock.monotonicMs() < untilMs else {
          try failing { () throws(KafkaError) in try reader.assign([PartitionPosition]()) }
          throw Failure(.retriable, "holds of \(topic) partition \(partition) are not read yet")
        }
        reader.poll(batch, timeoutMs: Self.pollMs)
        defer { batch.release() }
        for i in 0..<batch.count {
          let record = batch[i]
          // Nothing is there any more.
          if record.isOutOfRange { next = last + 1 }
          guard record.isRecord else { continue }
          // One that is not there is the caller's to miss.
          while next <= last, offsets[next] < record.offset { next += 1 }
          guard next <= last else { break }
          guard record.offset == offsets[next], let value = record.value else { continue }
          body(next, HoldPayload(value: value, headers: headers.keep(of: record.handle)))
          next += 1
        }
      }
    }
    try failing { () throws(KafkaError) in try reader.assign([PartitionPosition]()) }
  }

  public func readKeys(
    from offset: Int64, partition: Int32, _ body: (Int64, UnsafeRawBufferPointer) -> Void
  ) throws(Failure) -> Int64 {
    let (reader, batch) = try open()
    let untilMs = clock.monotonicMs() + Self.keysMs
    let start = PartitionPosition(partition: partition, offset: offset)
    try failing { () throws(KafkaError) in try reader.assign([start]) }
    var next = offset
    var keys = 0
    var isAtEnd = false
    while !isAtEnd, keys < Self.keysMax, clock.monotonicMs() < untilMs {
      reader.poll(batch, timeoutMs: Self.pollMs)
      defer { batch.release() }
      for i in 0..<batch.count {
        let record = batch[i]
        if record.isEndOfPartition || record.isOutOfRange { isAtEnd = true }
        guard record.isRecord, record.offset >= next else { continue }
        next = record.offset + 1
        keys += 1
        if record.value != nil, let key = record.key { body(record.offset, key) }
      }
    }
    try failing { () throws(KafkaError) in try reader.assign([PartitionPosition]()) }
    return next
  }

  public func close() {
    opened?.batch.close()
    opened?.reader.close()
    opened = nil
  }
}
