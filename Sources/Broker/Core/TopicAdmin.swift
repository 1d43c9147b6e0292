extension BrokerCore {
  func addTopic(_ name: String, partitions: Int32, settings: [String: String]) -> Topic {
    let topic = Topic(name: name, settings: settings, defaults: config.topicDefaults)
    for index in 0..<partitions {
      topic.partitions.append(Partition(name: TopicPartition(name, index), disk: disk))
    }
    topics[name] = topic
    journal?.write(.topic(TopicEntry(topic)))
    return topic
  }

  func createTopics(_ request: CreateTopicsRequest) -> CreateTopicsResponse {
    var response = CreateTopicsResponse()
    var counts: [String: Int] = [:]
    for topic in request.topics { counts[topic.name, default: 0] += 1 }
    for wanted in request.topics where counts[wanted.name] != 0 {
      var result = CreatedTopic()
      result.name = wanted.name
      if counts[wanted.name]! > 1 {
        counts[wanted.name] = 0
        result.error = .invalidRequest
        result.errorMessage = "Duplicate topic name."
      } else {
        create(wanted, validateOnly: request.validateOnly, &result)
      }
      response.topics.append(result)
    }
    return response
  }

  private func create(_ wanted: CreatableTopic, validateOnly: Bool, _ result: inout CreatedTopic) {
    func fail(_ code: ErrorCode, _ message: String) {
      result.error = code
      result.errorMessage = message
    }
    if topics[wanted.name] != nil {
      return fail(.topicAlreadyExists, "Topic '\(wanted.name)' already exists.")
    }
    guard Topic.isLegal(wanted.name) else {
      return fail(.invalidTopicException, "Topic name is invalid: '\(wanted.name)'")
    }
    var count = wanted.partitionCount == -1 ? config.defaultPartitions : wanted.partitionCount
    if wanted.assignments.isEmpty {
      guard count > 0 else {
        return fail(.invalidPartitions, "Number of partitions must be larger than 0.")
      }
      guard wanted.replicationFactor == 1 || wanted.replicationFactor == -1 else {
        let code = ErrorCode.invalidReplicationFactor
        return fail(code, "There is one broker, so the replication factor can only be 1.")
      }
    } else {
      let indices = wanted.assignments.map(\.partition).sorted()
      let here = wanted.assignments.allSatisfy { $0.brokers == [config.nodeId] }
      guard here, indices == Array(0..<Int32(indices.count)) else {
        return fail(.invalidReplicaAssignment, "Each partition must be on broker \(config.nodeId).")
      }
      count = Int32(indices.count)
    }
    guard count <= 10_000 else {
      return fail(.policyViolation, "Unable to perform excessively large batch operation.")
    }
    var settings: [String: String] = [:]
    for item in wanted.configs {
      guard let value = item.value else {
        return fail(.invalidConfig, "Null value not supported for topic config '\(item.name)'.")
      }
      settings[item.name] = value
    }
    if let wrong = faultInSettings(settings) { return fail(.invalidConfig, wrong) }
    if !validateOnly { _ = addTopic(wanted.name, partitions: count, settings: settings) }
    result.partitionCount = count
    result.replicationFactor = 1
    result.configs = TopicSetting.all.keys.sorted().map { name in
      var item = CreatedConfig()
      (item.name, item.value) = (name, settings[name] ?? inherited(name).value)
      item.source = settings[name] != nil ? 1 : inherited(name).source
      return item
    }
  }

  func faultInSettings(_ settings: [String: String]) -> String? {
    for (name, value) in settings.sorted(by: { $0.key < $1.key }) {
      guard let setting = TopicSetting.all[name] else {
        return "Unknown topic config name: \(name)"
      }
      if !setting.kind.accepts(value) { return "Invalid value \(value) for configuration \(name)" }
    }
    return nil
  }

  func inherited(_ name: String) -> (value: String, source: Int8) {
    if let value = config.topicDefaults[name] { return (value, 4) }
    return (TopicSetting.all[name]!.standard, 5)
  }

  func deleteTopics(_ request: DeleteTopicsRequest) -> DeleteTopicsResponse {
    var response = DeleteTopicsResponse()
    for name in request.names {
      var result = DeletedTopic()
      result.name = name
      if let topic = topics.removeValue(forKey: name) {
        // The journal first: files without a topic are removed on the next start.
        journal?.write(.topicDeleted(NameEntry(name)))
        for partition in topic.partitions {
          partition.log.removeFiles()
          changed.append(partition)
        }
        forgetOffsets { $0.topic == name }
      } else {
        result.error = .unknownTopicOrPartition
      }
      response.topics.append(result)
    }
    return response
  }

  func createPartitions(_ request: CreatePartitionsRequest) -> CreatePartitionsResponse {
    var response = CreatePartitionsResponse()
    for wanted in request.topics {
      var result = CreatedPartitions()
      result.name = wanted.name
      defer { response.topics.append(result) }
      guard let topic = topics[wanted.name] else {
        result.error = .unknownTopicOrPartition
        continue
      }
      let now = Int32(topic.partitions.count)
      if wanted.count <= now {
        result.error = .invalidPartitions
        result.errorMessage =
          wanted.count == now
          ? "Topic already has \(now) partitions."
          : "The topic \(wanted.name) currently has \(now) partition(s); "
            + "\(wanted.count) would not be an increase."
        continue
      }
      if wanted.count > 10_000 {
        result.error = .invalidPartitions
        continue
      }
      if let assignments = wanted.assignments,
        assignments.count != wanted.count - now
          || assignments.contains(where: { $0.brokers != [config.nodeId] })
      {
        result.error = .invalidReplicaAssignment
        continue
      }
      if request.validateOnly { continue }
      for index in now..<wanted.count {
        topic.partitions.append(Partition(name: TopicPartition(topic.name, index), disk: disk))
      }
      journal?.write(.topic(TopicEntry(topic)))
    }
    return response
  }

  func deleteRecords(_ request: DeleteRecordsRequest) -> DeleteRecordsResponse {
    var response = DeleteRecordsResponse()
    for topic in request.topics {
      var deleted = DeletedRecordsTopic()
      deleted.name = topic.name
      for wanted in topic.partitions {
        var result = DeletedRecordsPartition()
        result.index = wanted.index
        deleteRecords(topic.name, wanted, &result)
        deleted.partitions.append(result)
      }
      response.topics.append(deleted)
    }
    return response
  }

  private func deleteRecords(
    _ name: String, _ wanted: DeleteRecordsPartition, _ result: inout DeletedRecordsPartition
  ) {
    guard let topic = topics[name], let partition = partition(name, wanted.index) else {
      result.error = .unknownTopicOrPartition
      return
    }
    guard topic.limits.deletes else {
      result.error = .policyViolation
      return
    }
    let log = partition.log
    let offset = wanted.offset == -1 ? log.endOffset : wanted.offset
    guard (0...log.endOffset).contains(offset) else {
      result.error = .offsetOutOfRange
      return
    }
    moveStart(partition, to: offset)
    result.lowWatermark = log.startOffset
  }

  func moveStart(_ partition: Partition, to offset: Int64) {
    guard offset > partition.log.startOffset else { return }
    journal?.write(.logStart(LogStartEntry(partition.name, offset)))
    partition.log.advanceStart(to: offset)
    changed.append(partition)
  }
}
