// DeleteTopics (key 20), versions 0 to 5.

public struct DeleteTopicsRequest: WireStruct {
  public var names: [String] = []
  public var timeoutMs: Int32 = 0

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.strings(&names)
    try c.int32(&timeoutMs)
    try c.tags()
  }
}

public struct DeleteTopicsResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var topics: [DeletedTopic] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    if c.version >= 1 { try c.int32(&throttleTimeMs) }
    try c.array(&topics)
    try c.tags()
  }
}

public struct DeletedTopic: WireStruct {
  public var name = ""
  public var error: ErrorCode = .none
  public var errorMessage: String?

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.error(&error)
    if c.version >= 5 { try c.optionalString(&errorMessage) }
    try c.tags()
  }
}
