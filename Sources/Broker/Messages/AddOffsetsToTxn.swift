// AddOffsetsToTxn (key 25), versions 0 to 3.

public struct AddOffsetsToTxnRequest: WireStruct {
  public var transactionalId = ""
  public var producerId: Int64 = 0
  public var producerEpoch: Int16 = 0
  public var groupId = ""

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&transactionalId)
    try c.int64(&producerId)
    try c.int16(&producerEpoch)
    try c.string(&groupId)
    try c.tags()
  }
}

public struct AddOffsetsToTxnResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var error: ErrorCode = .none

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&throttleTimeMs)
    try c.error(&error)
    try c.tags()
  }
}
