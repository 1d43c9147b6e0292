/// The settings of a topic, by Kafka's names, each with what makes a value valid.
enum TopicSetting {
  enum Kind {
    case int(ClosedRange<Int64>)
    case number(ClosedRange<Double>)
    case bool
    case list(Set<String>)
    case one(Set<String>)
    case text

    /// As DescribeConfigs numbers types.
    var wireType: Int8 {
      switch self {
      case .bool: 1
      case .text, .one: 2
      case .int: 5
      case .number: 6
      case .list: 7
      }
    }

    func accepts(_ value: String) -> Bool {
      switch self {
      case .int(let range): Int64(value).map(range.contains) ?? false
      case .number(let range): Double(value).map(range.contains) ?? false
      case .bool: value == "true" || value == "false"
      case .one(let values): values.contains(value)
      case .list(let values):
        value.split(separator: ",").allSatisfy {
          values.contains(String($0.filter { $0 != " " }))
        }
      case .text: true
      }
    }
  }

  private static let whole: ClosedRange<Int64> = 0...Int64.max
  private static let codecs: Set<String> = [
    "uncompressed", "zstd", "lz4", "snappy", "gzip", "producer",
  ]

  /// Those that this broker keeps to, then those it only stores, so that scripts made for Kafka run.
  static let all: [String: (kind: Kind, standard: String)] = [
    "cleanup.policy": (.list(["compact", "delete"]), "delete"),
    "delete.retention.ms": (.int(whole), "86400000"),
    "max.compaction.lag.ms": (.int(1...Int64.max), "9223372036854775807"),
    "max.message.bytes": (.int(0...Int64(Int32.max)), "1048588"),
    "message.timestamp.type": (.one(["CreateTime", "LogAppendTime"]), "CreateTime"),
    "min.cleanable.dirty.ratio": (.number(0...1), "0.5"),
    "min.compaction.lag.ms": (.int(whole), "0"),
    "retention.bytes": (.int(-1...Int64.max), "-1"),
    "retention.ms": (.int(-1...Int64.max), "604800000"),
    "segment.bytes": (.int(14...Int64(Int32.max)), "1073741824"),
    "segment.ms": (.int(1...Int64.max), "604800000"),

    "compression.type": (.one(codecs), "producer"),
    "file.delete.delay.ms": (.int(whole), "60000"),
    "flush.messages": (.int(1...Int64.max), "9223372036854775807"),
    "flush.ms": (.int(whole), "9223372036854775807"),
    "index.interval.bytes": (.int(0...Int64(Int32.max)), "4096"),
    "message.timestamp.after.max.ms": (.int(whole), "9223372036854775807"),
    "message.timestamp.before.max.ms": (.int(whole), "9223372036854775807"),
    "min.insync.replicas": (.int(1...Int64(Int32.max)), "1"),
    "preallocate": (.bool, "false"),
    "segment.index.bytes": (.int(4...Int64(Int32.max)), "10485760"),
    "segment.jitter.ms": (.int(whole), "0"),
    "unclean.leader.election.enable": (.bool, "false"),
  ]
}

/// The settings that the log works by, read from the strings once.
struct TopicLimits {
  var compacts = false
  var deletes = true
  var deleteRetentionMs: Int64 = 86_400_000
  var maxMessageBytes = 1_048_588
  var logAppendTime = false
  var minDirtyRatio = 0.5
  var minCompactionLagMs: Int64 = 0
  var retentionBytes: Int64 = -1
  var retentionMs: Int64 = 604_800_000
  var segmentBytes = 1 << 30
  var segmentMs: Int64 = 604_800_000

  init() {}

  init(own: [String: String], defaults: [String: String]) {
    func text(_ name: String) -> String {
      own[name] ?? defaults[name] ?? TopicSetting.all[name]!.standard
    }
    func number(_ name: String) -> Int64 { Int64(text(name))! }
    compacts = text("cleanup.policy").contains("compact")
    deletes = text("cleanup.policy").contains("delete")
    deleteRetentionMs = number("delete.retention.ms")
    maxMessageBytes = Int(number("max.message.bytes"))
    logAppendTime = text("message.timestamp.type") == "LogAppendTime"
    minDirtyRatio = Double(text("min.cleanable.dirty.ratio"))!
    minCompactionLagMs = number("min.compaction.lag.ms")
    retentionBytes = number("retention.bytes")
    retentionMs = number("retention.ms")
    segmentBytes = Int(number("segment.bytes"))
    segmentMs = number("segment.ms")
  }
}

extension BrokerConfig {
  /// Whether Kafka has such a topic setting and would take the value.
  public static func isTopicSetting(_ name: String, _ value: String) -> Bool {
    TopicSetting.all[name]?.kind.accepts(value) ?? false
  }
}
