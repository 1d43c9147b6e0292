import CKafka

/// What librdkafka has to say beside its answers.
public enum KafkaEvent: Sendable {
  /// `level` is syslog's: 3 error, 4 warning, 6 info, 7 debug.
  case log(level: Int32, facility: String, message: String)
  /// Informational: librdkafka goes on trying. Fatal errors come out of the calls they concern.
  case error(code: Int32, name: String, reason: String)
  /// JSON, where `statistics.interval.ms` is set.
  case statistics(String)
}

/// Called on the thread that owns the handle.
public typealias KafkaEventHandler = @Sendable (KafkaEvent) -> Void

/// One librdkafka client. Its owner calls `close` when everything made from it (topics, batches,
/// lists) is gone; left to a deinit, the order would be nobody's decision, and librdkafka's destroy
/// hangs where it is wrong.
final class KafkaHandle {
  let raw: OpaquePointer
  let onEvent: KafkaEventHandler
  private var isOpen = true

  var client: OpaquePointer { ck_client(raw) }

  init(
    _ type: rd_kafka_type_t, _ properties: KafkaProperties, onEvent: @escaping KafkaEventHandler
  ) throws(ConfigurationError) {
    var properties = properties
    // Without the queue, logs are written by librdkafka's threads to standard error.
    properties["log.queue"] = "true"
    properties.setDefaults([
      ("client.software.name", "sendgate"),
      ("client.software.version", "librdkafka-\(KafkaProperties.libraryVersion)"),
      // Topics are made by `topics create`, with the settings they need, or not at all.
      ("allow.auto.create.topics", "false"),
    ])
    let conf = try properties.makeConf()
    let (handle, text) = withErrorText { ck_open(type, conf, $0, $1) }
    guard let handle else { throw ConfigurationError(key: nil, value: nil, reason: text) }
    raw = handle
    self.onEvent = onEvent
  }

  deinit { precondition(!isOpen, "a Kafka handle was dropped without close()") }

  /// Serves the main queue without waiting: counts delivery reports, hands on the rest. Also tells
  /// librdkafka that the owner is alive.
  func serveEvents() {
    var event = ck_event()
    while true {
      switch ck_next_event(raw, &event) {
      case CK_EVENT_LOG:
        onEvent(
          .log(
            level: event.code, facility: String(cString: event.facility),
            message: String(cString: event.text)))
      case CK_EVENT_ERROR:
        let code = rd_kafka_resp_err_t(event.code)
        onEvent(
          .error(
            code: event.code, name: String(cString: rd_kafka_err2name(code)),
            reason: String(cString: event.text)))
      case CK_EVENT_STATISTICS: onEvent(.statistics(String(cString: event.text)))
      default: return
      }
    }
  }

  static func type(of kind: KafkaProperties.ClientKind) -> rd_kafka_type_t {
    kind == .consumer ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER
  }

  /// The committed offsets of the handle's group; nil where nothing was ever committed. Stable where
  /// the handle reads committed records only.
  func committed(
    _ partitions: [Int32], of topic: String, timeoutMs: Int32
  ) throws(KafkaError) -> [(partition: Int32, offset: Int64?)] {
    let list = PartitionList(topic: topic, partitions: partitions)
    let operation = "fetch committed offsets of \(topic)"
    try KafkaError.check(rd_kafka_committed(client, list.raw, timeoutMs), operation, .request)
    try list.checkEach(operation)
    return list.positions.map { ($0.partition, $0.offset >= 0 ? $0.offset : nil) }
  }

  /// The first offset there is.
  func logStart(
    _ partition: Int32, of topic: String, timeoutMs: Int32
  ) throws(KafkaError) -> Int64 {
    var low: Int64 = 0
    var high: Int64 = 0
    try KafkaError.check(
      rd_kafka_query_watermark_offsets(client, topic, partition, &low, &high, timeoutMs),
      "query the start of \(topic) partition \(partition)", .request)
    return low
  }

  func close() {
    precondition(isOpen, "a Kafka handle was closed twice")
    serveEvents()
    isOpen = false
    ck_close(raw)
  }
}
