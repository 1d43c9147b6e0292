import Gate
import Kafka
import Telemetry

/// Reads, from now on, what the preference service and the gate write of the self-test's users: the
/// partitions of their ids, of their documents and of every output.
final class OutputWatch {
  struct Record {
    var role: TopicRole
    var topic: String
    var partition: Int32
    var offset: Int64
    var key: [UInt8]
    var value: JSONValue
  }

  private static let roles: [TopicRole] = [
    .preferences, .approved, .deferred, .dropped, .selfTest,
  ]
  private let reader: PartitionReader
  private let batch = RecordBatch(recordsMax: 1024)
  private let names: TopicNames
  private let keys: Set<[UInt8]>
  /// What reading met that no waiting mends.
  private(set) var problem: String?

  init(_ configuration: GateConfiguration, users: [String], _ log: Logger) throws(CommandFailure) {
    names = configuration.topics
    keys = Set(users.map { Array($0.utf8) })
    do throws(ConfigurationError) {
      reader = try PartitionReader(
        topic: names[.selfTest], properties: try Self.properties(configuration.kafkaProperties),
        onEvent: kafkaEvents(to: log, client: "self-test reader"))
    } catch {
      batch.close()
      throw CommandFailure(error)
    }
  }

  private static func properties(
    _ properties: KafkaProperties
  ) throws(ConfigurationError) -> KafkaProperties {
    var properties = properties
    try properties.require(
      "isolation.level", "read_committed", because: "what was aborted was never decided")
    try properties.require("enable.auto.commit", "false", because: "it is in no group")
    properties.setDefaults([
      ("fetch.wait.max.ms", "50"), ("auto.offset.reset", "latest"),
      // librdkafka's consumer queue exists only where there is a group; this one is never joined.
      ("group.id", "sendgate.selftest"),
    ])
    return properties
  }

  /// Begins to read at the present ends.
  func start(_ deadline: StepDeadline) throws(CommandFailure) {
    var missing: String?
    do throws(KafkaError) {
      var positions: [TopicPositions] = []
      for role in Self.roles { positions.append(try end(of: names[role], deadline)) }
      missing = positions.first(where: \.positions.isEmpty)?.topic
      if missing == nil { try reader.assign(positions) }
    } catch {
      throw deadline.failure("\(error)")
    }
    if let missing {
      throw CommandFailure(
        ExitCode.notRun, "there is no topic \(missing); sendgate topics create makes it")
    }
  }

  /// Without positions where there is no such topic.
  private func end(of topic: String, _ deadline: StepDeadline) throws(KafkaError) -> TopicPositions
  {
    let countWithinMs = Int32(deadline.leftMs())
    guard let count = try reader.partitionCount(of: topic, timeoutMs: countWithinMs) else {
      return TopicPositions(topic: topic, positions: [])
    }
    let partitions = Set(
      keys.map { key in key.withUnsafeBytes { Partitioner.partition(forKey: $0, count: count) } })
    return TopicPositions(
      topic: topic,
      positions: try reader.ends(
        partitions.sorted(), of: topic, timeoutMs: Int32(deadline.leftMs())))
  }

  /// Waits up to `timeoutMs`. Hands over what is of the self-test's users and can be read; holds have
  /// keys that begin with one.
  func poll(timeoutMs: Int32, _ body: (Record) -> Void) {
    reader.poll(batch, timeoutMs: timeoutMs)
    defer { batch.release() }
    for index in 0..<batch.count {
      let record = batch[index]
      if !record.isRecord, !record.isEndOfPartition, record.error.isRefusal {
        problem = "\(record.error)"
      }
      guard record.isRecord, let key = record.key, let value = record.value,
        let role = Self.roles.first(where: { record.isOf(names[$0]) })
      else { continue }
      let user = Array(key.prefix { $0 != 0 })
      guard keys.contains(user),
        let json = try? Result(catching: { () throws(JSONFault) in try JSONValue(value) }).get()
      else { continue }
      body(
        Record(
          role: role, topic: names[role], partition: record.partition, offset: record.offset,
          key: user, value: json))
    }
  }

  func close() {
    batch.close()
    reader.close()
  }
}
