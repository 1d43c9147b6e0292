// InitProducerId (key 22), versions 0 to 4.

public struct InitProducerIdRequest: WireStruct {
  public var transactionalId: String?
  public var transactionTimeoutMs: Int32 = 0
  public var producerId: Int64 = -1
  public var producerEpoch: Int16 = -1

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.optionalString(&transactionalId)
    try c.int32(&transactionTimeoutMs)
    if c.version >= 3 { try c.int64(&producerId) }
    if c.version >= 3 { try c.int16(&producerEpoch) }
    try c.tags()
  }
}

public struct InitProducerIdResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var error: ErrorCode = .none
  public var producerId: Int64 = -1
  public var producerEpoch: Int16 = -1

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&throttleTimeMs)
    try c.error(&error)
    try c.int64(&producerId)
    try c.int16(&producerEpoch)
    try c.tags()
  }
}
