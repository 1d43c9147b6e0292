// Metadata (key 3), versions 0 to 9.

public struct MetadataRequest: WireStruct {
  /// Null for all topics; in version 0 an empty list is that.
  public var topics: [MetadataTopicName]?
  public var allowAutoTopicCreation = true
  public var includeClusterAuthorizedOperations = false
  public var includeTopicAuthorizedOperations = false

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.optionalArray(&topics)
    if c.version >= 4 { try c.bool(&allowAutoTopicCreation) }
    if (8...9).contains(c.version) { try c.bool(&includeClusterAuthorizedOperations) }
    if c.version >= 8 { try c.bool(&includeTopicAuthorizedOperations) }
    try c.tags()
  }
}

public struct MetadataTopicName: WireStruct {
  public var name = ""

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.tags()
  }
}

public struct MetadataResponse: WireStruct {
  public var throttleTimeMs: Int32 = 0
  public var brokers: [MetadataBroker] = []
  public var clusterId: String?
  public var controllerId: Int32 = 0
  public var topics: [MetadataTopic] = []
  public var clusterAuthorizedOperations: Int32 = Int32.min

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    if c.version >= 3 { try c.int32(&throttleTimeMs) }
    try c.array(&brokers)
    if c.version >= 2 { try c.optionalString(&clusterId) }
    if c.version >= 1 { try c.int32(&controllerId) }
    try c.array(&topics)
    if (8...9).contains(c.version) { try c.int32(&clusterAuthorizedOperations) }
    try c.tags()
  }
}

public struct MetadataBroker: WireStruct {
  public var nodeId: Int32 = 0
  public var host = ""
  public var port: Int32 = 0
  public var rack: String?

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.int32(&nodeId)
    try c.string(&host)
    try c.int32(&port)
    if c.version >= 1 { try c.optionalString(&rack) }
    try c.tags()
  }
}

public struct MetadataTopic: WireStruct {
  public var error: ErrorCode = .none
  public var name = ""
  public var isInternal = false
  public var partitions: [MetadataPartition] = []
  public var authorizedOperations: Int32 = Int32.min

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.error(&error)
    try c.string(&name)
    if c.version >= 1 { try c.bool(&isInternal) }
    try c.array(&partitions)
    if c.version >= 8 { try c.int32(&authorizedOperations) }
    try c.tags()
  }
}

public struct MetadataPartition: WireStruct {
  public var error: ErrorCode = .none
  public var index: Int32 = 0
  public var leaderId: Int32 = 0
  public var leaderEpoch: Int32 = 0
  public var replicaNodes: [Int32] = []
  public var isrNodes: [Int32] = []
  public var offlineReplicas: [Int32] = []

  public init() {}

  public mutating func code(_ c: inout Codec) throws(WireError) {
    try c.error(&error)
    try c.int32(&index)
    try c.int32(&leaderId)
    if c.version >= 7 { try c.int32(&leaderEpoch) }
    try c.int32s(&replicaNodes)
    try c.int32s(&isrNodes)
    if c.version >= 5 { try c.int32s(&offlineReplicas) }
    try c.tags()
  }
}
