import CKafka
import Gate
import Pipeline
import Testing

@testable import Consumer
@testable import Kafka
@testable import Producer

@Suite(.serialized) struct MockClusterTests {
  /// Reads a topic's records, headers included, until `count` have come.
  static func read(
    _ topic: String, _ cluster: MockCluster, count: Int
  ) throws -> [(partition: Int32, key: String?, value: String?, headers: [String])] {
    var properties = cluster.properties
    properties["group.id"] = "reader"
    properties["enable.partition.eof"] = "true"
    let reader = try PartitionReader(topic: topic, properties: properties, onEvent: { _ in })
    defer { reader.close() }
    let batch = RecordBatch(recordsMax: 64)
    defer { batch.close() }
    let partitions = try reader.partitionCount(timeoutMs: 5000)!
    try reader.assignFromStart(Array(0..<partitions))
    var found: [(Int32, String?, String?, [String])] = []
    for _ in 0..<600 where found.count < count {
      reader.poll(batch, timeoutMs: 100)
      for i in 0..<batch.count where batch[i].isRecord {
        found.append(
          (
            batch[i].partition, batch[i].key.map { String(decoding: $0, as: UTF8.self) },
            batch[i].value.map { String(decoding: $0, as: UTF8.self) }, headers(of: batch[i])
          ))
      }
      batch.release()
    }
    return found
  }

  static func headers(of record: RecordView) -> [String] {
    var raw: OpaquePointer?
    guard
      rd_kafka_message_headers(UnsafePointer<rd_kafka_message_t>(record.handle), &raw)
        == RD_KAFKA_RESP_ERR_NO_ERROR
    else { return [] }
    var found: [String] = []
    var name: UnsafePointer<CChar>?
    var value: UnsafeRawPointer?
    var size = 0
    while rd_kafka_header_get_all(raw, found.count, &name, &value, &size)
      == RD_KAFKA_RESP_ERR_NO_ERROR
    {
      let bytes = UnsafeRawBufferPointer(start: value, count: size)
      let text = value == nil ? "null" : String(decoding: bytes, as: UTF8.self)
      found.append("\(String(cString: name!))=\(text)")
    }
    return found
  }

  @Test func publisherRoutesByKeyAndPublishesTombstones() throws {
    let cluster = try MockCluster(topic: "in", partitions: 5)
    defer { cluster.close() }
    let publisher = try CandidatePublisher(
      topic: "in", properties: cluster.properties, onEvent: { _ in })
    let users = (0..<40).map { "user-\($0)" }
    for user in users {
      try user.withBytes { key in
        try "{}".withBytes { try publisher.publish(key: key, value: user == "user-7" ? nil : $0) }
      }
    }
    try publisher.finish(timeoutMs: 10_000)
    publisher.close()
    let records = try Self.read("in", cluster, count: users.count)
    #expect(records.map { $0.key! }.sorted() == users.sorted())
    for record in records {
      let expected = record.key!.withBytes { Partitioner.partition(forKey: $0, count: 5) }
      #expect(record.partition == expected)
      #expect(record.value == (record.key == "user-7" ? nil : "{}"))
    }
  }

  @Test func theCandidatesHeadersAreCarriedAndTheGatesOwnAreSet() throws {
    let cluster = try MockCluster(topic: "in", partitions: 1)
    defer { cluster.close() }
    for topic in ["approved", "deferred", "dropped"] { cluster.create(topic, partitions: 1) }
    let publisher = try CandidatePublisher(
      topic: "in", properties: cluster.properties, onEvent: { _ in })
    try "u".withBytes { key in
      try publisher.publish(
        key: key, value: key,
        headers: [
          ("traceparent", "00-1"), ("outcome", "forged"), ("x", ""), ("reason", "forged"),
          ("x", "twice"), ("notification_id", "forged"),
        ])
      try publisher.publish(key: key, value: key)
    }
    try publisher.finish(timeoutMs: 10_000)
    publisher.close()

    var properties = cluster.properties
    properties["group.id"] = "g"
    let reader = try PartitionReader(topic: "in", properties: properties, onEvent: { _ in })
    let producer = try KafkaProducer(
      properties: try OutputProducerProperties.make(
        cluster.properties, transactionalID: nil, transactionTimeoutMs: 0), onEvent: { _ in })
    let topics = OutputTopicNames(
      approved: "approved", deferred: "deferred", dropped: "dropped", state: "state")
    var output = OutputTopics(topics, of: producer)
    try reader.assignFromStart([0])
    let batch = RecordBatch(recordsMax: 8)
    var written = 0
    for _ in 0..<600 where written < 2 {
      reader.poll(batch, timeoutMs: 100)
      for i in 0..<batch.count where batch[i].isRecord {
        try Self.write(batch[i], notificationID: written == 0 ? "n-1" : nil, &output)
        written += 1
      }
      batch.release()
    }
    #expect(producer.flush(timeoutMs: 10_000))
    batch.close()
    reader.close()
    producer.close()

    let records = try Self.read("dropped", cluster, count: 2)
    #expect(
      records.map(\.headers) == [
        [
          "traceparent=00-1", "x=", "x=twice", "outcome=dropped", "reason=expired",
          "notification_id=n-1",
        ],
        ["outcome=dropped", "reason=expired"],
      ])
    #expect(records.map(\.key) == ["k", "k"])
  }

  static func write(
    _ record: RecordView, notificationID: String?, _ topics: inout OutputTopics
  ) throws {
    try "k".withBytes { key in
      try (notificationID ?? "").withBytes { id in
        let output = OutputRecord(
          outcome: .dropped, reason: .expired, category: nil, inputIndex: 0, key: key, value: key,
          notificationID: notificationID == nil ? nil : id)
        let input = InputRecord(
          partition: record.partition, offset: record.offset, timestampMs: 0, key: nil, value: nil,
          handle: record.handle)
        try withUnsafePointer(to: output) { output in
          try withUnsafePointer(to: input) { input in
            try topics.write(
              UnsafeBufferPointer(start: output, count: 1),
              of: UnsafeBufferPointer(start: input, count: 1), queueFullMsMax: 100)
          }
        }
      }
    }
  }

  @Test func deliveryFailuresAreCountedWithoutAReportForEachSuccess() throws {
    let cluster = try MockCluster(topic: "out", partitions: 1)
    defer { cluster.close() }
    let producer = try KafkaProducer(
      properties: try OutputProducerProperties.make(
        cluster.properties, transactionalID: nil, transactionTimeoutMs: 0), onEvent: { _ in })
    let topic = producer.topic("out")
    "v".withBytes { _ = producer.produce(to: topic, partition: 0, key: nil, value: $0) }
    #expect(producer.flush(timeoutMs: 10_000))
    #expect(producer.deliveryFailures == 0)
    cluster.fail(ApiKey.produce, [RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE])
    "v".withBytes { _ = producer.produce(to: topic, partition: 0, key: nil, value: $0) }
    #expect(producer.flush(timeoutMs: 10_000))
    #expect(producer.deliveryFailures == 1)
    #expect(producer.lastDeliveryFailure.name == "MSG_SIZE_TOO_LARGE")
    producer.close()
  }

  @Test func aRecordTooLargeWithItsHeadersIsWrittenWithoutThem() throws {
    let cluster = try MockCluster(topic: "in", partitions: 1)
    defer { cluster.close() }
    for topic in ["approved", "deferred", "dropped"] { cluster.create(topic, partitions: 1) }
    let publisher = try CandidatePublisher(
      topic: "in", properties: cluster.properties, onEvent: { _ in })
    try "u".withBytes { key in
      try publisher.publish(
        key: key, value: key, headers: [("big", String(repeating: "x", count: 50_000))])
    }
    try publisher.finish(timeoutMs: 10_000)
    publisher.close()
    var properties = cluster.properties
    properties["group.id"] = "g"
    let reader = try PartitionReader(topic: "in", properties: properties, onEvent: { _ in })
    var small = cluster.properties
    small["message.max.bytes"] = "20000"
    let producer = try KafkaProducer(
      properties: try OutputProducerProperties.make(
        small, transactionalID: nil, transactionTimeoutMs: 0), onEvent: { _ in })
    var output = OutputTopics(
      OutputTopicNames(
        approved: "approved", deferred: "deferred", dropped: "dropped", state: "state"),
      of: producer)
    try reader.assignFromStart([0])
    let batch = RecordBatch(recordsMax: 8)
    for _ in 0..<600 where output.headersLeftOut == 0 {
      reader.poll(batch, timeoutMs: 100)
      for i in 0..<batch.count where batch[i].isRecord {
        try Self.write(batch[i], notificationID: "n", &output)
      }
      batch.release()
    }
    #expect(producer.flush(timeoutMs: 10_000))
    batch.close()
    reader.close()
    producer.close()
    let records = try Self.read("dropped", cluster, count: 1)
    #expect(
      records.map(\.headers) == [["outcome=dropped", "reason=expired", "notification_id=n"]])
  }

  /// What the mock brokers answer, as what the loop hears.
  @Test(arguments: [
    (ApiKey.endTxn, RD_KAFKA_RESP_ERR_INVALID_TXN_STATE, Failure.Kind.lostTransaction),
    (ApiKey.endTxn, RD_KAFKA_RESP_ERR_PRODUCER_FENCED, .fenced),
    (ApiKey.endTxn, RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH, .fenced),
    (ApiKey.endTxn, RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID, .abort),
    (ApiKey.endTxn, RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED, .fatal),
    (ApiKey.produce, RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH, .fenced),
    (ApiKey.produce, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, .abort),
    (ApiKey.addOffsetsToTxn, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, .abort),
    (ApiKey.addOffsetsToTxn, RD_KAFKA_RESP_ERR_INVALID_TXN_STATE, .lostTransaction),
  ])
  func brokerErrorsInATransaction(
    apiKey: Int16, code: rd_kafka_resp_err_t, expected: Failure.Kind
  ) throws {
    let cluster = try MockCluster(topic: "in", partitions: 1)
    defer { cluster.close() }
    for topic in ["approved", "deferred", "dropped"] { cluster.create(topic, partitions: 1) }
    let sink = TransactionalSink(
      TransactionalSink.Settings(
        properties: try OutputProducerProperties.make(
          cluster.properties, transactionalID: "t", transactionTimeoutMs: 10_000),
        topics: OutputTopicNames(
          approved: "approved", deferred: "deferred", dropped: "dropped", state: "state"),
        inputTopic: "in", groupID: "g"), onEvent: { _ in })
    defer { sink.close() }
    try sink.replace()
    try sink.begin()
    cluster.fail(apiKey, [code])
    var failure: Failure?
    do throws(Failure) {
      try Self.writeOne(to: sink)
      try sink.flush()
      try sink.sendOffsets(
        [PartitionOffset(partition: 0, offset: 1)], receipts: [],
        claim: GroupClaim(generation: 1, memberID: "m"))
      try sink.commit()
    } catch {
      failure = error
    }
    #expect(failure?.kind == expected, "\(failure?.message ?? "no failure")")
    guard expected == .abort else { return }
    // The way back, too. A record refused for good leaves a gap in the producer's sequence; then
    // it takes a new producer, as the loop makes after some aborts.
    try sink.abort()
    for attempt in 1...3 {
      do throws(Failure) {
        try sink.begin()
        try Self.writeOne(to: sink)
        try sink.flush()
        try sink.commit()
        return
      } catch {
        #expect(error.kind == .abort && attempt < 3, "\(error.message)")
        if attempt == 1 { try sink.abort() } else { try sink.replace() }
      }
    }
  }

  static func writeOne(to sink: TransactionalSink) throws(Failure) {
    var bytes: UInt8 = 65
    let raw = withUnsafeBytes(of: &bytes) { $0 }
    let output = OutputRecord(
      outcome: .approved, reason: .ok, category: .social, inputIndex: 0, key: raw, value: raw,
      notificationID: raw)
    let input = InputRecord(
      partition: 0, offset: 0, timestampMs: 0, key: nil, value: nil, handle: nil)
    let outputs = [output]
    let inputs = [input]
    let failure = outputs.withUnsafeBufferPointer { outputs in
      inputs.withUnsafeBufferPointer { inputs -> Failure? in
        do throws(Failure) {
          try sink.write(outputs, of: inputs)
          return nil
        } catch {
          return error
        }
      }
    }
    if let failure { throw failure }
  }

  @Test func metadataNamesMissingTopicsAndCounts() throws {
    let cluster = try MockCluster(topic: "in", partitions: 3)
    defer { cluster.close() }
    let admin = try KafkaAdmin(properties: cluster.properties, onEvent: { _ in })
    defer { admin.close() }
    let found = try admin.metadata(of: ["in"], timeoutMs: 5000)
    #expect(found == [TopicMetadata(name: "in", partitionCount: 3)])
  }
}
