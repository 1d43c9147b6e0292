// OffsetCommit (key 8), versions 2 to 8.

public struct OffsetCommitRequest: WireStruct {
  public var groupId = ""
  public var generationId: Int32 = -1
  public var memberId = ""
  public var groupInstanceId: String?
  public var retentionTimeMs: Int64 = -1
  public var topics: [OffsetCommitTopic] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&groupId)
    try c.int32(&generationId)
    try c.string(&memberId)
    if c.version >= 7 { try c.optionalString(&groupInstanceId) }
    if (2...4).contains(c.version) { try c.int64(&retentionTimeMs) }
    try c.array(&topics)
    try c.tags()
  }
}

public struct OffsetCommitTopic: WireStruct {
  public var name = ""
  public var partitions: [OffsetCommitPartition] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.array(&partitions)
    try c.tags()
  }
}

public struct OffsetCommitPartition: WireStruct {
  public var index: Int32 = 0
  public var offset: Int64 = 0
  public var leaderEpoch: Int32 = -1
  public var metadata: String?

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&index)
    try c.int64(&offset)
    if c.version >= 6 { try c.int32(&leaderEpoch) }
    try c.optionalString(&metadata)
    try c.tags()
  }
}

public struct OffsetCommitResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var topics: [PartitionErrors] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    if c.version >= 3 { try c.int32(&throttleTimeMs) }
    try c.array(&topics)
    try c.tags()
  }
}

/// Codes by topic and partition.
public struct PartitionErrors: WireStruct {
  public var name = ""
  public var partitions: [PartitionError] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.array(&partitions)
    try c.tags()
  }
}

public struct PartitionError: WireStruct {
  public var index: Int32 = 0
  public var error: ErrorCode = .none

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&index)
    try c.error(&error)
    try c.tags()
  }
}
