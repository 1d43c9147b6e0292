import Broker
import Kafka
import Pipeline
import Telemetry
import TestSupport

@testable import Preferences

/// A broker of the test's own, on disk, that can be stopped and started again on its port.
final class TestBroker {
  let folder = TemporaryFolder()
  private(set) var port: UInt16 = 0
  private var stopper: BrokerServer.Stopper?
  private var thread: NamedThread?

  var properties: KafkaProperties {
    KafkaProperties([
      "bootstrap.servers": "127.0.0.1:\(port)", "reconnect.backoff.ms": "10",
      "reconnect.backoff.max.ms": "50",
    ])
  }

  init() throws {
    // Below those that the system gives to clients and to other tests: one of them could be somebody
    // else's by the time this broker is started again.
    while true {
      port = .random(in: 15_000..<32_000)
      do {
        try start()
        return
      } catch is BrokerServer.SetupError {}
    }
  }

  /// - Parameter plan: what is to go wrong.
  func start(injecting plan: String = "") throws {
    let disk = FolderDisk(root: folder.file("broker")) { preconditionFailure($0) }
    nonisolated(unsafe) let server = try BrokerServer(
      config: BrokerConfig(), disk: disk, port: port)
    server.core.inject(try InjectionPlan(parsing: plan))
    port = UInt16(server.port)
    stopper = server.stop
    thread = NamedThread(name: "test-broker") { server.run() }
  }

  func stop() {
    stopper?()
    thread?.join()
    thread = nil
    stopper = nil
  }

  deinit { stop() }

  func create(
    _ topics: [TopicRole] = [.preferences, .defaults, .audit, .receipts, .preferenceEvents],
    settings: [(key: String, value: String)] = []
  )
    throws
  {
    let admin = try KafkaAdmin(properties: properties, onEvent: { _ in })
    defer { admin.close() }
    let answers = try admin.create(
      topics.map {
        NewTopic(
          name: $0.defaultName, partitionCount: $0 == .defaults ? 1 : 3, replicationFactor: 1,
          // Documents are dated as the test's clock says, which is long ago.
          settings: settings + [("retention.ms", "-1")])
      }, timeoutMs: 10_000)
    for answer in answers { if let error = answer.error { throw error } }
  }

  struct Record: Equatable {
    var key: String
    var value: String?
    var timestampMs: Int64
  }

  /// Writes records by their keys, and waits until they are acknowledged.
  func write(_ records: [(key: String?, value: String?)], to role: TopicRole) throws {
    var properties = properties
    properties["partitioner"] = "murmur2_random"
    let producer = try KafkaProducer(properties: properties, onEvent: { _ in })
    defer { producer.close() }
    let topic = producer.topic(role.defaultName)
    for record in records {
      let key = record.key.map { Array($0.utf8) }
      let value = record.value.map { Array($0.utf8) }
      let refusal = withBytes(key) { key in
        withBytes(value) { producer.produce(to: topic, partition: nil, key: key, value: $0) }
      }
      if let refusal { throw producer.error(of: refusal, topic: topic) }
    }
    guard producer.flush(timeoutMs: 20_000), producer.deliveryFailures == 0 else {
      throw producer.lastDeliveryFailure
    }
  }

  private func withBytes<R>(_ bytes: [UInt8]?, _ body: (UnsafeRawBufferPointer?) -> R) -> R {
    guard let bytes else { return body(nil) }
    return bytes.withUnsafeBytes { body($0) }
  }

  /// Everything on a topic, partition by partition.
  func read(_ role: TopicRole) throws -> [Record] {
    var properties = properties
    properties["group.id"] = "test"
    properties["enable.partition.eof"] = "true"
    properties["auto.offset.reset"] = "error"
    let reader = try PartitionReader(
      topic: role.defaultName, properties: properties, onEvent: { _ in })
    let batch = RecordBatch(recordsMax: 1024)
    defer {
      batch.close()
      reader.close()
    }
    let count = try reader.partitionCount(timeoutMs: 10_000) ?? 0
    try reader.assignFromStart(Array(0..<count))
    var records: [Int32: [Record]] = [:]
    var ended: Set<Int32> = []
    while ended.count < Int(count) {
      reader.poll(batch, timeoutMs: 1000)
      for index in 0..<batch.count {
        let record = batch[index]
        if record.isRecord {
          records[record.partition, default: []].append(
            Record(
              key: record.key.map { String(decoding: $0, as: UTF8.self) } ?? "",
              value: record.value.map { String(decoding: $0, as: UTF8.self) },
              timestampMs: record.timestampMs))
        } else if record.isEndOfPartition {
          ended.insert(record.partition)
        } else {
          throw record.error
        }
      }
      batch.release()
    }
    return records.sorted { $0.key < $1.key }.flatMap(\.value)
  }
}

/// Lines of a test's service, to look at where it fails.
let quietLog = Logger(format: .json, levelMin: .error)
