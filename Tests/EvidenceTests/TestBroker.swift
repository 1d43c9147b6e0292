import Broker
import Glibc
import Kafka
import Pipeline
import TestSupport

/// A broker of the test's own.
final class TestBroker {
  private let folder = TemporaryFolder()
  private let port: UInt16
  private let stopper: BrokerServer.Stopper
  private let thread: NamedThread

  var properties: KafkaProperties {
    KafkaProperties([
      "bootstrap.servers": "127.0.0.1:\(port)", "reconnect.backoff.ms": "10",
      "reconnect.backoff.max.ms": "50",
    ])
  }

  init() throws {
    let disk = FolderDisk(root: folder.file("broker")) { preconditionFailure($0) }
    nonisolated(unsafe) let server = try BrokerServer(config: BrokerConfig(), disk: disk, port: 0)
    port = UInt16(server.port)
    stopper = server.stop
    thread = NamedThread(name: "test-broker") { server.run() }
  }

  deinit {
    stopper()
    thread.join()
  }

  func create(
    _ topics: [TopicRole] = [.approved, .deferred, .dropped, .receipts, .preferences]
  ) throws {
    let admin = try KafkaAdmin(properties: properties, onEvent: { _ in })
    defer { admin.close() }
    let answers = try admin.create(
      topics.map {
        NewTopic(
          name: $0.defaultName, partitionCount: 3, replicationFactor: 1, settings: [])
      }, timeoutMs: 10_000)
    for answer in answers { if let error = answer.error { throw error } }
  }

  /// Writes records to the three partitions in turn, and waits until they are acknowledged.
  func write(_ records: [(key: String?, value: String?)], to role: TopicRole) throws {
    let producer = try KafkaProducer(properties: properties, onEvent: { _ in })
    defer { producer.close() }
    let topic = producer.topic(role.defaultName)
    for (number, record) in records.enumerated() {
      let key = record.key.map { Array($0.utf8) }
      let value = record.value.map { Array($0.utf8) }
      let refusal = borrowed(key) { key in
        borrowed(value) {
          producer.produce(to: topic, partition: Int32(number % 3), key: key, value: $0)
        }
      }
      if let refusal { throw producer.error(of: refusal, topic: topic) }
    }
    guard producer.flush(timeoutMs: 20_000), producer.deliveryFailures == 0 else {
      throw producer.lastDeliveryFailure
    }
  }

  private func borrowed<R>(_ bytes: [UInt8]?, _ body: (UnsafeRawBufferPointer?) -> R) -> R {
    guard let bytes else { return body(nil) }
    return bytes.withUnsafeBytes { body($0) }
  }
}

struct TookTooLong: Error { var what: String }

/// Waits until it is so; throws where no machine is that slow, so that a test ends that hangs.
func wait(for what: String, _ isSo: () throws -> Bool) throws {
  let clock = SystemClock()
  let untilMs = clock.monotonicMs() + 120_000
  while try !isSo() {
    guard clock.monotonicMs() < untilMs else { throw TookTooLong(what: what) }
    clock.sleep(ms: 5)
  }
}
