// ApiVersions (key 18), versions 0 to 3.

public struct ApiVersionsRequest: WireStruct {
  public var clientSoftwareName = ""
  public var clientSoftwareVersion = ""

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    if c.version >= 3 { try c.string(&clientSoftwareName) }
    if c.version >= 3 { try c.string(&clientSoftwareVersion) }
    try c.tags()
  }
}

public struct ApiVersionsResponse: WireStruct {
  public var error: ErrorCode = .none
  public var apis: [ApiVersion] = []
  public var throttleTimeMs: Int32 = 0

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.error(&error)
    try c.array(&apis)
    if c.version >= 1 { try c.int32(&throttleTimeMs) }
    try c.tags()
  }
}

public struct ApiVersion: WireStruct {
  public var key: Int16 = 0
  public var minVersion: Int16 = 0
  public var maxVersion: Int16 = 0

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int16(&key)
    try c.int16(&minVersion)
    try c.int16(&maxVersion)
    try c.tags()
  }
}
