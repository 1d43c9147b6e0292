import CKafka
import Glibc

/// A topic as a producer knows it; freed with the producer.
public struct ProducerTopic {
  public let name: String
  let raw: OpaquePointer
}

/// A producer: transactional where `transactional.id` is set, idempotent otherwise.
public final class KafkaProducer {
  let handle: KafkaHandle
  private var topics: [OpaquePointer] = []
  private var client: OpaquePointer { handle.client }

  public init(
    properties: KafkaProperties, onEvent: @escaping KafkaEventHandler
  ) throws(ConfigurationError) {
    handle = try KafkaHandle(RD_KAFKA_PRODUCER, properties, onEvent: onEvent)
  }

  public func topic(_ name: String) -> ProducerTopic {
    // Null only for a name or a configuration it cannot use; there is no configuration.
    guard let raw = rd_kafka_topic_new(client, name, nil) else {
      preconditionFailure("no topic can be named \(name)")
    }
    topics.append(raw)
    return ProducerTopic(name: name, raw: raw)
  }

  /// Hands one decision to the local queue; copies everything. Nil: done.
  public func produceDecision(
    to topic: ProducerTopic, partition: Int32, key: UnsafeRawBufferPointer?,
    value: UnsafeRawBufferPointer, carrying headers: CarriedHeaders, outcome: StaticString,
    reason: StaticString, notificationID: UnsafeRawBufferPointer?
  ) -> ProduceRefusal? {
    var source: OpaquePointer?
    var kept: UnsafeRawBufferPointer?
    switch headers {
    case .of(let record): source = record
    case .kept(let bytes): kept = bytes
    case .none: break
    }
    let code = ck_produce_decision(
      client, topic.raw, partition, ck_bytes(key), ck_bytes(value),
      source.map { UnsafePointer<rd_kafka_message_t>($0) }, ck_bytes(kept), ck_bytes(outcome),
      ck_bytes(reason), ck_bytes(notificationID))
    return code == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : ProduceRefusal(code: code)
  }

  /// Hands one plain record to the local queue. Nil `partition`: by the partitioner of the
  /// properties. A nil value is a tombstone.
  ///
  /// - Parameters:
  ///   - timestampMs: the record's own; nil: now.
  ///   - tag: what `takeUndelivered` calls it by; 0: it is counted and not named.
  public func produce(
    to topic: ProducerTopic, partition: Int32?, key: UnsafeRawBufferPointer?,
    value: UnsafeRawBufferPointer?, headers: [(name: String, value: String)] = [],
    timestampMs: Int64? = nil, tag: UInt = 0
  ) -> ProduceRefusal? {
    var list: OpaquePointer?
    if !headers.isEmpty {
      list = rd_kafka_headers_new(headers.count)
      for (name, value) in headers {
        rd_kafka_header_add(list, name, -1, value, value.utf8.count)
      }
    }
    let code = ck_produce(
      client, topic.raw, partition ?? Int32(RD_KAFKA_PARTITION_UA), ck_bytes(key), ck_bytes(value),
      list, timestampMs ?? 0, tag)
    return code == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : ProduceRefusal(code: code)
  }

  /// A refusal as an error: the handle's own fatal error, where that is the reason.
  public func error(of refusal: ProduceRefusal, topic: ProducerTopic) -> KafkaError {
    if refusal.code == RD_KAFKA_RESP_ERR__FATAL, let fatal = fatalError() { return fatal }
    return KafkaError(operation: "produce to \(topic.name)", origin: .produce, code: refusal.code)
  }

  /// The error after which the producer does nothing any more.
  public func fatalError() -> KafkaError? {
    let (code, text) = withErrorText { rd_kafka_fatal_error(client, $0, $1) }
    guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
    return KafkaError(operation: "produce", code: code, reason: text, flags: .fatal)
  }

  /// Records whose delivery failed since the producer was opened.
  public var deliveryFailures: UInt64 { ck_delivery_failures(handle.raw) }

  public var lastDeliveryFailure: KafkaError {
    KafkaError(
      operation: "deliver", origin: .request,
      code: rd_kafka_resp_err_t(ck_delivery_failure_last(handle.raw)))
  }

  /// Those of the records with a tag whose delivery failed since this was last asked. After a flush:
  /// all others were delivered.
  public func takeUndelivered() -> [(tag: UInt, error: KafkaError)] {
    var first: UnsafePointer<ck_undelivered>?
    let count = ck_take_undelivered(handle.raw, &first)
    return UnsafeBufferPointer(start: first, count: count).map { record in
      let code = rd_kafka_resp_err_t(record.error)
      return (record.tag, KafkaError(operation: "deliver", origin: .request, code: code))
    }
  }

  /// What it is when a flush was not enough.
  public func notAcknowledged(timeoutMs: Int32) -> KafkaError {
    KafkaError(
      operation: "flush", origin: .request, code: RD_KAFKA_RESP_ERR__TIMED_OUT,
      reason: "\(rd_kafka_outq_len(client)) records are not acknowledged after \(timeoutMs) ms")
  }

  /// Waits until every record is acknowledged or has failed; false where the time was not enough.
  ///
  /// By looking, and not by `rd_kafka_flush`: while that waits, librdkafka's broker thread goes round
  /// without a pause for as long as a partition has all the requests in flight it may have, which
  /// under load is half of the client's CPU. What is lost is that the last batch waits out its
  /// `linger.ms`.
  public func flush(timeoutMs: Int32) -> Bool {
    let stepUs: Int32 = 500
    var remainingUs = Int64(timeoutMs) * 1000
    while true {
      // A failed record stays in flight until its report is served.
      handle.serveEvents()
      if rd_kafka_outq_len(client) == 0 { return true }
      if remainingUs <= 0 { return false }
      usleep(useconds_t(stepUs))
      remainingUs -= Int64(stepUs)
    }
  }

  /// Drops what is queued or in flight, and serves its reports.
  public func purge() {
    rd_kafka_purge(
      client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING)
    handle.serveEvents()
  }

  public func serveEvents() { handle.serveEvents() }

  /// Drops what was not flushed, then frees everything.
  public func close() {
    purge()
    _ = flush(timeoutMs: 1000)
    for topic in topics { rd_kafka_topic_destroy(topic) }
    topics = []
    handle.close()
  }
}

/// Why a record was not taken; small, because it is made where records are.
public struct ProduceRefusal: Sendable {
  let code: rd_kafka_resp_err_t
  public var isQueueFull: Bool { code == RD_KAFKA_RESP_ERR__QUEUE_FULL }
  public var isTooLarge: Bool { code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE }
}

extension KafkaProducer {
  /// How long an abort waits for answers to what is in flight.
  private static let inFlightMsMax: Int32 = 500

  /// Fences older producers of the same `transactional.id`, and waits for what they left open.
  public func initTransactions(timeoutMs: Int32) throws(KafkaError) {
    try KafkaError.check(
      rd_kafka_init_transactions(client, timeoutMs), "init transactions", .transaction)
  }

  public func beginTransaction() throws(KafkaError) {
    try KafkaError.check(rd_kafka_begin_transaction(client), "begin transaction", .transaction)
  }

  /// The group's offsets as part of the transaction, in the name of `member`.
  public func sendOffsets(
    _ positions: [TopicPositions], groupID: String, member: GroupMember,
    groupInstanceID: String?, timeoutMs: Int32
  ) throws(KafkaError) {
    let list = PartitionList(positions)
    let metadata = rd_kafka_consumer_group_metadata_new_with_genid(
      groupID, member.generation, member.memberID, groupInstanceID)
    defer { rd_kafka_consumer_group_metadata_destroy(metadata) }
    try KafkaError.check(
      rd_kafka_send_offsets_to_transaction(client, list.raw, metadata, timeoutMs),
      "send offsets to transaction", .transaction)
  }

  public func commitTransaction(timeoutMs: Int32) throws(KafkaError) {
    let error = rd_kafka_commit_transaction(client, timeoutMs)
    handle.serveEvents()
    try KafkaError.check(error, "commit transaction", .transaction)
  }

  /// Drops what is queued, then aborts. Nothing may be left when it does: abort waits for the report
  /// of every record, only this thread serves them, and a record in flight would make it wait out
  /// its time. So the reports are served first; what is in flight still comes back where the broker
  /// answers, and is dropped only where it does not, since a record dropped there leaves a gap in the
  /// producer's sequence.
  public func abortTransaction(timeoutMs: Int32) throws(KafkaError) {
    rd_kafka_purge(client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_NON_BLOCKING)
    if !flush(timeoutMs: min(timeoutMs, Self.inFlightMsMax)) {
      purge()
      _ = flush(timeoutMs: min(timeoutMs, Self.inFlightMsMax))
    }
    let error = rd_kafka_abort_transaction(client, timeoutMs)
    handle.serveEvents()
    try KafkaError.check(error, "abort transaction", .transaction)
  }
}

extension KafkaError {
  init(operation: String, code: rd_kafka_resp_err_t, reason: String, flags: Flags) {
    self.operation = operation
    origin = .transaction
    self.code = code.rawValue
    name = String(cString: rd_kafka_err2name(code))
    self.reason = reason
    self.flags = flags
  }
}

extension ck_bytes {
  init(_ bytes: UnsafeRawBufferPointer?) {
    guard let bytes else {
      self.init(base: nil, size: 0)
      return
    }
    // An empty key or value is not a null one: it needs an address, any.
    self.init(base: bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1), size: bytes.count)
  }

  init(_ text: StaticString) { self.init(base: text.utf8Start, size: text.utf8CodeUnitCount) }
}
