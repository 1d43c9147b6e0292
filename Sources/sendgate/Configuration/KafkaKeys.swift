import Kafka

/// What is passed to librdkafka under `kafka.`, by librdkafka's own names, and the few of them that
/// the gate keeps for itself.
enum KafkaKeys {
  static let prefix = "kafka."
  static let bootstrapServers = "kafka.bootstrap.servers"

  /// Properties that exactly-once rests on. Setting them is refused rather than overridden: whoever
  /// set one expects it to count.
  static let reserved: [String: String] = [
    "group.id": "set group.id instead; the security lane's group is derived from it",
    "group.instance.id": "set instance.id instead",
    "transactional.id": "it is made of group.id and instance.id",
    "transaction.timeout.ms": "set transaction.timeout.ms instead",
    "enable.idempotence": "transactions need it on",
    "enable.auto.commit": "offsets are committed with the decisions, never on their own",
    "auto.commit.interval.ms": "offsets are committed with the decisions, never on their own",
    "enable.auto.offset.store": "offsets are committed with the decisions, never on their own",
    "auto.offset.reset": "an offset out of range must stop the gate, never skip records",
    "isolation.level": "every reader reads what is committed, and only that",
    "enable.partition.eof": "the gate needs it on where it reads to an end",
    "partitioner": "keys must hash to the same partition for every producer",
    "allow.auto.create.topics":
      "topics are made by sendgate topics create, with the right settings",
  ]

  /// Nil where `name` (without the prefix) may be set, else why not.
  static func problem(_ name: String) -> String? {
    if let reason = reserved[name] { return "is the gate's own: \(reason)" }
    let isGood =
      !name.isEmpty
      && name.utf8.allSatisfy {
        switch $0 {
        case 0x30...0x39, 0x61...0x7A, 0x2E, 0x5F: true
        default: false
        }
      }
    return isGood ? nil : "is no librdkafka property: those are lower case with dots"
  }

  /// `kafka.sasl.password` for `SENDGATE_KAFKA_SASL_PASSWORD`. librdkafka's names have dots where the
  /// environment has underscores, but for one.
  static func key(environmentName: String) -> String? {
    let start = "SENDGATE_KAFKA_"
    guard environmentName.hasPrefix(start), environmentName != start else { return nil }
    let name = environmentName.dropFirst(start.count).lowercased()
    if name == "log_level" { return prefix + name }
    return prefix + name.map { $0 == "_" ? "." : String($0) }.joined()
  }
}

/// Settings whose values never leave the process.
enum Secret {
  static let shown = "<hidden>"

  static func isSecret(_ key: String) -> Bool {
    // Connection parameters may hold a password.
    key == "serve.database.postgres" || KafkaProperties.isSecret(key.lowercased())
  }

  static func shown(_ value: String, of key: String) -> String {
    // That a secret is empty is no secret, and is the usual mistake.
    isSecret(key) && !value.isEmpty ? shown : value
  }
}
