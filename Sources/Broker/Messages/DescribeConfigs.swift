// DescribeConfigs (key 32), versions 0 to 4.

public struct DescribeConfigsRequest: WireStruct {
  public var resources: [DescribeConfigsResource] = []
  public var includeSynonyms = false
  public var includeDocumentation = false

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.array(&resources)
    if c.version >= 1 { try c.bool(&includeSynonyms) }
    if c.version >= 3 { try c.bool(&includeDocumentation) }
    try c.tags()
  }
}

public struct DescribeConfigsResource: WireStruct {
  public var type: Int8 = 0
  public var name = ""
  public var keys: [String]?

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int8(&type)
    try c.string(&name)
    try c.optionalStrings(&keys)
    try c.tags()
  }
}

public struct DescribeConfigsResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var results: [DescribedConfigs] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&throttleTimeMs)
    try c.array(&results)
    try c.tags()
  }
}

public struct DescribedConfigs: WireStruct {
  public var error: ErrorCode = .none
  public var errorMessage: String?
  public var type: Int8 = 0
  public var name = ""
  public var configs: [DescribedConfig] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.error(&error)
    try c.optionalString(&errorMessage)
    try c.int8(&type)
    try c.string(&name)
    try c.array(&configs)
    try c.tags()
  }
}

public struct DescribedConfig: WireStruct {
  public var name = ""
  public var value: String?
  public var readOnly = false
  public var isDefault = false
  /// 1: set on the topic; 4: set on the broker at start; 5: the default.
  public var source: Int8 = -1
  public var isSensitive = false
  public var synonyms: [ConfigSynonym] = []
  public var type: Int8 = 0
  public var documentation: String?

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.optionalString(&value)
    try c.bool(&readOnly)
    if c.version < 1 { try c.bool(&isDefault) }
    if c.version >= 1 { try c.int8(&source) }
    try c.bool(&isSensitive)
    if c.version >= 1 { try c.array(&synonyms) }
    if c.version >= 3 { try c.int8(&type) }
    if c.version >= 3 { try c.optionalString(&documentation) }
    try c.tags()
  }
}

public struct ConfigSynonym: WireStruct {
  public var name = ""
  public var value: String?
  public var source: Int8 = 0

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.optionalString(&value)
    try c.int8(&source)
    try c.tags()
  }
}
