// CreatePartitions (key 37), versions 0 to 3.

public struct CreatePartitionsRequest: WireStruct {
  public var topics: [CreatePartitionsTopic] = []
  public var timeoutMs: Int32 = 0
  public var validateOnly = false

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.array(&topics)
    try c.int32(&timeoutMs)
    try c.bool(&validateOnly)
    try c.tags()
  }
}

public struct CreatePartitionsTopic: WireStruct {
  public var name = ""
  public var count: Int32 = 0
  public var assignments: [CreatePartitionsAssignment]?

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.int32(&count)
    try c.optionalArray(&assignments)
    try c.tags()
  }
}

public struct CreatePartitionsAssignment: WireStruct {
  public var brokers: [Int32] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32s(&brokers)
    try c.tags()
  }
}

public struct CreatePartitionsResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var topics: [CreatedPartitions] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&throttleTimeMs)
    try c.array(&topics)
    try c.tags()
  }
}

public struct CreatedPartitions: WireStruct {
  public var name = ""
  public var error: ErrorCode = .none
  public var errorMessage: String?

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.error(&error)
    try c.optionalString(&errorMessage)
    try c.tags()
  }
}
