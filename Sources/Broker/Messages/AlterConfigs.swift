// AlterConfigs (key 33), versions 0 to 2, and IncrementalAlterConfigs (key 44), versions 0 to 1.

/// Replaces all that is set on a resource.
public struct AlterConfigsRequest: WireStruct {
  public var resources: [AlterConfigsResource] = []
  public var validateOnly = false

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.array(&resources)
    try c.bool(&validateOnly)
    try c.tags()
  }
}

public struct AlterConfigsResource: WireStruct {
  public var type: Int8 = 0
  public var name = ""
  public var configs: [CreatableConfig] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int8(&type)
    try c.string(&name)
    try c.array(&configs)
    try c.tags()
  }
}

/// Changes what is named and leaves the rest.
public struct IncrementalAlterConfigsRequest: WireStruct {
  public var resources: [IncrementalResource] = []
  public var validateOnly = false

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.array(&resources)
    try c.bool(&validateOnly)
    try c.tags()
  }
}

public struct IncrementalResource: WireStruct {
  public var type: Int8 = 0
  public var name = ""
  public var configs: [IncrementalConfig] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int8(&type)
    try c.string(&name)
    try c.array(&configs)
    try c.tags()
  }
}

public struct IncrementalConfig: WireStruct {
  public var name = ""
  /// 0: set; 1: delete; 2: append to a list; 3: remove from a list.
  public var operation: Int8 = 0
  public var value: String?

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.int8(&operation)
    try c.optionalString(&value)
    try c.tags()
  }
}

public struct AlterConfigsResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var resources: [AlteredResource] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&throttleTimeMs)
    try c.array(&resources)
    try c.tags()
  }
}

public struct AlteredResource: WireStruct {
  public var error: ErrorCode = .none
  public var errorMessage: String?
  public var type: Int8 = 0
  public var name = ""

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.error(&error)
    try c.optionalString(&errorMessage)
    try c.int8(&type)
    try c.string(&name)
    try c.tags()
  }
}
