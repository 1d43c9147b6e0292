// DescribeGroups (key 15), versions 0 to 5.

public struct DescribeGroupsRequest: WireStruct {
  public var groups: [String] = []
  public var includeAuthorizedOperations = false

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.strings(&groups)
    if c.version >= 3 { try c.bool(&includeAuthorizedOperations) }
    try c.tags()
  }
}

public struct DescribeGroupsResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var groups: [DescribedGroup] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    if c.version >= 1 { try c.int32(&throttleTimeMs) }
    try c.array(&groups)
    try c.tags()
  }
}

public struct DescribedGroup: WireStruct {
  public var error: ErrorCode = .none
  public var groupId = ""
  public var state = ""
  public var protocolType = ""
  public var protocolName = ""
  public var members: [DescribedMember] = []
  public var authorizedOperations: Int32 = Int32.min

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.error(&error)
    try c.string(&groupId)
    try c.string(&state)
    try c.string(&protocolType)
    try c.string(&protocolName)
    try c.array(&members)
    if c.version >= 3 { try c.int32(&authorizedOperations) }
    try c.tags()
  }
}

public struct DescribedMember: WireStruct {
  public var memberId = ""
  public var groupInstanceId: String?
  public var clientId = ""
  public var clientHost = ""
  public var metadata: [UInt8] = []
  public var assignment: [UInt8] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&memberId)
    if c.version >= 4 { try c.optionalString(&groupInstanceId) }
    try c.string(&clientId)
    try c.string(&clientHost)
    try c.bytes(&metadata)
    try c.bytes(&assignment)
    try c.tags()
  }
}
