import Testing

@testable import Broker

@Suite struct AdminTests {
  @Test func topicsAreCheckedWhenMade() {
    let sim = Sim()
    #expect(sim.topic("t") == .none)
    #expect(sim.topic("t") == .topicAlreadyExists)
    #expect(sim.topic("no/slash") == .invalidTopicException)
    #expect(sim.topic("u", partitions: 0) == .invalidPartitions)
    #expect(sim.topic("u", ["no.such": "1"]) == .invalidConfig)
    #expect(sim.topic("u", ["retention.ms": "soon"]) == .invalidConfig)
    #expect(sim.core.topics["u"] == nil)
  }

  @Test(arguments: [false, true])
  func topicsAreMadeOnDemandOnlyWhenSo(auto: Bool) {
    let sim = Sim { $0.autoCreateTopics = auto }
    func ask(_ allow: Bool) -> ErrorCode {
      var request = MetadataRequest()
      var name = MetadataTopicName()
      name.name = "t"
      request.topics = [name]
      request.allowAutoTopicCreation = allow
      guard case .metadata(let r) = sim.call(.metadata(request)) else { fatalError() }
      return r.topics[0].error
    }
    #expect(ask(false) == .unknownTopicOrPartition)
    #expect(ask(true) == (auto ? .none : .unknownTopicOrPartition))
    #expect(ask(false) == (auto ? .none : .unknownTopicOrPartition))
  }

  @Test func partitionsOnlyGrow() {
    let sim = Sim()
    sim.topic(partitions: 2)
    func grow(_ count: Int32, _ name: String = "t") -> ErrorCode {
      var request = CreatePartitionsRequest()
      var topic = CreatePartitionsTopic()
      (topic.name, topic.count) = (name, count)
      request.topics = [topic]
      guard case .createPartitions(let r) = sim.call(.createPartitions(request)) else {
        fatalError()
      }
      return r.topics[0].error
    }
    #expect(grow(2) == .invalidPartitions)
    #expect(grow(1) == .invalidPartitions)
    #expect(grow(3, "none") == .unknownTopicOrPartition)
    #expect(grow(3) == .none)
    #expect(sim.produce(sim.batch(["x"]), to: "t", 2).error == .none)
  }

  @Test func settingsTakeEffect() {
    let sim = Sim()
    sim.topic()
    func set(_ name: String, _ value: String?, _ operation: Int8) -> ErrorCode {
      var request = IncrementalAlterConfigsRequest()
      var resource = IncrementalResource()
      (resource.type, resource.name) = (2, "t")
      var item = IncrementalConfig()
      (item.name, item.operation, item.value) = (name, operation, value)
      resource.configs = [item]
      request.resources = [resource]
      guard case .incrementalAlterConfigs(let r) = sim.call(.incrementalAlterConfigs(request))
      else { fatalError() }
      return r.resources[0].error
    }
    func value(_ name: String) -> (String?, Int8) {
      var request = DescribeConfigsRequest()
      var resource = DescribeConfigsResource()
      (resource.type, resource.name, resource.keys) = (2, "t", [name])
      request.resources = [resource]
      guard case .describeConfigs(let r) = sim.call(.describeConfigs(request)) else {
        fatalError()
      }
      return (r.results[0].configs[0].value, r.results[0].configs[0].source)
    }
    #expect(sim.produce(sim.batch([String(repeating: "x", count: 100)])).error == .none)
    #expect(set("max.message.bytes", "100", 0) == .none)
    #expect(
      sim.produce(sim.batch([String(repeating: "x", count: 100)])).error == .messageTooLarge)
    #expect(value("max.message.bytes") == ("100", 1))
    #expect(set("max.message.bytes", nil, 1) == .none)
    #expect(value("max.message.bytes") == ("1048588", 5))
    #expect(set("cleanup.policy", "compact", 2) == .none)
    #expect(value("cleanup.policy") == ("delete,compact", 1))
    #expect(set("max.message.bytes", "-5", 0) == .invalidConfig)
  }
}
