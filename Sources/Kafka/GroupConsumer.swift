import CKafka

/// What a consumer group decided about this member's partitions.
public struct GroupRebalance: Sendable {
  public enum Kind: Sendable {
    case assigned
    /// Still ours until answered: what is pending can be committed.
    case revoked
    /// Somebody else's already.
    case lost
  }
  public var kind: Kind
  public var partitions: [Int32]
}

/// Who this member is to the group's coordinator.
public struct GroupMember: Sendable, Equatable {
  public var generation: Int32
  public var memberID: String

  public init(generation: Int32, memberID: String) {
    self.generation = generation
    self.memberID = memberID
  }
}

/// A consumer of one topic in a group. One thread does everything: librdkafka 2.0 loses or repeats
/// records where seek, pause or a rebalance runs beside a batch read.
public final class GroupConsumer {
  public let topic: String
  public let groupID: String
  let handle: KafkaHandle
  private let queue: OpaquePointer
  private var client: OpaquePointer { handle.client }

  /// Opens a consumer and joins `group.id`.
  public init(
    topic: String, properties: KafkaProperties, onEvent: @escaping KafkaEventHandler
  ) throws(ConfigurationError) {
    guard let groupID = properties["group.id"] else {
      throw ConfigurationError(key: "group.id", value: nil, reason: "is required")
    }
    self.topic = topic
    self.groupID = groupID
    handle = try KafkaHandle(RD_KAFKA_CONSUMER, properties, onEvent: onEvent)
    queue = ck_consumer_queue(handle.raw)
    let code = ck_subscribe(handle.raw, topic)
    guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
      handle.close()
      throw ConfigurationError(
        key: nil, value: nil,
        reason: "cannot read topic \"\(topic)\": \(String(cString: rd_kafka_err2str(code)))")
    }
  }

  /// Waits up to `timeoutMs` for records; serves the group and the events.
  public func poll(_ batch: RecordBatch, timeoutMs: Int32) {
    batch.poll(queue, timeoutMs: timeoutMs)
    handle.serveEvents()
  }

  /// The next rebalance noted during a poll. Each is answered with `assign` or `unassign`; until
  /// then the group waits and no record comes.
  public func nextRebalance() -> GroupRebalance? {
    var raw: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
    let kind = ck_rebalance_next(handle.raw, &raw)
    guard kind != CK_REBALANCE_NONE, let raw else { return nil }
    let list = PartitionList(taking: raw)
    let partitions = list.positions.map(\.partition)
    switch kind {
    case CK_REBALANCE_ASSIGN: return GroupRebalance(kind: .assigned, partitions: partitions)
    case CK_REBALANCE_LOST: return GroupRebalance(kind: .lost, partitions: partitions)
    default: return GroupRebalance(kind: .revoked, partitions: partitions)
    }
  }

  public func assign(_ positions: [PartitionPosition]) throws(KafkaError) {
    let list = PartitionList(topic: topic, positions: positions)
    try KafkaError.check(ck_rebalance_assign(handle.raw, list.raw), "assign", .request)
  }

  public func unassign(_ partitions: [Int32]) throws(KafkaError) {
    let list = PartitionList(topic: topic, partitions: partitions)
    try KafkaError.check(ck_rebalance_unassign(handle.raw, list.raw), "unassign", .request)
  }

  /// - Parameter timeoutMs: for each few hundred partitions: librdkafka works them off one by one, and
  ///   a call that is not through in time is as good as none.
  public func seek(_ positions: [PartitionPosition], timeoutMs: Int32) throws(KafkaError) {
    var rest = positions[...]
    while !rest.isEmpty {
      let list = PartitionList(topic: topic, positions: Array(rest.prefix(Self.seekPartitionsMax)))
      rest = rest.dropFirst(Self.seekPartitionsMax)
      try KafkaError.check(
        rd_kafka_seek_partitions(client, list.raw, Self.seekTimeout(ms: timeoutMs)), "seek",
        .request)
      try list.checkEach("seek")
    }
  }

  private static let seekPartitionsMax = 250

  /// Before 2.1 librdkafka takes the milliseconds that are left of a seek for microseconds: 5 s are
  /// over after 5 ms without an answer, and a lane of thousands of partitions never gets through.
  private static func seekTimeout(ms: Int32) -> Int32 {
    let versionWithFix: Int32 = 0x0201_0000
    return rd_kafka_version() < versionWithFix ? ms * 1_000 : ms
  }

  public func setPaused(_ isPaused: Bool, _ partitions: [Int32]) throws(KafkaError) {
    guard !partitions.isEmpty else { return }
    let list = PartitionList(topic: topic, partitions: partitions)
    try KafkaError.check(
      isPaused
        ? rd_kafka_pause_partitions(client, list.raw)
        : rd_kafka_resume_partitions(client, list.raw),
      isPaused ? "pause" : "resume", .request)
    try list.checkEach(isPaused ? "pause" : "resume")
  }

  /// The group's committed offsets, once no open transaction holds a newer one; nil where nothing
  /// was ever committed. Stable because of `isolation.level=read_committed`.
  public func committed(
    _ partitions: [Int32], timeoutMs: Int32
  ) throws(KafkaError) -> [(partition: Int32, offset: Int64?)] {
    try handle.committed(partitions, of: topic, timeoutMs: timeoutMs)
  }

  /// The first offset there is.
  public func logStart(_ partition: Int32, timeoutMs: Int32) throws(KafkaError) -> Int64 {
    try handle.logStart(partition, of: topic, timeoutMs: timeoutMs)
  }

  /// The end of the log as the last fetch saw it; nil before one has. Asks nobody.
  public func cachedEnd(_ partition: Int32) -> Int64? {
    var low: Int64 = 0
    var high: Int64 = 0
    let code = rd_kafka_get_watermark_offsets(client, topic, partition, &low, &high)
    return code == RD_KAFKA_RESP_ERR_NO_ERROR && high >= 0 ? high : nil
  }

  /// This member as the client sees it now; nil where it is none.
  public func member() -> GroupMember? {
    var generation: Int32 = -1
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { id in
      ck_group_member(client, groupID, &generation, id.baseAddress!, id.count) != 0
        ? GroupMember(generation: generation, memberID: String(cString: id.baseAddress!)) : nil
    }
  }

  /// Commits without a transaction, and waits for the answer.
  public func commit(_ positions: [TopicPositions]) throws(KafkaError) {
    let list = PartitionList(positions)
    try KafkaError.check(rd_kafka_commit(client, list.raw, 0), "commit offsets", .request)
    try list.checkEach("commit offsets")
  }

  /// Leaves the group, then frees everything. Batches must be released.
  public func close() {
    let code = ck_consumer_leave(handle.raw)
    if code != RD_KAFKA_RESP_ERR_NO_ERROR {
      handle.onEvent(
        .error(
          code: code.rawValue, name: String(cString: rd_kafka_err2name(code)),
          reason: "leaving group \(groupID) failed; the coordinator will time this member out"))
    }
    handle.close()
  }
}
