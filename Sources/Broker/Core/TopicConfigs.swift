/// Resource types of the configuration requests.
private let topicResource: Int8 = 2
private let brokerResource: Int8 = 4

extension BrokerCore {
  func describeConfigs(_ request: DescribeConfigsRequest) -> DescribeConfigsResponse {
    var response = DescribeConfigsResponse()
    for resource in request.resources {
      var result = DescribedConfigs()
      (result.type, result.name) = (resource.type, resource.name)
      func wanted(_ name: String) -> Bool { resource.keys?.contains(name) ?? true }
      switch resource.type {
      case topicResource:
        if let topic = topics[resource.name] {
          result.configs = TopicSetting.all.keys.sorted().filter(wanted).map {
            describe($0, of: topic, synonyms: request.includeSynonyms)
          }
        } else {
          result.error =
            Topic.isLegal(resource.name) ? .unknownTopicOrPartition : .invalidTopicException
        }
      case brokerResource:
        result.configs = brokerSettings.filter { wanted($0.name) }.map { setting in
          var item = DescribedConfig()
          (item.name, item.value) = setting
          item.readOnly = true
          item.source = 4
          item.type = 2
          return item
        }
      default:
        result.error = .invalidRequest
        result.errorMessage = "Only topics and brokers have settings here"
      }
      response.results.append(result)
    }
    return response
  }

  private func describe(_ name: String, of topic: Topic, synonyms: Bool) -> DescribedConfig {
    var item = DescribedConfig()
    let inherited = inherited(name)
    item.name = name
    item.value = topic.settings[name] ?? inherited.value
    item.source = topic.settings[name] != nil ? 1 : inherited.source
    item.isDefault = topic.settings[name] == nil
    item.type = TopicSetting.all[name]!.kind.wireType
    guard synonyms else { return item }
    func synonym(_ value: String, _ source: Int8) -> ConfigSynonym {
      var synonym = ConfigSynonym()
      (synonym.name, synonym.value, synonym.source) = (name, value, source)
      return synonym
    }
    if let own = topic.settings[name] { item.synonyms.append(synonym(own, 1)) }
    if inherited.source == 4 { item.synonyms.append(synonym(inherited.value, 4)) }
    item.synonyms.append(synonym(TopicSetting.all[name]!.standard, 5))
    return item
  }

  private var brokerSettings: [(name: String, value: String?)] {
    [
      ("auto.create.topics.enable", config.autoCreateTopics ? "true" : "false"),
      ("default.replication.factor", "1"),
      ("group.initial.rebalance.delay.ms", String(config.groupInitialRebalanceDelayMs)),
      ("group.max.session.timeout.ms", String(config.groupMaxSessionTimeoutMs)),
      ("group.min.session.timeout.ms", String(config.groupMinSessionTimeoutMs)),
      ("message.max.bytes", inherited("max.message.bytes").value),
      ("num.partitions", String(config.defaultPartitions)),
      ("transaction.max.timeout.ms", String(config.transactionMaxTimeoutMs)),
    ]
  }

  func alterConfigs(_ request: AlterConfigsRequest) -> AlterConfigsResponse {
    var response = AlterConfigsResponse()
    for resource in request.resources {
      var settings: [String: String] = [:]
      for item in resource.configs { settings[item.name] = item.value }
      response.resources.append(
        alter(resource.type, resource.name, validateOnly: request.validateOnly) { _ in settings })
    }
    return response
  }

  func incrementalAlterConfigs(_ request: IncrementalAlterConfigsRequest) -> AlterConfigsResponse {
    var response = AlterConfigsResponse()
    for resource in request.resources {
      response.resources.append(
        alter(resource.type, resource.name, validateOnly: request.validateOnly) { topic in
          var settings = topic.settings
          for item in resource.configs { change(&settings, item) }
          return settings
        })
    }
    return response
  }

  private func change(_ settings: inout [String: String], _ item: IncrementalConfig) {
    let current =
      settings[item.name] ?? TopicSetting.all[item.name].map { _ in inherited(item.name).value }
    var list = (current ?? "").split(separator: ",").map(String.init)
    let values = (item.value ?? "").split(separator: ",").map(String.init)
    switch item.operation {
    case 0: settings[item.name] = item.value
    case 1: settings[item.name] = nil
    case 2:
      for value in values where !list.contains(value) { list.append(value) }
      settings[item.name] = list.joined(separator: ",")
    default:
      list.removeAll(where: values.contains)
      settings[item.name] = list.joined(separator: ",")
    }
  }

  private func alter(
    _ type: Int8, _ name: String, validateOnly: Bool, _ change: (Topic) -> [String: String]
  ) -> AlteredResource {
    var result = AlteredResource()
    (result.type, result.name) = (type, name)
    guard type == topicResource else {
      result.error = .invalidRequest
      result.errorMessage = "Only the settings of topics can be changed"
      return result
    }
    guard let topic = topics[name] else {
      result.error = .unknownTopicOrPartition
      return result
    }
    let settings = change(topic)
    if let wrong = faultInSettings(settings) {
      result.error = .invalidConfig
      result.errorMessage = wrong
      return result
    }
    if !validateOnly {
      topic.settings = settings
      topic.limits = TopicLimits(own: settings, defaults: config.topicDefaults)
      journal?.write(.topic(TopicEntry(topic)))
    }
    return result
  }
}
