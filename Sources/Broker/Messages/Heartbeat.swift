// Heartbeat (key 12), versions 0 to 4.

public struct HeartbeatRequest: WireStruct {
  public var groupId = ""
  public var generationId: Int32 = 0
  public var memberId = ""
  public var groupInstanceId: String?

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&groupId)
    try c.int32(&generationId)
    try c.string(&memberId)
    if c.version >= 3 { try c.optionalString(&groupInstanceId) }
    try c.tags()
  }
}

public struct HeartbeatResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var error: ErrorCode = .none

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    if c.version >= 1 { try c.int32(&throttleTimeMs) }
    try c.error(&error)
    try c.tags()
  }
}
