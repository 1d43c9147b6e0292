// TxnOffsetCommit (key 28), versions 0 to 3.

public struct TxnOffsetCommitRequest: WireStruct {
  public var transactionalId = ""
  public var groupId = ""
  public var producerId: Int64 = 0
  public var producerEpoch: Int16 = 0
  public var generationId: Int32 = -1
  public var memberId = ""
  public var groupInstanceId: String?
  public var topics: [TxnOffsetCommitTopic] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&transactionalId)
    try c.string(&groupId)
    try c.int64(&producerId)
    try c.int16(&producerEpoch)
    if c.version >= 3 { try c.int32(&generationId) }
    if c.version >= 3 { try c.string(&memberId) }
    if c.version >= 3 { try c.optionalString(&groupInstanceId) }
    try c.array(&topics)
    try c.tags()
  }
}

public struct TxnOffsetCommitTopic: WireStruct {
  public var name = ""
  public var partitions: [TxnOffsetCommitPartition] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.array(&partitions)
    try c.tags()
  }
}

public struct TxnOffsetCommitPartition: WireStruct {
  public var index: Int32 = 0
  public var offset: Int64 = 0
  public var leaderEpoch: Int32 = -1
  public var metadata: String?

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&index)
    try c.int64(&offset)
    if c.version >= 2 { try c.int32(&leaderEpoch) }
    try c.optionalString(&metadata)
    try c.tags()
  }
}

public struct TxnOffsetCommitResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var topics: [PartitionErrors] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&throttleTimeMs)
    try c.array(&topics)
    try c.tags()
  }
}
