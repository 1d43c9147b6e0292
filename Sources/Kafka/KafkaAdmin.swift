import CKafka

/// A topic as the cluster has it.
public struct TopicMetadata: Sendable, Equatable {
  public var name: String
  /// Nil where there is no such topic.
  public var partitionCount: Int32?
}

/// A topic to create.
public struct NewTopic: Sendable {
  public var name: String
  public var partitionCount: Int32
  /// Below 1: the broker's default.
  public var replicationFactor: Int32
  public var settings: [(key: String, value: String)]

  public init(
    name: String, partitionCount: Int32, replicationFactor: Int32,
    settings: [(key: String, value: String)]
  ) {
    self.name = name
    self.partitionCount = partitionCount
    self.replicationFactor = replicationFactor
    self.settings = settings
  }
}

/// Asks about topics and makes them.
public final class KafkaAdmin {
  private let handle: KafkaHandle
  private var client: OpaquePointer { handle.client }

  public init(
    properties: KafkaProperties, onEvent: @escaping KafkaEventHandler
  ) throws(ConfigurationError) {
    handle = try KafkaHandle(RD_KAFKA_PRODUCER, properties, onEvent: onEvent)
  }

  public func close() { handle.close() }

  /// The partition counts of topics, in the order given. One request each: asking for all topics of
  /// a large cluster to learn about eight costs the broker more.
  public func metadata(
    of topics: [String], timeoutMs: Int32
  ) throws(KafkaError) -> [TopicMetadata] {
    defer { handle.serveEvents() }
    var found: [TopicMetadata] = []
    for name in topics {
      found.append(
        TopicMetadata(
          name: name, partitionCount: try handle.partitionCount(of: name, timeoutMs: timeoutMs)))
    }
    return found
  }

  /// Creates topics; each answer is nil where it worked, or was there already.
  public func create(
    _ topics: [NewTopic], timeoutMs: Int32
  ) throws(KafkaError) -> [(name: String, error: KafkaError?)] {
    guard !topics.isEmpty else { return [] }
    var raw: [OpaquePointer?] = []
    defer { for topic in raw { rd_kafka_NewTopic_destroy(topic) } }
    for topic in topics {
      let (made, text) = withErrorText {
        rd_kafka_NewTopic_new(
          topic.name, topic.partitionCount,
          topic.replicationFactor < 1 ? -1 : topic.replicationFactor, $0, $1)
      }
      guard let made else {
        throw KafkaError(
          operation: "create topic \(topic.name)", origin: .request,
          code: RD_KAFKA_RESP_ERR__INVALID_ARG, reason: text)
      }
      for (key, value) in topic.settings { rd_kafka_NewTopic_set_config(made, key, value) }
      raw.append(made)
    }
    let event = try ask("create topics", RD_KAFKA_ADMIN_OP_CREATETOPICS, timeoutMs) {
      rd_kafka_CreateTopics(client, &raw, raw.count, $0, $1)
    }
    defer { rd_kafka_event_destroy(event) }
    var count = 0
    let results = rd_kafka_CreateTopics_result_topics(
      rd_kafka_event_CreateTopics_result(event), &count)
    return (0..<count).map { i in
      let result = results![i]
      let name = String(cString: rd_kafka_topic_result_name(result))
      let code = rd_kafka_topic_result_error(result)
      if code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS {
        return (name, nil)
      }
      let reason = rd_kafka_topic_result_error_string(result).map { String(cString: $0) }
      return (
        name,
        KafkaError(
          operation: "create topic \(name)", origin: .request, code: code, reason: reason)
      )
    }
  }

  /// The settings in force of topics, by topic and key.
  public func settings(
    of topics: [String], timeoutMs: Int32
  ) throws(KafkaError) -> [String: [String: String]] {
    guard !topics.isEmpty else { return [:] }
    var raw = topics.map { rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, $0) }
    defer { for resource in raw { rd_kafka_ConfigResource_destroy(resource) } }
    let event = try ask("describe topic settings", RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeoutMs) {
      rd_kafka_DescribeConfigs(client, &raw, raw.count, $0, $1)
    }
    defer { rd_kafka_event_destroy(event) }
    var count = 0
    let results = rd_kafka_DescribeConfigs_result_resources(
      rd_kafka_event_DescribeConfigs_result(event), &count)
    var found: [String: [String: String]] = [:]
    for i in 0..<count {
      let resource = results![i]
      let name = String(cString: rd_kafka_ConfigResource_name(resource))
      let code = rd_kafka_ConfigResource_error(resource)
      try KafkaError.check(code, "describe the settings of \(name)", .request)
      found[name] = Self.entries(of: resource)
    }
    return found
  }

  private static func entries(of resource: OpaquePointer?) -> [String: String] {
    var count = 0
    let entries = rd_kafka_ConfigResource_configs(resource, &count)
    var found: [String: String] = [:]
    for i in 0..<count {
      guard let value = rd_kafka_ConfigEntry_value(entries![i]) else { continue }
      found[String(cString: rd_kafka_ConfigEntry_name(entries![i]))] = String(cString: value)
    }
    return found
  }

  /// One admin request, and its answer's event, which the caller destroys.
  private func ask(
    _ operation: String, _ kind: rd_kafka_admin_op_t, _ timeoutMs: Int32,
    _ send: (OpaquePointer?, OpaquePointer?) -> Void
  ) throws(KafkaError) -> OpaquePointer {
    let queue = rd_kafka_queue_new(client)
    defer { rd_kafka_queue_destroy(queue) }
    let options = rd_kafka_AdminOptions_new(client, kind)
    defer { rd_kafka_AdminOptions_destroy(options) }
    rd_kafka_AdminOptions_set_request_timeout(options, timeoutMs, nil, 0)
    if kind == RD_KAFKA_ADMIN_OP_CREATETOPICS {
      rd_kafka_AdminOptions_set_operation_timeout(options, timeoutMs, nil, 0)
    }
    send(options, queue)
    // librdkafka answers within its own time-out; the slack is for the answer to travel.
    let event = rd_kafka_queue_poll(queue, timeoutMs + 5000)
    handle.serveEvents()
    guard let event else {
      throw KafkaError(operation: operation, origin: .request, code: RD_KAFKA_RESP_ERR__TIMED_OUT)
    }
    let code = rd_kafka_event_error(event)
    if code != RD_KAFKA_RESP_ERR_NO_ERROR {
      let reason = String(cString: rd_kafka_event_error_string(event))
      rd_kafka_event_destroy(event)
      throw KafkaError(operation: operation, origin: .request, code: code, reason: reason)
    }
    return event
  }
}
