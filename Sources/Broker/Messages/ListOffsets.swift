// ListOffsets (key 2), versions 1 to 7.

/// Find offsets by time.
public struct ListOffsetsRequest: WireStruct {
  public var replicaId: Int32 = -1
  public var isolationLevel: Int8 = 0
  public var topics: [ListOffsetsTopic] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&replicaId)
    if c.version >= 2 { try c.int8(&isolationLevel) }
    try c.array(&topics)
    try c.tags()
  }
}

public struct ListOffsetsTopic: WireStruct {
  public var name = ""
  public var partitions: [ListOffsetsPartition] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.array(&partitions)
    try c.tags()
  }
}

public struct ListOffsetsPartition: WireStruct {
  public var index: Int32 = 0
  public var currentLeaderEpoch: Int32 = -1
  /// -1: the end; -2: the start; -3: the record with the greatest timestamp (version 7).
  public var timestamp: Int64 = 0

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&index)
    if c.version >= 4 { try c.int32(&currentLeaderEpoch) }
    try c.int64(&timestamp)
    try c.tags()
  }
}

public struct ListOffsetsResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var topics: [ListedTopic] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    if c.version >= 2 { try c.int32(&throttleTimeMs) }
    try c.array(&topics)
    try c.tags()
  }
}

public struct ListedTopic: WireStruct {
  public var name = ""
  public var partitions: [ListedPartition] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.array(&partitions)
    try c.tags()
  }
}

public struct ListedPartition: WireStruct {
  public var index: Int32 = 0
  public var error: ErrorCode = .none
  public var timestamp: Int64 = -1
  public var offset: Int64 = -1
  public var leaderEpoch: Int32 = -1

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&index)
    try c.error(&error)
    try c.int64(&timestamp)
    try c.int64(&offset)
    if c.version >= 4 { try c.int32(&leaderEpoch) }
    try c.tags()
  }
}
