import Broker
import Foundation
import Kafka
import Testing

@testable import sendgate

/// A record that is in flight must not make an abort wait out its time: it waits for the record's
/// report, which nobody but its caller serves.
@Test func anAbortWithARecordInFlightDoesNotWaitOutItsTime() throws {
  nonisolated(unsafe) let server = try BrokerServer(config: BrokerConfig(), port: 0)
  var plan = InjectionPlan()
  // Longer than the abort may take, so that the record is in flight throughout.
  plan.rules = [InjectionRule(.produce, .delay(ms: 4_000))]
  server.core.inject(plan)
  let stop = server.stop
  let bootstrap = "127.0.0.1:\(server.port)"
  let ended = DispatchSemaphore(value: 0)
  Thread.detachNewThread {
    server.run()
    ended.signal()
  }
  defer {
    stop()
    ended.wait()
  }
  let admin = try KafkaAdmin(
    properties: KafkaProperties(["bootstrap.servers": bootstrap]), onEvent: { _ in })
  _ = try admin.create(
    [NewTopic(name: "out", partitionCount: 1, replicationFactor: 1, settings: [])],
    timeoutMs: 10_000)
  admin.close()

  let producer = try KafkaProducer(
    properties: KafkaProperties([
      "bootstrap.servers": bootstrap, "transactional.id": "t", "linger.ms": "0",
    ]), onEvent: { _ in })
  defer { producer.close() }
  try producer.initTransactions(timeoutMs: 10_000)
  let topic = producer.topic("out")
  for attempt in 1...2 {
    try producer.beginTransaction()
    let refusal = Array("k".utf8).withUnsafeBytes {
      producer.produce(to: topic, partition: 0, key: $0, value: $0)
    }
    #expect(refusal == nil)
    // Long enough for it to be sent, not for an answer.
    #expect(!producer.flush(timeoutMs: 500), "attempt \(attempt): the record is not in flight")
    let start = ContinuousClock.now
    try producer.abortTransaction(timeoutMs: 5_000)
    let took = ContinuousClock.now - start
    #expect(took < .seconds(3), "attempt \(attempt): the abort took \(took)")
  }
}
