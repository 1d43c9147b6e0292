import Foundation
import Kafka
import Telemetry
import Testing

@testable import sendgate

private let minimal = ["kafka.bootstrap.servers=localhost:9092"]

private func load(
  file: String? = nil, _ overrides: [String] = [], environment: [String: String] = [:]
) throws(CommandFailure) -> GateConfiguration {
  try GateConfiguration.load(
    file: file, overrides: minimal + overrides, environment: environment, hostName: "host-1")
}

private func problems(
  _ overrides: [String], environment: [String: String] = [:]
) -> String {
  do throws(CommandFailure) {
    _ = try load(overrides, environment: environment)
    return ""
  } catch {
    #expect(error.exitCode == 78)
    return error.description
  }
}

@Test func theShippedFileSetsEveryKeyToItsDefault() throws {
  let path = "\(repositoryRoot)/deploy/sendgate.properties"
  let text = try readText(path)
  let entries = try PropertiesFile.parse(Array(text.utf8), name: "f")
  var byKey: [String: String] = [:]
  for entry in entries { byKey[entry.key] = entry.value }
  // Two that have no fixed default: required, and the host's name (shown as a comment).
  #expect(byKey.removeValue(forKey: "kafka.bootstrap.servers") == "localhost:9092")
  #expect(text.contains("\n#instance.id="))
  for key in ConfigurationKey.all where key.name != "instance.id" {
    #expect(byKey.removeValue(forKey: key.name) == key.defaultValue, "\(key.name)")
  }
  #expect(byKey.isEmpty)
  // What may not be set is listed, and in the same words.
  let listed = text.split(separator: "refused here: ")[1].split(separator: ".\n")[0]
    .replacing("\n# ", with: " ").split(separator: ", ").map(String.init)
  #expect(Set(listed) == Set(KafkaKeys.reserved.keys))
  _ = try GateConfiguration.load(file: path, overrides: [], environment: [:], hostName: "h")
}

@Test func defaultsAreThoseOfTheTable() throws {
  let configuration = try load()
  #expect(configuration.groupID == "sendgate")
  #expect(configuration.instanceID == "host-1")
  #expect(configuration.delivery == .exactlyOnce)
  #expect(configuration.commitIntervalMs == 100)
  #expect(configuration.securityCommitIntervalMs == 10)
  #expect(configuration.transactionTimeoutMs == 10_000)
  #expect(configuration.brokerWaitTimeoutMs == nil)
  #expect(configuration.policyFile == nil)
  #expect(configuration.httpAddress == nil)
  #expect(configuration.topics[.candidate] == "notifications.candidate")
  #expect(configuration.topics[.audit] == "preferences.audit")
  #expect(configuration.logLevel == .info)
  #expect(configuration.kafka.keys.sorted() == ["bootstrap.servers"])
}

/// Flag over environment over file over default, for an own key and for one of librdkafka's.
@Test func laterSourcesWin() throws {
  try withFolder { folder in
    let file = "\(folder)/g.properties"
    try "workers=2\nkafka.linger.ms=2\n".write(toFile: file, atomically: true, encoding: .utf8)
    let environment = ["SENDGATE_WORKERS": "3", "SENDGATE_KAFKA_LINGER_MS": "3"]
    let flags = ["workers=4", "kafka.linger.ms=4"]
    func linger(_ configuration: GateConfiguration) -> String? {
      configuration.kafka["linger.ms"]
    }
    for (given, workers, lingerMs, origin) in [
      (try load(), 1, nil, "default"),
      (try load(file: file), 2, "2", "line 1 of \(file)"),
      (try load(file: file, environment: environment), 3, "3", "SENDGATE_WORKERS"),
      (try load(file: file, flags, environment: environment), 4, "4", "--set"),
    ] as [(GateConfiguration, Int, String?, String)] {
      #expect(given.workers == workers)
      #expect(linger(given) == lingerMs)
      #expect(given.effective.first { $0.key == "workers" }?.origin == origin)
    }
  }
}

@Test func theEnvironmentNamesEveryKeyOnceAndMissesNone() throws {
  let names = ConfigurationKey.all.map(\.environmentName)
  #expect(Set(names).count == names.count)
  #expect(names.contains("SENDGATE_HTTP_ALLOW_REMOTE"))
  for name in names {
    #expect(KafkaKeys.key(environmentName: name) == nil)
    // What Kubernetes sets for a service called sendgate.
    #expect(!name.hasSuffix("_SERVICE_HOST") && !name.hasPrefix("SENDGATE_PORT"))
  }
  let configuration = try load(environment: [
    "SENDGATE_KAFKA_LOG_LEVEL": "7", "SENDGATE_KAFKA_QUEUED_MAX_MESSAGES_KBYTES": "1",
    "SENDGATE_CONFIG": "elsewhere", "SENDGATE_WORKER": "2", "SENDGATE_PORT": "tcp://1",
    "SENDGATE_LOG_LEVEL": "", "OTHER": "x",
  ])
  #expect(
    configuration.kafka.keys.sorted() == [
      "bootstrap.servers", "log_level", "queued.max.messages.kbytes",
    ])
  #expect(
    configuration.unknownVariables == [
      "SENDGATE_PORT", "SENDGATE_WORKER; did you mean SENDGATE_WORKERS?",
    ])
}

@Test(arguments: [
  (["workers=0"], "workers = 0 (--set): wants a whole number from 1 to 64"),
  (["workers=many"], "workers = many (--set): wants a whole number from 1 to 64"),
  (["delivery=twice"], "delivery = twice (--set): wants one of exactly_once, at_least_once"),
  (["http.allow.remote=yes"], "http.allow.remote = yes (--set): wants true or false"),
  (
    ["http.address=example.org:80"],
    "http.address = example.org:80 (--set): wants ADDRESS:PORT with a numeric address"
  ),
  (["topics.approved="], "topics.approved =  (--set): wants a topic name"),
  (["topics.approved=.."], "topics.approved = .. (--set): wants a topic name"),
  (["topics.approved=a b"], "topics.approved = a b (--set): wants a topic name"),
  (["group.id=a/b"], "group.id = a/b (--set): wants 1 to 128 letters, digits"),
  (["instance.id="], "instance.id =  (--set): wants 1 to 128 letters"),
  (["broker.wait.timeout.ms=-1"], "broker.wait.timeout.ms = -1 (--set): wants a whole number"),
  (
    ["comit.interval.ms=5"],
    "unknown key comit.interval.ms (--set); did you mean commit.interval.ms?"
  ),
  (
    ["linger.ms=5"],
    "unknown key linger.ms (--set); librdkafka's own properties are set under kafka."
  ),
  (
    ["kafka.group.id=x"],
    "kafka.group.id (--set) is the gate's own: set group.id instead"
  ),
  (["kafka.=x"], "kafka. (--set) is no librdkafka property"),
  (["kafka.Linger.Ms=x"], "kafka.Linger.Ms (--set) is no librdkafka property"),
  (["kafka.bootstrap.servers="], "kafka.bootstrap.servers is missing"),
  // Relations.
  (
    ["transaction.timeout.ms=1000", "commit.interval.ms=101"],
    "transaction.timeout.ms = 1000 (--set) must be at least 10 times commit.interval.ms = 101 (--set):"
  ),
  (
    ["transaction.timeout.ms=1000", "security.commit.interval.ms=101"],
    "transaction.timeout.ms = 1000 (--set) must be at least 10 times security.commit.interval.ms = 101"
  ),
  (
    ["kafka.message.timeout.ms=10000"],
    "kafka.message.timeout.ms = 10000 (--set) must be above 0 and below transaction.timeout.ms ="
      + " 10000 (default):"
  ),
  (["kafka.message.timeout.ms=0"], "kafka.message.timeout.ms = 0 (--set) must be above 0 and"),
  (["kafka.message.timeout.ms=x"], "kafka.message.timeout.ms = x (--set): wants a whole number"),
  (
    ["drain.timeout.ms=45000"],
    "drain.timeout.ms = 45000 (--set) must be below kafka.session.timeout.ms (librdkafka's default):"
  ),
  (
    ["kafka.session.timeout.ms=6000"],
    "drain.timeout.ms = 20000 (default) must be below kafka.session.timeout.ms = 6000 (--set):"
  ),
  (
    ["transaction.timeout.ms=300000", "liveness.timeout.ms=400000"],
    "transaction.timeout.ms = 300000 (--set) must be below kafka.max.poll.interval.ms (librdkafka's"
      + " default):"
  ),
  (
    ["liveness.timeout.ms=10000"],
    "liveness.timeout.ms = 10000 (--set) must be above transaction.timeout.ms = 10000 (default):"
  ),
  (
    ["topics.create.partitions=3"],
    "topics.create.partitions.security = 4 (default) must be at most topics.create.partitions = 3"
  ),
  (
    ["topics.approved=notifications.dropped"],
    "topics.dropped = notifications.dropped (default) collides with topics.approved ="
      + " notifications.dropped (--set)"
  ),
  (["topics.approved=notifications_dropped"], "collides with topics.approved"),
  (
    ["http.address=0.0.0.0:9100"],
    "http.address = 0.0.0.0:9100 (--set) can be reached from other machines"
  ),
])
func everyMistakeIsNamedWithKeyValueAndBound(_ overrides: [String], _ message: String) {
  let told = problems(overrides)
  #expect(told.hasPrefix("the configuration is wrong:\n  "))
  #expect(told.contains(message), "\(told)")
}

/// The edges that must still pass, so that no bound is off by one.
@Test(arguments: [
  ["transaction.timeout.ms=1010", "commit.interval.ms=101"],
  ["kafka.message.timeout.ms=9999"], ["drain.timeout.ms=44999"], ["workers=64"],
  ["kafka.session.timeout.ms=20001"], ["liveness.timeout.ms=10001"],
  ["transaction.timeout.ms=299999", "liveness.timeout.ms=300000"],
  ["topics.create.partitions=4"], ["http.address=0.0.0.0:9100", "http.allow.remote=true"],
  ["http.address=[::1]:0"], ["broker.wait.timeout.ms=5000"],
])
func edgesOfTheBoundsPass(_ overrides: [String]) {
  #expect(problems(overrides) == "")
}

@Test func allMistakesAreToldAtOnce() {
  let told = problems(["workers=0", "delivery=x", "wrokers=1"])
  #expect(told.split(separator: "\n").count == 4)
}

/// A secret is looked for in everything that could be printed: the effective settings, the log, and
/// the messages of every failing path.
@Test func secretsAreNeverPrinted() throws {
  let secret = "hunter2-tell-nobody"
  let keys = [
    "kafka.sasl.password", "kafka.ssl.key.password", "kafka.ssl.key.pem",
    "kafka.ssl.keystore.password", "kafka.sasl.oauthbearer.client.secret",
    "kafka.sasl.oauthbearer.config",
  ]
  let overrides = keys.map { "\($0)=\(secret)" }
  let configuration = try load(overrides)
  #expect(configuration.kafka.values.count { $0 == secret } == keys.count)
  for key in keys {
    #expect(configuration.effective.first { $0.key == key }?.value == "<hidden>")
  }
  #expect(!"\(configuration.effective)".contains(secret))
  #expect(!problems(overrides + ["workers=0"]).contains(secret))
  #expect(!problems(["sasl.password=\(secret)"]).contains(secret))
  #expect(!problems(["kafka.SASL.password=\(secret)"]).contains(secret))
  for text in ["kafka.sasl.password \(secret)", "=\(secret)"] {
    for (what, body) in [
      ("file", { _ = try PropertiesFile.parse(Array(text.utf8), name: "f") }),
      ("--set", { _ = try load([text]) }),
    ] as [(String, () throws -> Void)] {
      let error = #expect(throws: CommandFailure.self, "\(what)") { try body() }
      #expect(error?.description.contains(secret) == false)
    }
  }
  // An empty one is shown as such: it is a mistake, not a secret.
  #expect(Secret.shown("", of: "kafka.sasl.password") == "")
}

@Test func aPropertiesFileIsReadLineByLine() throws {
  let text = "\u{FEFF}# comment\n! comment\n\n a.b = c = d \r\n\te=\n  f=\\n#g\nü=ß"
  #expect(
    try PropertiesFile.parse(Array(text.utf8), name: "f") == [
      PropertiesFile.Entry(key: "a.b", value: "c = d", line: 4),
      PropertiesFile.Entry(key: "e", value: "", line: 5),
      PropertiesFile.Entry(key: "f", value: "\\n#g", line: 6),
      PropertiesFile.Entry(key: "ü", value: "ß", line: 7),
    ])
}

@Test func aBrokenPropertiesFileNamesEveryLine() {
  let bytes = Array("a=1\nno equals\n=x\na=2\n".utf8) + [0x62, 0x3D, 0xFF, 0x0A, 0x63, 0x3D, 0x00]
  let error = #expect(throws: CommandFailure.self) {
    try PropertiesFile.parse(bytes, name: "g.properties")
  }
  #expect(
    error
      == CommandFailure(
        78,
        """
        line 2 of g.properties: wants key=value
        line 3 of g.properties: wants key=value
        line 4 of g.properties: a is set in line 1 already
        line 5 of g.properties: not UTF-8 text
        line 6 of g.properties: not UTF-8 text
        """))
}

@Test func aMissingFileIsNoInput() {
  let error = #expect(throws: CommandFailure.self) { try load(file: "/nonexistent/g.properties") }
  #expect(
    error
      == CommandFailure(66, "cannot open /nonexistent/g.properties: No such file or directory"))
}

@Test func theHashKeyFileIsMadeOnceAndGuarded() throws {
  try withFolder { folder in
    let path = "\(folder)/hash.key"
    let made = try HashKeyFile.load(path)
    let again = try HashKeyFile.load(path)
    #expect(made == again)
    #expect(made != (0, 0))
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(try readText(path).utf8.count == 33)

    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    let open = #expect(throws: CommandFailure.self) { try HashKeyFile.load(path) }
    #expect(open?.description.contains("chmod 600") == true)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)

    let good = "00112233445566778899aabbccddeeff"
    for (text, isGood) in [
      (good, true), (good + "\n", true), (good.uppercased(), true), ("", false),
      (String(good.dropLast()), false), (good + "0", false), (good + "\n\n", false),
      ("+0112233445566778899aabbccddeeff", false), ("0x112233445566778899aabbccddeeff", false),
    ] {
      try text.write(toFile: path, atomically: false, encoding: .utf8)
      if isGood {
        #expect(try HashKeyFile.load(path) == (0x0011_2233_4455_6677, 0x8899_AABB_CCDD_EEFF))
      } else {
        #expect(throws: CommandFailure.self, "\(text)") { try HashKeyFile.load(path) }
      }
    }
    let nowhere = #expect(throws: CommandFailure.self) {
      try HashKeyFile.load("\(folder)/no/such/folder")
    }
    #expect(nowhere?.exitCode == 73)
  }
}

/// A list of nothing, and what is no address, is refused where it is set.
@Test(arguments: [
  (",,,", "names no broker"), ("kafka-1:9092,", "names no broker"), (" , ", "names no broker"),
  (":9092", "without a host"), ("kafka:port", "no number from 1 to 65535"),
  ("kafka:0", "no number from 1 to 65535"), ("kafka:65536", "no number from 1 to 65535"),
  ("kafka:", "no number from 1 to 65535"), ("[::1", "[ without ]"), ("[::1]9092", "between ]"),
  ("a b:9092", "without a host"), ("PLAINTEXT://:9092", "without a host"),
])
func brokersThatAreNone(_ servers: String, _ words: String) {
  let problem = BrokerList.problem(servers)
  #expect(problem?.contains(words) == true, "\(problem ?? "accepted")")
  #expect(problem?.contains("HOST:PORT") == true)
  let told = dispatch(["check", "--set", "kafka.bootstrap.servers=\(servers)"])
  #expect(told.code == 78)
  #expect(told.error.contains("kafka.bootstrap.servers"), "\(told.error)")
}

@Test(arguments: [
  "kafka-1:9092", "kafka-1:9092,kafka-2:9093", "kafka-1, kafka-2:9092", "[::1]:9092", "10.0.0.1:1",
  "SASL_SSL://kafka:65535", "[2001:db8::1]",
])
func brokersThatAreSome(_ servers: String) { #expect(BrokerList.problem(servers) == nil) }

/// Whatever kind of client refuses a property, it is a mistake of the configuration, told at start.
@Test(arguments: [
  // Of producers alone, of consumers alone, of both, and of a set that does not go together.
  ("linger.ms", "soon"), ("acks", "1"), ("batch.num.messages", "0"), ("compression.type", "zip"),
  ("fetch.wait.max.ms", "-5"), ("session.timeout.ms", "99999999"), ("socket.timeout.ms", "x"),
  ("no.such.property", "1"), ("max.in.flight", "6"),
])
func kafkaPropertiesAreCheckedAtStart(_ property: String, _ value: String) {
  let told = dispatch([
    "check", "--set", "kafka.bootstrap.servers=127.0.0.1:1", "--set", "kafka.\(property)=\(value)",
    "--set", "log.level=error",
  ])
  #expect(told.code == 78, "\(told.error)")
  #expect(told.error.contains(property), "\(told.error)")
}
