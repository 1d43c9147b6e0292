// DeleteGroups (key 42), versions 0 to 2, and OffsetDelete (key 47), version 0.

public struct DeleteGroupsRequest: WireStruct {
  public var groups: [String] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.strings(&groups)
    try c.tags()
  }
}

public struct DeleteGroupsResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var results: [DeletedGroup] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&throttleTimeMs)
    try c.array(&results)
    try c.tags()
  }
}

public struct DeletedGroup: WireStruct {
  public var groupId = ""
  public var error: ErrorCode = .none

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&groupId)
    try c.error(&error)
    try c.tags()
  }
}

public struct OffsetDeleteRequest: WireStruct {
  public var groupId = ""
  public var topics: [OffsetFetchTopic] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&groupId)
    try c.array(&topics)
    try c.tags()
  }
}

public struct OffsetDeleteResponse: WireStruct {
  public var error: ErrorCode = .none
  public var throttleTimeMs: Int32 = 0
  public var topics: [PartitionErrors] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.error(&error)
    try c.int32(&throttleTimeMs)
    try c.array(&topics)
    try c.tags()
  }
}
