// CreateTopics (key 19), versions 0 to 5.

public struct CreateTopicsRequest: WireStruct {
  public var topics: [CreatableTopic] = []
  public var timeoutMs: Int32 = 0
  public var validateOnly = false

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.array(&topics)
    try c.int32(&timeoutMs)
    if c.version >= 1 { try c.bool(&validateOnly) }
    try c.tags()
  }
}

public struct CreatableTopic: WireStruct {
  public var name = ""
  public var partitionCount: Int32 = -1
  public var replicationFactor: Int16 = -1
  public var assignments: [CreatableAssignment] = []
  public var configs: [CreatableConfig] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.int32(&partitionCount)
    try c.int16(&replicationFactor)
    try c.array(&assignments)
    try c.array(&configs)
    try c.tags()
  }
}

public struct CreatableAssignment: WireStruct {
  public var partition: Int32 = 0
  public var brokers: [Int32] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&partition)
    try c.int32s(&brokers)
    try c.tags()
  }
}

public struct CreatableConfig: WireStruct {
  public var name = ""
  public var value: String?

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.optionalString(&value)
    try c.tags()
  }
}

public struct CreateTopicsResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var topics: [CreatedTopic] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    if c.version >= 2 { try c.int32(&throttleTimeMs) }
    try c.array(&topics)
    try c.tags()
  }
}

public struct CreatedTopic: WireStruct {
  public var name = ""
  public var error: ErrorCode = .none
  public var errorMessage: String?
  public var partitionCount: Int32 = -1
  public var replicationFactor: Int16 = -1
  public var configs: [CreatedConfig]?

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.error(&error)
    if c.version >= 1 { try c.optionalString(&errorMessage) }
    if c.version >= 5 { try c.int32(&partitionCount) }
    if c.version >= 5 { try c.int16(&replicationFactor) }
    if c.version >= 5 { try c.optionalArray(&configs) }
    try c.tags()
  }
}

public struct CreatedConfig: WireStruct {
  public var name = ""
  public var value: String?
  public var readOnly = false
  public var source: Int8 = 0
  public var isSensitive = false

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.optionalString(&value)
    try c.bool(&readOnly)
    try c.int8(&source)
    try c.bool(&isSensitive)
    try c.tags()
  }
}
