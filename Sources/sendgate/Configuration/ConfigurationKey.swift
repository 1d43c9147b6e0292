import Kafka
import Pipeline
import Web

/// One key of the configuration: its name, what it may be, and what it is when nobody sets it.
struct ConfigurationKey: Sendable {
  enum Kind: Sendable {
    case integer(ClosedRange<Int>)
    /// Empty for none.
    case optionalInteger(ClosedRange<Int>)
    case choice([String])
    case boolean
    /// A name that Kafka takes for a topic.
    case topic
    /// Letters, digits, dot, underscore and dash: it becomes part of ids that Kafka compares.
    case identifier
    /// An address and port to listen on; empty for none.
    case optionalAddress
    /// Addresses and networks, with commas between; empty for none.
    case optionalNetworks
    /// Empty for none.
    case optionalPath
    /// Whatever it is, somebody else judges it; empty for none.
    case optionalText
    /// Where a browser finds this installation: what links begin with. Empty for none.
    case optionalWebAddress
  }

  let name: String
  let defaultValue: String
  let kind: Kind

  init(_ name: String, _ defaultValue: String, _ kind: Kind) {
    self.name = name
    self.defaultValue = defaultValue
    self.kind = kind
  }

  /// `SENDGATE_COMMIT_INTERVAL_MS` for `commit.interval.ms`.
  var environmentName: String { Self.environmentName(name) }

  static func environmentName(_ key: String) -> String {
    "SENDGATE_" + key.uppercased().map { $0 == "." || $0 == "-" ? "_" : String($0) }.joined()
  }

  /// Nil where the value is good, else what is wanted instead.
  func problem(_ value: String) -> String? {
    switch kind {
    case .optionalInteger, .optionalAddress, .optionalNetworks, .optionalPath, .optionalText,
      .optionalWebAddress:
      if value.isEmpty { return nil }
    default: break
    }
    switch kind {
    case .integer(let range), .optionalInteger(let range):
      if let number = Int(value), range.contains(number) { return nil }
      return "wants a whole number from \(range.lowerBound) to \(range.upperBound)"
    case .choice(let choices):
      return choices.contains(value) ? nil : "wants one of \(choices.joined(separator: ", "))"
    case .boolean:
      return value == "true" || value == "false" ? nil : "wants true or false"
    case .topic:
      return Self.topicProblem(value)
    case .identifier:
      let isGood = (1...128).contains(value.utf8.count) && Self.isPlain(value)
      return isGood ? nil : "wants 1 to 128 letters, digits, '.', '_' or '-'"
    case .optionalAddress:
      return ListenAddress(value) == nil
        ? "wants ADDRESS:PORT with a numeric address, as 127.0.0.1:9100 or [::1]:9100; a name"
          + " such as localhost is not looked up" : nil
    case .optionalNetworks:
      return TrustedProxies(value) == nil
        ? "wants at most \(TrustedProxies.countMax) numeric addresses or networks with commas"
          + " between, as 127.0.0.1,10.0.0.0/8,2001:db8::/32; a network has no bits set behind its"
          + " length" : nil
    case .optionalPath:
      return value.utf8.contains(0) ? "wants a path" : nil
    case .optionalText:
      return nil
    case .optionalWebAddress:
      return WebAddress.problem(value)
    }
  }

  static func topicProblem(_ name: String) -> String? {
    guard (1...249).contains(name.utf8.count), isPlain(name), name != ".", name != ".." else {
      return "wants a topic name: 1 to 249 letters, digits, '.', '_' or '-', not '.' or '..'"
    }
    return nil
  }

  private static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy {
      switch $0 {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
      default: false
      }
    }
  }
}

extension ConfigurationKey {
  /// Every key of the gate's and the preference service's own, in the order of deploy/sendgate.properties, which explains each.
  /// Beside them there is `kafka.*`, which is librdkafka's.
  static let all: [ConfigurationKey] =
    lanes + release + unsubscribe + topicNames + operation + service

  /// The key of each topic's name.
  static let topics: [(role: TopicRole, key: String)] = [
    (.candidate, "topics.candidate"),
    (.candidateSecurity, "topics.candidate.security"),
    (.approved, "topics.approved"),
    (.deferred, "topics.deferred"),
    (.dropped, "topics.dropped"),
    (.receipts, "topics.receipts"),
    (.state, "topics.state"),
    (.stateSecurity, "topics.state.security"),
    (.preferences, "topics.preferences.state"),
    (.defaults, "topics.preferences.defaults"),
    (.preferenceEvents, "topics.preferences.events"),
    (.audit, "topics.preferences.audit"),
  ]

  private static let topicNames = topics.map {
    ConfigurationKey($0.key, $0.role.defaultName, .topic)
  }

  private static let lanes: [ConfigurationKey] = [
    ConfigurationKey("group.id", "sendgate", .identifier),
    ConfigurationKey("instance.id", "", .identifier),
    ConfigurationKey("workers", "1", .integer(1...64)),
    ConfigurationKey("delivery", "exactly_once", .choice(["exactly_once", "at_least_once"])),
    ConfigurationKey("commit.interval.ms", "100", .integer(1...60_000)),
    ConfigurationKey("security.commit.interval.ms", "10", .integer(1...60_000)),
    ConfigurationKey("transaction.timeout.ms", "10000", .integer(1000...900_000)),
    ConfigurationKey("batch.records.max", "4096", .integer(1...100_000)),
    ConfigurationKey("drain.timeout.ms", "20000", .integer(1000...600_000)),
    ConfigurationKey("broker.wait.timeout.ms", "", .optionalInteger(1...86_400_000)),
    ConfigurationKey("partitions.check.interval.ms", "10000", .integer(100...3_600_000)),

    ConfigurationKey("policy.file", "", .optionalPath),
    ConfigurationKey("zones.check.interval.ms", "60000", .integer(1000...86_400_000)),
    ConfigurationKey("preferences.scope", "all", .choice(["all"])),
    ConfigurationKey("hash.key.file", "", .optionalPath),

  ]

  private static let release: [ConfigurationKey] = [
    ConfigurationKey("release.spread_seconds", "120", .integer(0...86_400)),
    ConfigurationKey(
      "release.apns_per_second", "5000", .optionalInteger(1...Int(TokenBucket.rateMax))),
    ConfigurationKey(
      "release.fcm_per_second", "5000", .optionalInteger(1...Int(TokenBucket.rateMax))),
    ConfigurationKey(
      "release.payload_bytes_max", "1073741824", .integer(1_048_576...1_099_511_627_776)),
  ]

  private static let unsubscribe: [ConfigurationKey] = [
    ConfigurationKey("unsubscribe.base_url", "", .optionalWebAddress),
    ConfigurationKey("unsubscribe.keys_file", "", .optionalPath),
    ConfigurationKey("unsubscribe.lifetime_days", "180", .integer(1...3650)),
  ]

  private static let operation: [ConfigurationKey] = [
    ConfigurationKey("topics.create.partitions", "8", .integer(1...10_000)),
    ConfigurationKey("topics.create.partitions.security", "4", .integer(1...10_000)),
    ConfigurationKey("topics.create.replication.factor", "3", .integer(1...32)),

    ConfigurationKey("http.address", "", .optionalAddress),
    ConfigurationKey("http.allow.remote", "false", .boolean),
    ConfigurationKey("liveness.timeout.ms", "60000", .integer(1000...3_600_000)),
    ConfigurationKey("optout.leak.objective.ms", "2000", .integer(1...3_600_000)),
    ConfigurationKey("log.format", "auto", .choice(["auto", "json", "text"])),
    ConfigurationKey("log.level", "info", .choice(["debug", "info", "warning", "error"])),
  ]
}
