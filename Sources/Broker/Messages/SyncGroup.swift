// SyncGroup (key 14), versions 0 to 5.

public struct SyncGroupRequest: WireStruct {
  public var groupId = ""
  public var generationId: Int32 = 0
  public var memberId = ""
  public var groupInstanceId: String?
  public var protocolType: String?
  public var protocolName: String?
  public var assignments: [SyncAssignment] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&groupId)
    try c.int32(&generationId)
    try c.string(&memberId)
    if c.version >= 3 { try c.optionalString(&groupInstanceId) }
    if c.version >= 5 { try c.optionalString(&protocolType) }
    if c.version >= 5 { try c.optionalString(&protocolName) }
    try c.array(&assignments)
    try c.tags()
  }
}

public struct SyncAssignment: WireStruct {
  public var memberId = ""
  public var assignment: [UInt8] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&memberId)
    try c.bytes(&assignment)
    try c.tags()
  }
}

public struct SyncGroupResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var error: ErrorCode = .none
  public var protocolType: String?
  public var protocolName: String?
  public var assignment: [UInt8] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    if c.version >= 1 { try c.int32(&throttleTimeMs) }
    try c.error(&error)
    if c.version >= 5 { try c.optionalString(&protocolType) }
    if c.version >= 5 { try c.optionalString(&protocolName) }
    try c.bytes(&assignment)
    try c.tags()
  }
}
