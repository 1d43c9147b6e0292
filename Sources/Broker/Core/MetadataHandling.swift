extension BrokerCore {
  func metadata(_ request: MetadataRequest, _ client: Client) -> MetadataResponse {
    var response = MetadataResponse()
    var broker = MetadataBroker()
    broker.nodeId = config.nodeId
    broker.host = config.host
    broker.port = config.port
    response.brokers = [broker]
    response.clusterId = config.clusterId
    response.controllerId = config.nodeId
    let all = request.topics == nil || (client.version == 0 && request.topics?.isEmpty == true)
    if all {
      response.topics = topics.keys.sorted().map { describe(topics[$0]!) }
    } else {
      let create = config.autoCreateTopics && request.allowAutoTopicCreation
      response.topics = request.topics!.map { describe($0.name, create: create) }
    }
    return response
  }

  private func describe(_ name: String, create: Bool) -> MetadataTopic {
    if let topic = topics[name] { return describe(topic) }
    if create, Topic.isLegal(name) {
      return describe(addTopic(name, partitions: config.defaultPartitions, settings: [:]))
    }
    var unknown = MetadataTopic()
    unknown.name = name
    unknown.error = Topic.isLegal(name) ? .unknownTopicOrPartition : .invalidTopicException
    return unknown
  }

  private func describe(_ topic: Topic) -> MetadataTopic {
    var result = MetadataTopic()
    result.name = topic.name
    result.partitions = topic.partitions.map { partition in
      var item = MetadataPartition()
      item.index = partition.name.index
      item.leaderId = config.nodeId
      item.replicaNodes = [config.nodeId]
      item.isrNodes = [config.nodeId]
      return item
    }
    return result
  }

  func findCoordinator(_ request: FindCoordinatorRequest) -> FindCoordinatorResponse {
    var response = FindCoordinatorResponse()
    guard request.keyType == 0 || request.keyType == 1 else {
      response.error = .invalidRequest
      response.nodeId = -1
      response.port = -1
      return response
    }
    response.nodeId = config.nodeId
    response.host = config.host
    response.port = config.port
    return response
  }
}
