// AddPartitionsToTxn (key 24), versions 0 to 3.

public struct AddPartitionsToTxnRequest: WireStruct {
  public var transactionalId = ""
  public var producerId: Int64 = 0
  public var producerEpoch: Int16 = 0
  public var topics: [OffsetFetchTopic] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&transactionalId)
    try c.int64(&producerId)
    try c.int16(&producerEpoch)
    try c.array(&topics)
    try c.tags()
  }
}

public struct AddPartitionsToTxnResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var topics: [PartitionErrors] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&throttleTimeMs)
    try c.array(&topics)
    try c.tags()
  }
}
