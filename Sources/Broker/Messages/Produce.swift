// Produce (key 0), versions 3 to 9.

/// Record batches to append, by topic and partition.
public struct ProduceRequest: WireStruct {
  public var transactionalId: String?
  public var acks: Int16 = 0
  public var timeoutMs: Int32 = 0
  public var topics: [ProduceTopic] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.optionalString(&transactionalId)
    try c.int16(&acks)
    try c.int32(&timeoutMs)
    try c.array(&topics)
    try c.tags()
  }
}

public struct ProduceTopic: WireStruct {
  public var name = ""
  public var partitions: [ProducePartition] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.array(&partitions)
    try c.tags()
  }
}

public struct ProducePartition: WireStruct {
  public var index: Int32 = 0
  public var records: [ByteSlice]?

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&index)
    try c.records(&records)
    try c.tags()
  }
}

/// Where the batches went.
public struct ProduceResponse: WireStruct {
  public var topics: [ProducedTopic] = []
  public var throttleTimeMs: Int32 = 0

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.array(&topics)
    try c.int32(&throttleTimeMs)
    try c.tags()
  }
}

public struct ProducedTopic: WireStruct {
  public var name = ""
  public var partitions: [ProducedPartition] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.array(&partitions)
    try c.tags()
  }
}

public struct ProducedPartition: WireStruct {
  public var index: Int32 = 0
  public var error: ErrorCode = .none
  public var baseOffset: Int64 = -1
  /// -1 unless the topic stamps records itself.
  public var logAppendTimeMs: Int64 = -1
  public var logStartOffset: Int64 = -1
  public var recordErrors: [RecordError] = []
  public var errorMessage: String?

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&index)
    try c.error(&error)
    try c.int64(&baseOffset)
    try c.int64(&logAppendTimeMs)
    if c.version >= 5 { try c.int64(&logStartOffset) }
    if c.version >= 8 { try c.array(&recordErrors) }
    if c.version >= 8 { try c.optionalString(&errorMessage) }
    try c.tags()
  }
}

/// Which record of a batch is at fault.
public struct RecordError: WireStruct {
  public var batchIndex: Int32 = 0
  public var message: String?

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&batchIndex)
    try c.optionalString(&message)
    try c.tags()
  }
}
