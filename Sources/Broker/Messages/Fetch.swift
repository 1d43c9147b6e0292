// Fetch (key 1), versions 4 to 12. No fetch sessions: every request is a full one, as KIP-227
// allows a broker to answer with session id 0.

/// Read from some partitions, waiting for data up to a time.
public struct FetchRequest: WireStruct {
  public var replicaId: Int32 = -1
  public var maxWaitMs: Int32 = 0
  public var minBytes: Int32 = 0
  public var maxBytes: Int32 = Int32.max
  /// 0: all records; 1: committed ones.
  public var isolationLevel: Int8 = 0
  public var sessionId: Int32 = 0
  public var sessionEpoch: Int32 = -1
  public var topics: [FetchTopic] = []
  public var forgottenTopics: [ForgottenTopic] = []
  public var rackId = ""

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&replicaId)
    try c.int32(&maxWaitMs)
    try c.int32(&minBytes)
    try c.int32(&maxBytes)
    try c.int8(&isolationLevel)
    if c.version >= 7 { try c.int32(&sessionId) }
    if c.version >= 7 { try c.int32(&sessionEpoch) }
    try c.array(&topics)
    if c.version >= 7 { try c.array(&forgottenTopics) }
    if c.version >= 11 { try c.string(&rackId) }
    try c.tags()
  }
}

public struct FetchTopic: WireStruct {
  public var name = ""
  public var partitions: [FetchPartition] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.array(&partitions)
    try c.tags()
  }
}

public struct FetchPartition: WireStruct {
  public var index: Int32 = 0
  public var currentLeaderEpoch: Int32 = -1
  public var fetchOffset: Int64 = 0
  public var lastFetchedEpoch: Int32 = -1
  public var logStartOffset: Int64 = -1
  public var maxBytes: Int32 = 0

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&index)
    if c.version >= 9 { try c.int32(&currentLeaderEpoch) }
    try c.int64(&fetchOffset)
    if c.version >= 12 { try c.int32(&lastFetchedEpoch) }
    if c.version >= 5 { try c.int64(&logStartOffset) }
    try c.int32(&maxBytes)
    try c.tags()
  }
}

public struct ForgottenTopic: WireStruct {
  public var name = ""
  public var partitions: [Int32] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.int32s(&partitions)
    try c.tags()
  }
}

/// Record batches as they are stored.
public struct FetchResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var error: ErrorCode = .none
  public var sessionId: Int32 = 0
  public var topics: [FetchedTopic] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&throttleTimeMs)
    if c.version >= 7 { try c.error(&error) }
    if c.version >= 7 { try c.int32(&sessionId) }
    try c.array(&topics)
    try c.tags()
  }
}

public struct FetchedTopic: WireStruct {
  public var name = ""
  public var partitions: [FetchedPartition] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.array(&partitions)
    try c.tags()
  }
}

public struct FetchedPartition: WireStruct {
  public var index: Int32 = 0
  public var error: ErrorCode = .none
  public var highWatermark: Int64 = -1
  public var lastStableOffset: Int64 = -1
  public var logStartOffset: Int64 = -1
  public var abortedTransactions: [AbortedRange]?
  public var preferredReadReplica: Int32 = -1
  public var records: [ByteSlice]?

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&index)
    try c.error(&error)
    try c.int64(&highWatermark)
    try c.int64(&lastStableOffset)
    if c.version >= 5 { try c.int64(&logStartOffset) }
    try c.optionalArray(&abortedTransactions)
    if c.version >= 11 { try c.int32(&preferredReadReplica) }
    try c.records(&records)
    try c.tags()
  }
}

/// From this offset on, records of this producer are dropped up to its next control record.
public struct AbortedRange: WireStruct {
  public var producerId: Int64 = 0
  public var firstOffset: Int64 = 0

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int64(&producerId)
    try c.int64(&firstOffset)
    try c.tags()
  }
}
