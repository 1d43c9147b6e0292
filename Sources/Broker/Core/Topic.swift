/// A partition's name.
public struct TopicPartition: Hashable, Comparable, Sendable {
  public var topic: String
  public var index: Int32

  public init(_ topic: String, _ index: Int32) {
    self.topic = topic
    self.index = index
  }

  public static func < (a: TopicPartition, b: TopicPartition) -> Bool {
    (a.topic, a.index) < (b.topic, b.index)
  }
}

final class Partition {
  let name: TopicPartition
  let log: PartitionLog
  /// Fetches that wait for data here.
  var waiters: Set<RequestId> = []
  /// Injected: until then nothing is read from or written to it.
  var stalledUntilMs: Int64 = 0

  init(name: TopicPartition, disk: (any Disk)?) {
    self.name = name
    log = PartitionLog(folder: "logs/\(name.topic)/\(name.index)", disk: disk)
  }
}

final class Topic {
  let name: String
  var partitions: [Partition] = []
  /// What was set on this topic, by Kafka's names.
  var settings: [String: String]
  var limits: TopicLimits

  init(name: String, settings: [String: String], defaults: [String: String]) {
    self.name = name
    self.settings = settings
    limits = TopicLimits(own: settings, defaults: defaults)
  }

  /// The names that Kafka allows: letters, digits, dot, underscore and minus, up to 249 of them.
  static func isLegal(_ name: String) -> Bool {
    guard !name.isEmpty, name.utf8.count <= 249, name != ".", name != ".." else { return false }
    return name.utf8.allSatisfy {
      switch $0 {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2E, 0x5F, 0x2D: true
      default: false
      }
    }
  }
}
