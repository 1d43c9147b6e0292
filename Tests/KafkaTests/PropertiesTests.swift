import CKafka
import Gate
import Testing

@testable import Consumer
@testable import Kafka
@testable import Producer

@Suite struct PropertiesTests {
  static func errorOf(_ properties: KafkaProperties) -> String? {
    do throws(ConfigurationError) {
      rd_kafka_conf_destroy(try properties.makeConf())
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test func anyPropertyPassesByItsOwnName() {
    let properties = KafkaProperties([
      "bootstrap.servers": "localhost:1", "linger.ms": "7", "socket.keepalive.enable": "true",
      "sasl.mechanisms": "PLAIN", "queued.min.messages": "5", "compression.type": "lz4",
    ])
    #expect(Self.errorOf(properties) == nil)
  }

  @Test func anUnknownPropertyIsNamed() {
    let text = Self.errorOf(KafkaProperties(["linger.millis": "5"]))
    #expect(
      text == "linger.millis: librdkafka \(KafkaProperties.libraryVersion) has no such property")
  }

  @Test(arguments: [("linger.ms", "soon"), ("acks", "9999999"), ("compression.type", "zip")])
  func aRefusedValueIsNamed(key: String, value: String) {
    let text = Self.errorOf(KafkaProperties([key: value])) ?? ""
    #expect(text.hasPrefix("\(key)=\(value): "), "\(text)")
  }

  @Test func secretsAreHidden() {
    let properties = KafkaProperties([
      "sasl.password": "hunter2", "ssl.key.password": "hunter2", "ssl.key.pem": "hunter2",
      "sasl.oauthbearer.client.secret": "hunter2", "sasl.oauthbearer.config": "hunter2",
      "ssl.keystore.password": "hunter2", "client.id": "gate",
    ])
    #expect(!"\(properties)".contains("hunter2"))
    #expect("\(properties)".contains("client.id=gate"))
    #expect("\(properties)".contains("sasl.password=[hidden]"))
    let error = ConfigurationError(key: "x", value: nil, reason: "y")
    #expect("\(error)" == "x: y")
  }

  @Test func requiredPropertiesCannotBeOverruled() {
    for (key, value) in [
      ("enable.auto.commit", "true"), ("isolation.level", "read_uncommitted"),
      ("auto.offset.reset", "earliest"), ("enable.auto.offset.store", "true"),
    ] {
      #expect(throws: ConfigurationError.self, "\(key)") {
        try LaneConsumerProperties.make(
          KafkaProperties([key: value]), groupID: "g", chosen: { _ in })
      }
    }
    #expect(throws: ConfigurationError.self) {
      try OutputProducerProperties.make(
        KafkaProperties(["enable.idempotence": "false"]), transactionalID: nil,
        transactionTimeoutMs: 1)
    }
  }

  @Test func theLaneTakesTheFetchSettingItsLibraryKnows() throws {
    var chosen = ""
    let properties = try LaneConsumerProperties.make(
      KafkaProperties([:]), groupID: "g", chosen: { chosen = $0 })
    if KafkaProperties.isKnown("fetch.queue.backoff.ms", value: "5") {
      #expect(properties["fetch.queue.backoff.ms"] == "5")
    } else {
      #expect(properties["queued.max.messages.kbytes"] == "262144")
      #expect(properties["queued.min.messages"] == "1000000")
    }
    #expect(!chosen.isEmpty)
    #expect(properties["partition.assignment.strategy"] == "cooperative-sticky")
    #expect(properties["isolation.level"] == "read_committed")
    #expect(properties["session.timeout.ms"] == nil)
    let short = try LaneConsumerProperties.make(
      KafkaProperties([:]), groupID: "g", sessionTimeoutMs: 10_000, chosen: { _ in })
    #expect(short["session.timeout.ms"] == "10000")
    let kept = try LaneConsumerProperties.make(
      KafkaProperties([
        "partition.assignment.strategy": "range", "queued.min.messages": "9",
        "session.timeout.ms": "7000",
      ]), groupID: "g", sessionTimeoutMs: 10_000, chosen: { _ in })
    #expect(kept["session.timeout.ms"] == "7000")
    #expect(kept["partition.assignment.strategy"] == "range")
    #expect(kept["queued.min.messages"] == "9")
  }

  @Test func whatLibrdkafkaRefusesAsAWholeIsAnErrorToo() {
    #expect(throws: ConfigurationError.self) {
      // A message may not outlive its transaction.
      _ = try KafkaProducer(
        properties: KafkaProperties([
          "transactional.id": "t", "transaction.timeout.ms": "1000", "message.timeout.ms": "5000",
        ]), onEvent: { _ in })
    }
    #expect(throws: ConfigurationError.self) {
      _ = try GroupConsumer(topic: "t", properties: KafkaProperties([:]), onEvent: { _ in })
    }
  }

  @Test func workersHaveTransactionalIDsOfTheirOwn() {
    let ids = [("a", 0), ("a", 1), ("b", 0)].flatMap { instance, worker in
      [
        OutputProducerProperties.transactionalID(
          group: "g", instance: instance, lane: .ordinary, worker: worker),
        OutputProducerProperties.transactionalID(
          group: "g", instance: instance, lane: .security, worker: worker),
      ]
    }
    #expect(Set(ids).count == ids.count)
  }
}
