// DeleteRecords (key 21), versions 0 to 2.

public struct DeleteRecordsRequest: WireStruct {
  public var topics: [DeleteRecordsTopic] = []
  public var timeoutMs: Int32 = 0

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.array(&topics)
    try c.int32(&timeoutMs)
    try c.tags()
  }
}

public struct DeleteRecordsTopic: WireStruct {
  public var name = ""
  public var partitions: [DeleteRecordsPartition] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.array(&partitions)
    try c.tags()
  }
}

public struct DeleteRecordsPartition: WireStruct {
  public var index: Int32 = 0
  public var offset: Int64 = 0

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&index)
    try c.int64(&offset)
    try c.tags()
  }
}

public struct DeleteRecordsResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var topics: [DeletedRecordsTopic] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&throttleTimeMs)
    try c.array(&topics)
    try c.tags()
  }
}

public struct DeletedRecordsTopic: WireStruct {
  public var name = ""
  public var partitions: [DeletedRecordsPartition] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.array(&partitions)
    try c.tags()
  }
}

public struct DeletedRecordsPartition: WireStruct {
  public var index: Int32 = 0
  public var lowWatermark: Int64 = -1
  public var error: ErrorCode = .none

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&index)
    try c.int64(&lowWatermark)
    try c.error(&error)
    try c.tags()
  }
}
