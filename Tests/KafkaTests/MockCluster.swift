import CKafka

@testable import Kafka

/// librdkafka's own mock brokers. Good for calls and injected errors; they keep no transaction apart
/// from plain records, so nothing about exactly-once is proved here.
final class MockCluster {
  private let handle: KafkaHandle
  let raw: OpaquePointer

  init(topic: String, partitions: Int32) throws {
    handle = try KafkaHandle(RD_KAFKA_PRODUCER, KafkaProperties([:]), onEvent: { _ in })
    raw = rd_kafka_mock_cluster_new(handle.client, 1)
    rd_kafka_mock_topic_create(raw, topic, partitions, 1)
  }

  var properties: KafkaProperties {
    KafkaProperties([
      "bootstrap.servers": String(cString: rd_kafka_mock_cluster_bootstraps(raw))
    ])
  }

  func create(_ topic: String, partitions: Int32) {
    rd_kafka_mock_topic_create(raw, topic, partitions, 1)
  }

  /// The next requests of a kind are answered with these codes.
  func fail(_ apiKey: Int16, _ codes: [rd_kafka_resp_err_t]) {
    var codes = codes
    rd_kafka_mock_push_request_errors_array(raw, apiKey, codes.count, &codes)
  }

  func close() {
    rd_kafka_mock_cluster_destroy(raw)
    handle.close()
  }
}

enum ApiKey {
  static let produce: Int16 = 0
  static let initProducerID: Int16 = 22
  static let addOffsetsToTxn: Int16 = 25
  static let endTxn: Int16 = 26
}

extension String {
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try Array(utf8).withUnsafeBytes(body)
  }
}
