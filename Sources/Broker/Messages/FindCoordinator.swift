// FindCoordinator (key 10), versions 0 to 3.

public struct FindCoordinatorRequest: WireStruct {
  public var key = ""
  /// 0: a group; 1: a transactional id.
  public var keyType: Int8 = 0

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&key)
    if c.version >= 1 { try c.int8(&keyType) }
    try c.tags()
  }
}

public struct FindCoordinatorResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var error: ErrorCode = .none
  public var errorMessage: String?
  public var nodeId: Int32 = 0
  public var host = ""
  public var port: Int32 = 0

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    if c.version >= 1 { try c.int32(&throttleTimeMs) }
    try c.error(&error)
    if c.version >= 1 { try c.optionalString(&errorMessage) }
    try c.int32(&nodeId)
    try c.string(&host)
    try c.int32(&port)
    try c.tags()
  }
}
