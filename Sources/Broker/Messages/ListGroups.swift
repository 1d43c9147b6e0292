// ListGroups (key 16), versions 0 to 4.

public struct ListGroupsRequest: WireStruct {
  public var statesFilter: [String] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    if c.version >= 4 { try c.strings(&statesFilter) }
    try c.tags()
  }
}

public struct ListGroupsResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var error: ErrorCode = .none
  public var groups: [ListedGroup] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    if c.version >= 1 { try c.int32(&throttleTimeMs) }
    try c.error(&error)
    try c.array(&groups)
    try c.tags()
  }
}

public struct ListedGroup: WireStruct {
  public var groupId = ""
  public var protocolType = ""
  public var state = ""

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&groupId)
    try c.string(&protocolType)
    if c.version >= 4 { try c.string(&state) }
    try c.tags()
  }
}
