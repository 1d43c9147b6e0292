import Gate
import Kafka
import Pipeline

/// What a lane reads, as librdkafka properties.
public enum LaneConsumerProperties {
  /// The operator's properties under what the guarantees need. Throws where they contradict.
  ///
  /// - Parameters:
  ///   - groupID: of this lane; each lane has its own.
  ///   - sessionTimeoutMs: how long the group waits for a silent member before its partitions go to
  ///     another, unless the operator says otherwise; nil: librdkafka's own, 45 s.
  ///   - chosen: called once with how the fetch stall was avoided, for the log.
  public static func make(
    _ properties: KafkaProperties, groupID: String, sessionTimeoutMs: Int? = nil,
    chosen: (String) -> Void
  ) throws(ConfigurationError) -> KafkaProperties {
    var properties = properties
    properties["group.id"] = groupID
    if let sessionTimeoutMs {
      properties.setDefaults([("session.timeout.ms", "\(sessionTimeoutMs)")])
    }
    try properties.require(
      "enable.auto.commit", "false",
      because: "offsets are committed with the decisions made from them")
    try properties.require(
      "enable.auto.offset.store", "false",
      because: "offsets are counted from the records decided")
    try properties.require(
      "isolation.level", "read_committed",
      because: "an aborted candidate must not be decided, nor an unstable offset started from")
    try properties.require(
      "auto.offset.reset", "error", because: "an offset out of range must stop the lane, not skip")
    try properties.require(
      "enable.partition.eof", "true",
      because: "of a partition without records it is the one sign that it can be read")
    properties.setDefaults([("partition.assignment.strategy", "cooperative-sticky")])
    chosen(avoidFetchStall(&properties))
    return properties
  }

  /// By default a full local queue delays the next fetch by a second, with the CPU idle. Newer
  /// versions of librdkafka have a property for it; for older ones the queue is made so large that
  /// it does not fill.
  static func avoidFetchStall(_ properties: inout KafkaProperties) -> String {
    if KafkaProperties.isKnown("fetch.queue.backoff.ms", value: "5") {
      properties.setDefaults([("fetch.queue.backoff.ms", "5")])
      return "fetch.queue.backoff.ms=\(properties["fetch.queue.backoff.ms"]!)"
    }
    properties.setDefaults([
      ("queued.max.messages.kbytes", "262144"), ("queued.min.messages", "1000000"),
    ])
    return "queued.max.messages.kbytes=\(properties["queued.max.messages.kbytes"]!), "
      + "queued.min.messages=\(properties["queued.min.messages"]!)"
  }
}

/// One candidate topic, as the loop reads it.
public final class CandidateTopic: CandidateSource {
  /// For the at-least-once sink, which commits through it.
  public let consumer: GroupConsumer
  private let batch: RecordBatch
  private let headers = HeaderKeeper()
  private let records: UnsafeMutableBufferPointer<InputRecord>
  /// How long a request to the broker may take before the loop gets to do something else.
  private let requestTimeoutMs: Int32
  private let onProblem: (KafkaError) -> Void
  private var reading = ReadingHealth()
  private let health: LaneHealth
  private let clock = SystemClock()

  /// - Parameters:
  ///   - health: told how reading goes.
  ///   - onProblem: called on the lane's thread with what librdkafka reports and recovers from by
  ///     itself.
  public init(
    topic: String, properties: KafkaProperties, recordsMax: Int = 1024,
    requestTimeoutMs: Int32 = 5000, health: LaneHealth = LaneHealth(),
    onEvent: @escaping KafkaEventHandler, onProblem: @escaping (KafkaError) -> Void
  ) throws(ConfigurationError) {
    consumer = try GroupConsumer(topic: topic, properties: properties, onEvent: onEvent)
    batch = RecordBatch(recordsMax: recordsMax)
    records = .allocate(capacity: recordsMax)
    self.requestTimeoutMs = requestTimeoutMs
    self.onProblem = onProblem
    self.health = health
  }

  deinit { records.deallocate() }

  public func poll(
    timeoutMs: Int32
  ) throws(Failure) -> UnsafeMutableBufferPointer<InputRecord> {
    consumer.poll(batch, timeoutMs: timeoutMs)
    var count = 0
    // The newest record of a run of one partition's: what comes of a partition comes together.
    var run: (partition: Int32, offset: Int64)?
    for i in 0..<batch.count {
      let record = batch[i]
      guard record.isRecord else {
        try report(record)
        continue
      }
      if let run, run.partition != record.partition {
        reading.read(run.partition, upTo: run.offset)
      }
      run = (record.partition, record.offset)
      (records.baseAddress! + count).initialize(
        to: InputRecord(
          partition: record.partition, offset: record.offset, timestampMs: record.timestampMs,
          key: record.key, value: record.value, handle: record.handle))
      count += 1
    }
    if let run { reading.read(run.partition, upTo: run.offset) }
    if reading.isChanged { publish() }
    return UnsafeMutableBufferPointer(rebasing: records[..<count])
  }

  private func report(_ event: RecordView) throws(Failure) {
    if event.isEndOfPartition {
      reading.ended(event.partition, at: event.offset)
      return
    }
    if event.isOutOfRange {
      throw Failure(
        .offsetOutOfRange,
        "\(consumer.topic) partition \(event.partition) has no offset to go on from: "
          + "\(event.error.reason). Records were deleted before they were decided. Set the offset "
          + "of group \(consumer.groupID) by hand to accept the loss.")
    }
    let error = event.error
    // What the broker refuses for good (rights, for one) is not mended by asking again, but it is
    // mended by an operator, and the consumer then goes on by itself.
    if error.errorClass == .fenced { throw Failure(.fenced, "\(error)") }
    if event.partition >= 0 {
      reading.failed(event.partition, "\(error)", nowMs: clock.monotonicMs())
    } else {
      health.groupRefuses(
        "group \(consumer.groupID), topic \(consumer.topic): \(error)", atMs: clock.monotonicMs())
    }
    onProblem(error)
  }

  public func release() { batch.release() }

  public func headers(of record: InputRecord) -> UnsafeRawBufferPointer {
    headers.keep(of: record.handle!)
  }

  public func nextRebalance() -> Rebalance? {
    guard let rebalance = consumer.nextRebalance() else { return nil }
    switch rebalance.kind {
    case .assigned:
      health.groupLetsIn()
      return .assigned(rebalance.partitions)
    case .revoked: return .revoked(rebalance.partitions)
    case .lost: return .lost(rebalance.partitions)
    }
  }

  public func startOffsets(of partitions: [Int32]) throws(Failure) -> [PartitionOffset] {
    guard !partitions.isEmpty else { return [] }
    return try failing { () throws(KafkaError) in
      var starts: [PartitionOffset] = []
      for (partition, offset) in try consumer.committed(partitions, timeoutMs: requestTimeoutMs) {
        var start = offset ?? 0
        if offset == nil { start = try consumer.logStart(partition, timeoutMs: requestTimeoutMs) }
        starts.append(PartitionOffset(partition: partition, offset: start))
      }
      return starts
    }
  }

  public func assign(_ partitions: [PartitionOffset]) throws(Failure) {
    try failing { () throws(KafkaError) in try consumer.assign(partitions.map(\.position)) }
    reading.assigned(partitions)
    publish()
  }

  public func unassign(_ partitions: [Int32]) throws(Failure) {
    try failing { () throws(KafkaError) in try consumer.unassign(partitions) }
    reading.unassigned(partitions)
  }

  public func seek(_ partitions: [PartitionOffset]) throws(Failure) {
    try failing { () throws(KafkaError) in
      try consumer.seek(partitions.map(\.position), timeoutMs: requestTimeoutMs)
    }
    reading.sought(partitions)
  }

  public func setPaused(_ isPaused: Bool, _ partitions: [Int32]) throws(Failure) {
    try failing { () throws(KafkaError) in try consumer.setPaused(isPaused, partitions) }
    reading.paused(isPaused, partitions)
  }

  public func claim() -> GroupClaim? {
    consumer.member().map { GroupClaim(generation: $0.generation, memberID: $0.memberID) }
  }

  public func lag(behind positions: [PartitionOffset]) -> Int64? {
    let nowMs = clock.monotonicMs()
    let lag = reading.lag(behind: positions, nowMs: nowMs, end: consumer.cachedEnd)
    publish()
    askAgain(nowMs: nowMs)
    return lag
  }

  private func publish() { health.set(reading.report(nowMs: clock.monotonicMs())) }

  /// Seeks what could not be read where it is; nothing was fetched of it that could come twice.
  private func askAgain(nowMs: Int64) {
    let due = reading.dueToAsk(nowMs: nowMs)
    guard !due.isEmpty else { return }
    do throws(KafkaError) {
      try consumer.seek(due.map(\.position), timeoutMs: requestTimeoutMs)
    } catch {
      onProblem(error)
    }
  }

  public func close() {
    batch.close()
    consumer.close()
  }
}

extension PartitionOffset {
  public var position: PartitionPosition {
    PartitionPosition(partition: partition, offset: offset)
  }
}
