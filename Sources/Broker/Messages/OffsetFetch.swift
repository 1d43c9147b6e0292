// OffsetFetch (key 9), versions 1 to 7.

public struct OffsetFetchRequest: WireStruct {
  public var groupId = ""
  /// Null for all of the group (version 2 and later).
  public var topics: [OffsetFetchTopic]?
  public var requireStable = false

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&groupId)
    try c.optionalArray(&topics)
    if c.version >= 7 { try c.bool(&requireStable) }
    try c.tags()
  }
}

public struct OffsetFetchTopic: WireStruct {
  public var name = ""
  public var partitions: [Int32] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.int32s(&partitions)
    try c.tags()
  }
}

public struct OffsetFetchResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var topics: [FetchedOffsets] = []
  public var error: ErrorCode = .none

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    if c.version >= 3 { try c.int32(&throttleTimeMs) }
    try c.array(&topics)
    if c.version >= 2 { try c.error(&error) }
    try c.tags()
  }
}

public struct FetchedOffsets: WireStruct {
  public var name = ""
  public var partitions: [FetchedOffset] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.array(&partitions)
    try c.tags()
  }
}

public struct FetchedOffset: WireStruct {
  public var index: Int32 = 0
  public var offset: Int64 = -1
  public var leaderEpoch: Int32 = -1
  public var metadata: String? = ""
  public var error: ErrorCode = .none

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&index)
    try c.int64(&offset)
    if c.version >= 5 { try c.int32(&leaderEpoch) }
    try c.optionalString(&metadata)
    try c.error(&error)
    try c.tags()
  }
}
