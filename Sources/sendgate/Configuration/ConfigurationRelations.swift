import Web

/// What must hold between settings. Each relation names both sides with their values.
enum ConfigurationRelations {
  /// librdkafka's own defaults, which count where the property is not set.
  static let sessionTimeoutMsDefault = 45_000
  static let maxPollIntervalMsDefault = 300_000

  /// Every single value has been checked before.
  static func problems(_ settings: Settings) -> [String] {
    var problems: [String] = []
    func ms(_ key: String, default value: Int? = nil) -> Int? {
      guard let setting = settings.byKey[key] else { return value }
      guard let number = Int(setting.value) else {
        problems.append("\(settings.describe(key)): wants a whole number")
        return nil
      }
      return number
    }
    func require(_ holds: Bool, _ a: String, _ relation: String, _ b: String, _ why: String) {
      if holds { return }
      problems.append(
        "\(settings.describe(a)) must be \(relation) \(settings.describe(b)): \(why)")
    }

    let transaction = ms("transaction.timeout.ms")!
    for key in ["commit.interval.ms", "security.commit.interval.ms"] {
      require(
        transaction >= 10 * ms(key)!, "transaction.timeout.ms", "at least 10 times", key,
        "a commit that is late a few times over must not end the transaction")
    }
    if let message = ms("kafka.message.timeout.ms") {
      // Zero stands for no limit in librdkafka.
      require(
        message > 0 && message < transaction, "kafka.message.timeout.ms", "above 0 and below",
        "transaction.timeout.ms", "a record must have failed before its transaction does")
    }
    require(
      ms("liveness.timeout.ms")! > transaction, "liveness.timeout.ms", "above",
      "transaction.timeout.ms", "a commit may take as long as the transaction lasts")
    if let session = ms("kafka.session.timeout.ms", default: sessionTimeoutMsDefault) {
      require(
        ms("drain.timeout.ms")! < session, "drain.timeout.ms", "below", "kafka.session.timeout.ms",
        "a gate that drains must leave its group before it is thrown out (default"
          + " \(sessionTimeoutMsDefault))")
    }
    if let poll = ms("kafka.max.poll.interval.ms", default: maxPollIntervalMsDefault) {
      require(
        transaction < poll, "transaction.timeout.ms", "below", "kafka.max.poll.interval.ms",
        "the loop waits for a commit that long and must still poll in time (default"
          + " \(maxPollIntervalMsDefault))")
    }
    require(
      ms("topics.create.partitions.security")! <= ms("topics.create.partitions")!,
      "topics.create.partitions.security", "at most", "topics.create.partitions",
      "preferences are read by the same partition numbers")
    problems += topicProblems(settings) + addressProblems(settings) + linkProblems(settings)
    return problems
  }

  /// Two topics of one name, or of names that Kafka's metrics cannot tell apart.
  private static func topicProblems(_ settings: Settings) -> [String] {
    var problems: [String] = []
    var seen: [String: String] = [:]
    for key in ConfigurationKey.all {
      guard case .topic = key.kind, let name = settings.byKey[key.name]?.value else { continue }
      let folded = String(name.map { $0 == "_" ? "." : $0 })
      if let other = seen[folded] {
        problems.append(
          "\(settings.describe(key.name)) collides with \(settings.describe(other)): each topic"
            + " needs its own name, '.' and '_' counting as the same")
      }
      seen[folded] = key.name
    }
    return problems
  }

  private static func linkProblems(_ settings: Settings) -> [String] {
    let (address, keys) = ("unsubscribe.base_url", "unsubscribe.keys_file")
    for (set, missing) in [(address, keys), (keys, address)]
    where !settings.byKey[set]!.value.isEmpty && settings.byKey[missing]!.value.isEmpty {
      return ["\(settings.describe(set)) is of no use without \(missing): set both, or neither"]
    }
    return []
  }

  private static func addressProblems(_ settings: Settings) -> [String] {
    guard let address = ListenAddress(settings.byKey["http.address"]!.value),
      !address.isLoopback, settings.byKey["http.allow.remote"]!.value != "true"
    else { return [] }
    return [
      "\(settings.describe("http.address")) can be reached from other machines, and the pages ask"
        + " for no password: set http.allow.remote=true if that is meant"
    ]
  }
}
