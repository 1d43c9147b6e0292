import CKafka

extension KafkaHandle {
  /// How many partitions a topic has; nil where there is no such topic.
  func partitionCount(of name: String, timeoutMs: Int32) throws(KafkaError) -> Int32? {
    let operation = "describe topic \(name)"
    guard let topic = rd_kafka_topic_new(client, name, nil) else {
      throw KafkaError(
        operation: operation, origin: .request, code: RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION)
    }
    defer { rd_kafka_topic_destroy(topic) }
    var raw: UnsafePointer<rd_kafka_metadata>?
    try KafkaError.check(
      rd_kafka_metadata(client, 0, topic, &raw, timeoutMs), operation, .request)
    guard let raw else { return nil }
    defer { rd_kafka_metadata_destroy(raw) }
    for i in 0..<Int(raw.pointee.topic_cnt) {
      let found = raw.pointee.topics[i]
      guard String(cString: found.topic) == name else { continue }
      switch found.err {
      case RD_KAFKA_RESP_ERR_NO_ERROR: return found.partition_cnt
      case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC: return nil
      default: throw KafkaError(operation: operation, origin: .request, code: found.err)
      }
    }
    return nil
  }
}
