// OffsetForLeaderEpoch (key 23), versions 2 to 4.

public struct OffsetForLeaderEpochRequest: WireStruct {
  public var replicaId: Int32 = -2
  public var topics: [LeaderEpochTopic] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    if c.version >= 3 { try c.int32(&replicaId) }
    try c.array(&topics)
    try c.tags()
  }
}

public struct LeaderEpochTopic: WireStruct {
  public var name = ""
  public var partitions: [LeaderEpochPartition] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.array(&partitions)
    try c.tags()
  }
}

public struct LeaderEpochPartition: WireStruct {
  public var index: Int32 = 0
  public var currentLeaderEpoch: Int32 = -1
  public var leaderEpoch: Int32 = 0

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&index)
    try c.int32(&currentLeaderEpoch)
    try c.int32(&leaderEpoch)
    try c.tags()
  }
}

public struct OffsetForLeaderEpochResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var topics: [LeaderEpochEndTopic] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&throttleTimeMs)
    try c.array(&topics)
    try c.tags()
  }
}

public struct LeaderEpochEndTopic: WireStruct {
  public var name = ""
  public var partitions: [LeaderEpochEnd] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.array(&partitions)
    try c.tags()
  }
}

public struct LeaderEpochEnd: WireStruct {
  public var error: ErrorCode = .none
  public var index: Int32 = 0
  public var leaderEpoch: Int32 = -1
  public var endOffset: Int64 = -1

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.error(&error)
    try c.int32(&index)
    try c.int32(&leaderEpoch)
    try c.int64(&endOffset)
    try c.tags()
  }
}
