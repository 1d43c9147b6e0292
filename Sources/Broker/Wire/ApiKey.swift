/// A request kind, by Kafka's number for it.
public enum ApiKey: Int16, CaseIterable, Sendable {
  case produce = 0
  case fetch = 1
  case listOffsets = 2
  case metadata = 3
  case offsetCommit = 8
  case offsetFetch = 9
  case findCoordinator = 10
  case joinGroup = 11
  case heartbeat = 12
  case leaveGroup = 13
  case syncGroup = 14
  case describeGroups = 15
  case listGroups = 16
  case apiVersions = 18
  case createTopics = 19
  case deleteTopics = 20
  case deleteRecords = 21
  case initProducerId = 22
  case offsetForLeaderEpoch = 23
  case addPartitionsToTxn = 24
  case addOffsetsToTxn = 25
  case endTxn = 26
  case txnOffsetCommit = 28
  case describeConfigs = 32
  case alterConfigs = 33
  case createPartitions = 37
  case deleteGroups = 42
  case incrementalAlterConfigs = 44
  case offsetDelete = 47

  /// What the answer to ApiVersions says: what is spoken, but for Produce, which is said to go back to
  /// version 0. librdkafka compresses nothing unless version 0 is there, and then sends its newest all
  /// the same; Kafka 4 announces it for that reason too (KAFKA-18659).
  public var announced: ClosedRange<Int16> {
    self == .produce ? 0...support.versions.upperBound : support.versions
  }

  /// What this broker speaks of it: the versions, and from which one on it is flexible (KIP-482).
  public var support: (versions: ClosedRange<Int16>, flexibleFrom: Int16) {
    switch self {
    case .produce: (3...9, 9)
    case .fetch: (4...12, 12)
    case .listOffsets: (1...7, 6)
    case .metadata: (0...9, 9)
    case .offsetCommit: (2...8, 8)
    case .offsetFetch: (1...7, 6)
    case .findCoordinator: (0...3, 3)
    case .joinGroup: (0...7, 6)
    case .heartbeat: (0...4, 4)
    case .leaveGroup: (0...4, 4)
    case .syncGroup: (0...5, 4)
    case .describeGroups: (0...5, 5)
    case .listGroups: (0...4, 3)
    case .apiVersions: (0...3, 3)
    case .createTopics: (0...5, 5)
    case .deleteTopics: (0...5, 4)
    case .deleteRecords: (0...2, 2)
    case .initProducerId: (0...4, 2)
    case .offsetForLeaderEpoch: (2...4, 4)
    case .addPartitionsToTxn: (0...3, 3)
    case .addOffsetsToTxn: (0...3, 3)
    case .endTxn: (0...3, 3)
    case .txnOffsetCommit: (0...3, 3)
    case .describeConfigs: (0...4, 4)
    case .alterConfigs: (0...2, 2)
    case .createPartitions: (0...3, 2)
    case .deleteGroups: (0...2, 2)
    case .incrementalAlterConfigs: (0...1, 1)
    case .offsetDelete: (0...0, Int16.max)
    }
  }

  /// Kafka's name for it, as injection plans use it.
  public var name: String {
    switch self {
    case .produce: "Produce"
    case .fetch: "Fetch"
    case .listOffsets: "ListOffsets"
    case .metadata: "Metadata"
    case .offsetCommit: "OffsetCommit"
    case .offsetFetch: "OffsetFetch"
    case .findCoordinator: "FindCoordinator"
    case .joinGroup: "JoinGroup"
    case .heartbeat: "Heartbeat"
    case .leaveGroup: "LeaveGroup"
    case .syncGroup: "SyncGroup"
    case .describeGroups: "DescribeGroups"
    case .listGroups: "ListGroups"
    case .apiVersions: "ApiVersions"
    case .createTopics: "CreateTopics"
    case .deleteTopics: "DeleteTopics"
    case .deleteRecords: "DeleteRecords"
    case .initProducerId: "InitProducerId"
    case .offsetForLeaderEpoch: "OffsetForLeaderEpoch"
    case .addPartitionsToTxn: "AddPartitionsToTxn"
    case .addOffsetsToTxn: "AddOffsetsToTxn"
    case .endTxn: "EndTxn"
    case .txnOffsetCommit: "TxnOffsetCommit"
    case .describeConfigs: "DescribeConfigs"
    case .alterConfigs: "AlterConfigs"
    case .createPartitions: "CreatePartitions"
    case .deleteGroups: "DeleteGroups"
    case .incrementalAlterConfigs: "IncrementalAlterConfigs"
    case .offsetDelete: "OffsetDelete"
    }
  }

  func isFlexible(_ version: Int16) -> Bool { version >= support.flexibleFrom }
}
