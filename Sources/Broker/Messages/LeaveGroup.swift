// LeaveGroup (key 13), versions 0 to 4.

public struct LeaveGroupRequest: WireStruct {
  public var groupId = ""
  public var memberId = ""
  public var members: [LeavingMember] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&groupId)
    if (...2).contains(c.version) { try c.string(&memberId) }
    if c.version >= 3 { try c.array(&members) }
    try c.tags()
  }
}

public struct LeavingMember: WireStruct {
  public var memberId = ""
  public var groupInstanceId: String?

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&memberId)
    try c.optionalString(&groupInstanceId)
    try c.tags()
  }
}

public struct LeaveGroupResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var error: ErrorCode = .none
  public var members: [LeftMember] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    if c.version >= 1 { try c.int32(&throttleTimeMs) }
    try c.error(&error)
    if c.version >= 3 { try c.array(&members) }
    try c.tags()
  }
}

public struct LeftMember: WireStruct {
  public var memberId = ""
  public var groupInstanceId: String?
  public var error: ErrorCode = .none

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&memberId)
    try c.optionalString(&groupInstanceId)
    try c.error(&error)
    try c.tags()
  }
}
