import Gate
import Kafka
import Telemetry
import Web

/// How long things may take and how they are named: everything that an operator sets, read and
/// checked whole before anything starts.
struct GateConfiguration: Sendable {
  enum Delivery: String, Sendable {
    case exactlyOnce = "exactly_once"
    case atLeastOnce = "at_least_once"
  }

  enum LogStyle: String, Sendable {
    case auto, json, text
  }

  /// librdkafka's properties by its own names, `bootstrap.servers` among them.
  let kafka: [String: String]
  let groupID: String
  /// Stable across restarts: it is part of the transactional id, by which a successor fences this
  /// process.
  let instanceID: String
  let workers: Int
  let delivery: Delivery
  let commitIntervalMs: Int
  let securityCommitIntervalMs: Int
  let transactionTimeoutMs: Int
  let batchRecordsMax: Int
  let drainTimeoutMs: Int
  /// How long to wait for a broker at start; nil: as long as it takes.
  let brokerWaitTimeoutMs: Int?
  let partitionsCheckIntervalMs: Int
  /// Nil: the built-in policy.
  let policyFile: String?
  let zonesCheckIntervalMs: Int
  /// Nil: a hash key for the life of the process.
  let hashKeyFile: String?
  /// Over how long after its window's end a user's holds may leave.
  let releaseSpreadSeconds: Int
  /// Releases a second of the whole group; nil: no limit.
  let releaseAPNsPerSecond: Int?
  let releaseFCMPerSecond: Int?
  /// Memory for the records of holds, compressed; what is over is read again when it is due.
  let releasePayloadBytesMax: Int
  /// What links begin with; nil: approvals carry none.
  let unsubscribeBaseURL: String?
  let unsubscribeKeysFile: String?
  let unsubscribeLifetimeDays: Int
  let topics: TopicNames
  let createPartitions: Int
  let createPartitionsSecurity: Int
  let createReplicationFactor: Int
  /// Nil: no HTTP.
  let httpAddress: ListenAddress?
  let livenessTimeoutMs: Int
  /// How long after an opt-out the last approval may be.
  let optOutLeakObjectiveMs: Int
  let logStyle: LogStyle
  let logLevel: LogLevel

  /// Every setting as it counts, sorted by key, secrets hidden; for the log.
  let effective: [(key: String, value: String, origin: String)]
  /// Variables of the environment that look like settings and are none.
  let unknownVariables: [String]

  /// Reads a file (nil: none) and what overrides it.
  static func load(
    file: String?, overrides: [String], environment: [String: String],
    hostName: String? = Process.hostName()
  ) throws(CommandFailure) -> GateConfiguration {
    try GateConfiguration(
      Settings.load(
        file: file, overrides: overrides, environment: environment, hostName: hostName))
  }

  /// Checks everything and tells all that is wrong at once: who mends a configuration line by line
  /// restarts a gate line by line.
  init(_ settings: Settings) throws(CommandFailure) {
    var problems = settings.problems()
    // Relations between values that cannot be read would only repeat the complaint.
    if problems.isEmpty { problems = ConfigurationRelations.problems(settings) }
    guard problems.isEmpty else {
      throw CommandFailure(
        ExitCode.configuration,
        "the configuration is wrong:\n  " + problems.joined(separator: "\n  "))
    }
    func text(_ key: String) -> String {
      guard let setting = settings.byKey[key] else { preconditionFailure("no key \(key)") }
      return setting.value
    }
    func optional(_ key: String) -> String? { text(key).isEmpty ? nil : text(key) }
    func integer(_ key: String) -> Int { Int(text(key))! }

    kafka = Dictionary(
      uniqueKeysWithValues: settings.byKey
        .filter { $0.key.hasPrefix(KafkaKeys.prefix) }
        .map { (String($0.key.dropFirst(KafkaKeys.prefix.count)), $0.value.value) })
    groupID = text("group.id")
    instanceID = text("instance.id")
    workers = integer("workers")
    delivery = Delivery(rawValue: text("delivery"))!
    commitIntervalMs = integer("commit.interval.ms")
    securityCommitIntervalMs = integer("security.commit.interval.ms")
    transactionTimeoutMs = integer("transaction.timeout.ms")
    batchRecordsMax = integer("batch.records.max")
    drainTimeoutMs = integer("drain.timeout.ms")
    brokerWaitTimeoutMs = optional("broker.wait.timeout.ms").map { Int($0)! }
    partitionsCheckIntervalMs = integer("partitions.check.interval.ms")
    policyFile = optional("policy.file")
    zonesCheckIntervalMs = integer("zones.check.interval.ms")
    hashKeyFile = optional("hash.key.file")
    releaseSpreadSeconds = integer("release.spread_seconds")
    releaseAPNsPerSecond = optional("release.apns_per_second").map { Int($0)! }
    releaseFCMPerSecond = optional("release.fcm_per_second").map { Int($0)! }
    releasePayloadBytesMax = integer("release.payload_bytes_max")
    unsubscribeBaseURL = optional("unsubscribe.base_url")
    unsubscribeKeysFile = optional("unsubscribe.keys_file")
    unsubscribeLifetimeDays = integer("unsubscribe.lifetime_days")
    var names = TopicNames()
    for (role, key) in ConfigurationKey.topics { names[role] = text(key) }
    topics = names
    createPartitions = integer("topics.create.partitions")
    createPartitionsSecurity = integer("topics.create.partitions.security")
    createReplicationFactor = integer("topics.create.replication.factor")
    httpAddress = optional("http.address").flatMap(ListenAddress.init)
    livenessTimeoutMs = integer("liveness.timeout.ms")
    optOutLeakObjectiveMs = integer("optout.leak.objective.ms")
    logStyle = LogStyle(rawValue: text("log.format"))!
    logLevel = LogLevel.allCases.first { $0.name == text("log.level") }!
    effective = settings.byKey.sorted { $0.key < $1.key }.map { key, setting in
      (key, Secret.shown(setting.value, of: key), setting.origin.description)
    }
    unknownVariables = settings.unknownVariables
  }
}

extension GateConfiguration {
  /// What every client of Kafka starts from.
  var kafkaProperties: KafkaProperties {
    var properties = KafkaProperties(kafka)
    properties.setDefaults([
      ("client.id", "\(groupID).\(instanceID)"),
      ("client.software.name", "sendgate"),
      ("client.software.version", "\(GateVersion.text)"),
    ])
    return properties
  }

  /// Reads the keys of signed links; nil where none are wanted.
  func links() throws(CommandFailure) -> LinkSettings? {
    guard let unsubscribeBaseURL, let unsubscribeKeysFile else { return nil }
    return LinkSettings(
      keys: try LinkKeyFile.read(unsubscribeKeysFile).keys, baseURL: unsubscribeBaseURL,
      lifetimeSeconds: Int64(unsubscribeLifetimeDays) * 86_400)
  }

  /// What `topics create` makes and `topics check` compares with.
  var topicPlan: TopicPlan {
    TopicPlan(
      names: topics, partitionCount: Int32(createPartitions),
      securityPartitionCount: Int32(createPartitionsSecurity),
      replicationFactor: Int32(createReplicationFactor))
  }

  /// The logger this configuration asks for, on standard error.
  func makeLogger() -> Logger {
    let format: LogFormat =
      switch logStyle {
      case .auto: .forStandardError()
      case .json: .json
      case .text: .terminalAsWanted()
      }
    return Logger(format: format, levelMin: logLevel)
  }

  /// Says what counts: every setting that is not the default, with where it comes from.
  func log(to log: Logger) {
    let settings = effective.filter { $0.origin != Settings.Origin.builtIn.description }
      .map { "\($0.key)=\($0.value) (\($0.origin))" }
    SettingsLog.write(settings, "Settings in force.", to: log)
    for variable in unknownVariables {
      log.warning(
        "A variable of the environment looks like a setting and is none.",
        ["environment.variable": .string(variable)])
    }
  }
}
