import Broker
import Foundation
import Gate
import Kafka
import Testing

@testable import sendgate

/// A broker of the test's own on a free port of loopback.
private func withBroker(_ body: (_ bootstrap: String) throws -> Void) throws {
  // Made here, run there, and not touched here again but by its stopper.
  nonisolated(unsafe) let server = try BrokerServer(config: BrokerConfig(), port: 0)
  let stop = server.stop
  let port = server.port
  let ended = DispatchSemaphore(value: 0)
  Thread.detachNewThread {
    server.run()
    ended.signal()
  }
  defer {
    stop()
    ended.wait()
  }
  try body("127.0.0.1:\(port)")
}

private func run(_ words: [String], _ bootstrap: String) -> (code: Int32, error: String) {
  let settings = [
    "kafka.bootstrap.servers=\(bootstrap)", "topics.create.replication.factor=1",
    "topics.create.partitions=4", "topics.create.partitions.security=2", "log.level=error",
  ]
  let result = dispatch(words + settings.flatMap { ["--set", $0] })
  return (result.code, result.error)
}

/// One record as it was stored.
private struct Stored: Hashable {
  var partition: Int32
  var key: String
  var value: String
}

/// Everything in a topic, to the end of each partition.
private func read(_ topic: String, _ bootstrap: String) throws -> [Stored] {
  let properties = KafkaProperties([
    "bootstrap.servers": bootstrap, "group.id": "test", "enable.partition.eof": "true",
    "auto.offset.reset": "error",
  ])
  let reader = try PartitionReader(topic: topic, properties: properties, onEvent: { _ in })
  defer { reader.close() }
  let count = try #require(try reader.partitionCount(timeoutMs: 10_000))
  try reader.assignFromStart(Array(0..<count))
  let batch = RecordBatch(recordsMax: 1000)
  defer { batch.close() }
  var stored: [Stored] = []
  var openPartitions = Set(0..<count)
  while !openPartitions.isEmpty {
    reader.poll(batch, timeoutMs: 1000)
    for i in 0..<batch.count {
      let record = batch[i]
      if record.isEndOfPartition { openPartitions.remove(record.partition) }
      guard record.isRecord else { continue }
      stored.append(
        Stored(
          partition: record.partition, key: String(decoding: record.key!, as: UTF8.self),
          value: String(decoding: record.value!, as: UTF8.self)))
    }
    batch.release()
  }
  return stored
}

@Test func topicsAreCreatedOnceAndChecked() throws {
  try withBroker { bootstrap in
    let before = run(["topics", "check"], bootstrap)
    #expect(before.code == 78)
    #expect(before.error.contains("notifications.candidate does not exist"))
    #expect(before.error.split(separator: "\n").count == 14)

    #expect(run(["topics", "create"], bootstrap).code == 0)
    #expect(run(["topics", "check"], bootstrap).code == 0)
    #expect(run(["topics", "create"], bootstrap).code == 0)

    // Other names: nothing of theirs is there yet.
    let renamed = run(["topics", "check", "--set", "topics.approved=other"], bootstrap)
    #expect(renamed.code == 78)
    #expect(renamed.error.contains("other does not exist"))
    #expect(renamed.error.split(separator: "\n").count == 2)
  }
}

/// A topic that somebody made before, with the wrong count and the wrong cleanup, is named and left
/// as it is.
@Test func whatIsWrongWithATopicThatExistsIsNamed() throws {
  try withBroker { bootstrap in
    let admin = try KafkaAdmin(
      properties: KafkaProperties(["bootstrap.servers": bootstrap]), onEvent: { _ in })
    defer { admin.close() }
    _ = try admin.create(
      [
        NewTopic(
          name: "preferences.state", partitionCount: 3, replicationFactor: 1,
          settings: [("cleanup.policy", "delete")])
      ], timeoutMs: 10_000)
    let created = run(["topics", "create"], bootstrap)
    #expect(created.code == 78)
    #expect(
      created.error.contains(
        "preferences.state has 3 partitions, notifications.candidate has 4; they must have the"
          + " same number"))
    #expect(
      created.error.contains("preferences.state: cleanup.policy is delete, it must be compact"))
    let found = try admin.metadata(of: ["preferences.state"], timeoutMs: 10_000)
    #expect(found[0].partitionCount == 3)
  }
}

@Test func publishedLinesArriveUnchangedWhereTheGateLooksForThem() throws {
  try withBroker { bootstrap in
    try withFolder { folder in
      #expect(run(["topics", "create"], bootstrap).code == 0)
      let made = dispatch([
        "generate", "--users", "50", "--candidates", "400", "--out", folder, "--places",
        "\(repositoryRoot)/deploy/places.tsv",
      ])
      #expect(made.code == 0)
      for (words, file, topic) in [
        ([], "candidates", "notifications.candidate"),
        (["--source", "security"], "security", "notifications.candidate.security"),
        (["--preferences"], "preferences", "preferences.state"),
      ] {
        let path = "\(folder)/\(file).jsonl"
        let published = run(["publish", "--file", path] + words, bootstrap)
        #expect(published.code == 0, "\(published.error)")
        let lines = try readText(path).split(separator: "\n").map(String.init)
        let stored = try read(topic, bootstrap)
        #expect(stored.map(\.value).sorted() == lines.sorted())
        for record in stored {
          let object = try JSONSerialization.jsonObject(with: Data(record.value.utf8))
          #expect((object as? [String: Any])?["user_id"] as? String == record.key)
        }
      }
      // The gate's own check of key and partition, over what is in the topic.
      let world = try World(policyFile: nil)
      let engine = world.engine(.ordinary, partitionCount: 4)
      for record in try read("notifications.candidate", bootstrap) {
        #expect(reason(record, engine) != .invalidCandidate)
        var moved = record
        moved.partition = (record.partition + 1) % 4
        #expect(reason(moved, engine) == .invalidCandidate)
      }
    }
  }
}

private func reason(_ record: Stored, _ engine: Engine) -> Reason {
  var (key, value) = (record.key, record.value)
  return key.withUTF8 { key in
    value.withUTF8 { value in
      let input = InputRecord(
        partition: record.partition, offset: 0, timestampMs: 1_773_014_400_000,
        key: UnsafeRawBufferPointer(key), value: UnsafeRawBufferPointer(value), handle: nil)
      return withUnsafePointer(to: input) {
        engine.decide(UnsafeBufferPointer(start: $0, count: 1), nowMs: input.timestampMs)[0].reason
      }
    }
  }
}

@Test func aBadLineEndsPublishingWithItsNumber() throws {
  try withBroker { bootstrap in
    try withFolder { folder in
      let path = "\(folder)/lines"
      let good = #"{"notification_id":"n","user_id":"u","category":"social"}"#
      try "\(good)\n\(good)\n{\"notification_id\":\"n\"}\n\(good)\n".write(
        toFile: path, atomically: true, encoding: .utf8)

      let noTopic = run(["publish", "--file", path], bootstrap)
      #expect(noTopic.code == 69)
      #expect(
        noTopic.error.contains(
          "there is no topic notifications.candidate; sendgate topics create makes it"))

      #expect(run(["topics", "create"], bootstrap).code == 0)
      let refused = run(["publish", "--file", path], bootstrap)
      #expect(refused.code == 65)
      #expect(
        refused.error
          == "sendgate publish: line 3 of \(path) is refused: missing_member (user_id)\n"
          + "2 lines before it are written\n")
      #expect(try read("notifications.candidate", bootstrap).count == 2)

      #expect(run(["publish", "--file", "\(folder)/none"], bootstrap).code == 66)
      #expect(run(["publish", "--preferences", "--source", "security"], bootstrap).code == 64)
    }
  }
}

@Test func aBrokerThatIsNotThereIsWaitedForAndThenNamed() {
  // A port that was free a moment ago and that nobody listens on.
  let words = ["topics", "check", "--set", "broker.wait.timeout.ms=300"]
  let result = run(words, "127.0.0.1:1")
  #expect(result.code == 69)
  #expect(result.error.hasPrefix("sendgate topics: describe topic notifications.candidate: "))
}

@Test func aPropertyThatLibrdkafkaDoesNotKnowIsNamed() {
  let result = run(["topics", "check", "--set", "kafka.no.such=1"], "127.0.0.1:1")
  #expect(result.code == 78)
  #expect(result.error.contains("kafka.no.such: librdkafka "))
}

@Test func checkLooksAtTopicsOnlyWhereItIsTold() throws {
  let settings = ["--set", "kafka.bootstrap.servers=127.0.0.1:1", "--set", "log.level=error"]
  #expect(dispatch(["check"] + settings).code == 0, "no broker is needed")
  try withBroker { bootstrap in
    let before = dispatch(["check", "--bootstrap", bootstrap] + settings)
    #expect(before.code == 78)
    #expect(before.error.contains("notifications.candidate does not exist"))
    #expect(run(["topics", "create"], bootstrap).code == 0)
    #expect(dispatch(["check", "--bootstrap", bootstrap] + settings).code == 0)
  }
}

@Test func checkNamesWhatRunWouldRefuse() throws {
  try withFolder { folder in
    func check(_ settings: String...) -> (code: Int32, out: String, error: String) {
      dispatch(
        ["check", "--set", "kafka.bootstrap.servers=127.0.0.1:1"]
          + settings.flatMap { ["--set", $0] })
    }
    let policy = "\(folder)/policy.json"
    #expect(check("policy.file=\(policy)").code == 66)
    try "{}".write(toFile: policy, atomically: false, encoding: .utf8)
    let wrong = check("policy.file=\(policy)")
    #expect(wrong.code == 78)
    #expect(wrong.error.contains("policy key version is missing"))
    let good = try readText("\(repositoryRoot)/deploy/policy.json")
    try good.replacing("\"UTC\"", with: "\"Europe/Atlantis\"")
      .write(toFile: policy, atomically: false, encoding: .utf8)
    #expect(check("policy.file=\(policy)").error.contains("Europe/Atlantis"))
    try good.write(toFile: policy, atomically: false, encoding: .utf8)
    #expect(check("policy.file=\(policy)").code == 0)

    let key = "\(folder)/key"
    #expect(check("hash.key.file=\(key)").code == 0)
    #expect(!FileManager.default.fileExists(atPath: key), "a check makes no files")
    try "short".write(toFile: key, atomically: false, encoding: .utf8)
    #expect(check("hash.key.file=\(key)").code == 78)
    #expect(check("http.address=localhost:9464").error.contains("not looked up"))

    let links = [
      "unsubscribe.base_url=https://example.com", "unsubscribe.keys_file=\(folder)/links",
    ]
    #expect(check(links[0]).error.contains("is of no use without unsubscribe.keys_file"))
    #expect(check(links[1]).error.contains("is of no use without unsubscribe.base_url"))
    let missing = check(links[0], links[1])
    #expect(missing.code == 66 && missing.error.contains("sendgate link-key new"))
    #expect(dispatch(["link-key", "new", "--file", "\(folder)/links"]).code == 0)
    #expect(check(links[0], links[1]).code == 0)
    chmod("\(folder)/links", 0o644)
    #expect(check(links[0], links[1]).code == 78)
  }
}
