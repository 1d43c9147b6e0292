// JoinGroup (key 11), versions 0 to 7.

public struct JoinGroupRequest: WireStruct {
  public var groupId = ""
  public var sessionTimeoutMs: Int32 = 0
  public var rebalanceTimeoutMs: Int32 = -1
  public var memberId = ""
  public var groupInstanceId: String?
  public var protocolType = ""
  public var protocols: [JoinProtocol] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&groupId)
    try c.int32(&sessionTimeoutMs)
    if c.version >= 1 { try c.int32(&rebalanceTimeoutMs) }
    try c.string(&memberId)
    if c.version >= 5 { try c.optionalString(&groupInstanceId) }
    try c.string(&protocolType)
    try c.array(&protocols)
    try c.tags()
  }
}

public struct JoinProtocol: WireStruct {
  public var name = ""
  public var metadata: [UInt8] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.bytes(&metadata)
    try c.tags()
  }
}

public struct JoinGroupResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var error: ErrorCode = .none
  public var generationId: Int32 = -1
  public var protocolType: String?
  /// Not null before version 7.
  public var protocolName: String?
  public var leader = ""
  public var memberId = ""
  public var members: [JoinedMember] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    if c.version >= 2 { try c.int32(&throttleTimeMs) }
    try c.error(&error)
    try c.int32(&generationId)
    if c.version >= 7 { try c.optionalString(&protocolType) }
    try c.optionalString(&protocolName)
    try c.string(&leader)
    try c.string(&memberId)
    try c.array(&members)
    try c.tags()
  }
}

public struct JoinedMember: WireStruct {
  public var memberId = ""
  public var groupInstanceId: String?
  public var metadata: [UInt8] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&memberId)
    if c.version >= 5 { try c.optionalString(&groupInstanceId) }
    try c.bytes(&metadata)
    try c.tags()
  }
}
