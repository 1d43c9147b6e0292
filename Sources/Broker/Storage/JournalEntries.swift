/// What the journal says, one change an entry. All but the log's own content is here: topics, where
/// logs begin, producer ids, transactions, groups and their offsets.
///
/// An entry holds the new state of what it names, not the step to it, so that a journal can be
/// written anew from the state in memory.
enum JournalEntry {
  case topic(TopicEntry)
  case topicDeleted(NameEntry)
  case logStart(LogStartEntry)
  case producerIds(Int64)
  case transaction(TransactionEntry)
  case group(GroupEntry)
  case groupDeleted(NameEntry)
  case offsets(OffsetsEntry)
  case transactionalOffsetsEnd(OffsetsEndEntry)
  case offsetsDeleted(OffsetsDeletedEntry)

  func encode(_ c: inout Codec) throws(WireError) {
    switch self {
    case .topic(let entry): try Self.write(1, entry, &c)
    case .topicDeleted(let entry): try Self.write(2, entry, &c)
    case .logStart(let entry): try Self.write(3, entry, &c)
    case .producerIds(let next):
      var (kind, next): (Int8, Int64) = (4, next)
      try c.int8(&kind)
      try c.int64(&next)
    case .transaction(let entry): try Self.write(5, entry, &c)
    case .group(let entry): try Self.write(6, entry, &c)
    case .groupDeleted(let entry): try Self.write(7, entry, &c)
    case .offsets(let entry): try Self.write(8, entry, &c)
    case .transactionalOffsetsEnd(let entry): try Self.write(9, entry, &c)
    case .offsetsDeleted(let entry): try Self.write(10, entry, &c)
    }
  }

  private static func write<Entry: WireStruct>(
    _ kind: Int8, _ entry: Entry, _ c: inout Codec
  ) throws(WireError) {
    var kind = kind
    try c.int8(&kind)
    try c.write(entry)
  }

  static func decode(_ c: inout Codec) throws(WireError) -> JournalEntry {
    var kind: Int8 = 0
    try c.int8(&kind)
    switch kind {
    case 1: return .topic(try c.message())
    case 2: return .topicDeleted(try c.message())
    case 3: return .logStart(try c.message())
    case 4:
      var next: Int64 = 0
      try c.int64(&next)
      return .producerIds(next)
    case 5: return .transaction(try c.message())
    case 6: return .group(try c.message())
    case 7: return .groupDeleted(try c.message())
    case 8: return .offsets(try c.message())
    case 9: return .transactionalOffsetsEnd(try c.message())
    case 10: return .offsetsDeleted(try c.message())
    default: throw .unknownApi(Int16(kind))
    }
  }
}

struct NameEntry: WireStruct {
  var name = ""

  init() {}
  init(_ name: String) { self.name = name }

  mutating func code(_ c: inout Codec) throws(WireError) { try c.string(&name) }
}

struct TopicEntry: WireStruct {
  var name = ""
  var partitionCount: Int32 = 0
  var settings: [CreatableConfig] = []

  init() {}

  init(_ topic: Topic) {
    name = topic.name
    partitionCount = Int32(topic.partitions.count)
    settings = topic.settings.sorted { $0.key < $1.key }.map {
      var item = CreatableConfig()
      (item.name, item.value) = $0
      return item
    }
  }

  mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&name)
    try c.int32(&partitionCount)
    try c.array(&settings)
  }
}

struct LogStartEntry: WireStruct {
  var partition = PartitionName()
  var offset: Int64 = 0

  init() {}

  init(_ name: TopicPartition, _ offset: Int64) {
    partition = PartitionName(name)
    self.offset = offset
  }

  mutating func code(_ c: inout Codec) throws(WireError) {
    try partition.code(&c)
    try c.int64(&offset)
  }
}

struct PartitionName: WireStruct {
  var value = TopicPartition("", 0)

  init() {}
  init(_ value: TopicPartition) { self.value = value }

  mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&value.topic)
    try c.int32(&value.index)
  }
}

struct TransactionEntry: WireStruct {
  var id = ""
  var producerId: Int64 = 0
  var lastProducerId: Int64 = -1
  var epoch: Int16 = -1
  var lastEpoch: Int16 = -1
  var timeoutMs: Int32 = 0
  var state: Int8 = 0
  var startMs: Int64 = -1
  var partitions: [PartitionName] = []
  var groups: [String] = []

  init() {}

  init(_ transaction: Transaction) {
    id = transaction.id
    producerId = transaction.producerId
    lastProducerId = transaction.lastProducerId
    epoch = transaction.epoch
    lastEpoch = transaction.lastEpoch
    timeoutMs = transaction.timeoutMs
    state = transaction.state.rawValue
    startMs = transaction.startMs
    partitions = transaction.partitions.sorted().map(PartitionName.init)
    groups = transaction.groups.sorted()
  }

  mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&id)
    try c.int64(&producerId)
    try c.int64(&lastProducerId)
    try c.int16(&epoch)
    try c.int16(&lastEpoch)
    try c.int32(&timeoutMs)
    try c.int8(&state)
    try c.int64(&startMs)
    try c.array(&partitions)
    try c.strings(&groups)
  }
}

struct GroupEntry: WireStruct {
  var id = ""
  var generation: Int32 = 0
  var protocolType: String?
  var protocolName: String?
  var leader: String?
  var members: [MemberEntry] = []

  init() {}

  init(_ group: Group) {
    id = group.id
    generation = group.generation
    protocolType = group.protocolType
    protocolName = group.protocolName
    leader = group.leader
    members = group.members.map(MemberEntry.init)
  }

  mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&id)
    try c.int32(&generation)
    try c.optionalString(&protocolType)
    try c.optionalString(&protocolName)
    try c.optionalString(&leader)
    try c.array(&members)
  }
}

struct MemberEntry: WireStruct {
  var id = ""
  var instanceId: String?
  var clientId = ""
  var clientHost = ""
  var sessionTimeoutMs: Int32 = 0
  var rebalanceTimeoutMs: Int32 = 0
  var protocols: [JoinProtocol] = []
  var assignment: [UInt8] = []

  init() {}

  init(_ member: Member) {
    id = member.id
    instanceId = member.instanceId
    clientId = member.clientId
    clientHost = member.clientHost
    sessionTimeoutMs = member.sessionTimeoutMs
    rebalanceTimeoutMs = member.rebalanceTimeoutMs
    protocols = member.protocols
    assignment = member.assignment
  }

  mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&id)
    try c.optionalString(&instanceId)
    try c.string(&clientId)
    try c.string(&clientHost)
    try c.int32(&sessionTimeoutMs)
    try c.int32(&rebalanceTimeoutMs)
    try c.array(&protocols)
    try c.bytes(&assignment)
  }
}

struct OffsetsEntry: WireStruct {
  var group = ""
  /// -1: committed outside a transaction.
  var producerId: Int64 = -1
  var offsets: [OffsetEntry] = []

  init() {}

  init(_ group: String, producerId: Int64, _ offsets: [TopicPartition: CommittedOffset]) {
    self.group = group
    self.producerId = producerId
    self.offsets = offsets.sorted { $0.key < $1.key }.map { OffsetEntry($0.key, $0.value) }
  }

  mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&group)
    try c.int64(&producerId)
    try c.array(&offsets)
  }
}

struct OffsetEntry: WireStruct {
  var partition = PartitionName()
  var committed = CommittedOffset(offset: -1, leaderEpoch: -1, metadata: "", order: 0)

  init() {}

  init(_ name: TopicPartition, _ committed: CommittedOffset) {
    partition = PartitionName(name)
    self.committed = committed
  }

  mutating func code(_ c: inout Codec) throws(WireError) {
    try partition.code(&c)
    try c.int64(&committed.offset)
    try c.int32(&committed.leaderEpoch)
    try c.optionalString(&committed.metadata)
    try c.int64(&committed.order)
  }
}

struct OffsetsEndEntry: WireStruct {
  var group = ""
  var producerId: Int64 = 0
  var committed = false

  init() {}

  init(_ group: String, _ producerId: Int64, _ committed: Bool) {
    self.group = group
    self.producerId = producerId
    self.committed = committed
  }

  mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&group)
    try c.int64(&producerId)
    try c.bool(&committed)
  }
}

struct OffsetsDeletedEntry: WireStruct {
  var group = ""
  var partitions: [PartitionName] = []

  init() {}

  init(_ group: String, _ names: [TopicPartition]) {
    self.group = group
    partitions = names.map(PartitionName.init)
  }

  mutating func code(_ c: inout Codec) throws(WireError) {
    try c.string(&group)
    try c.array(&partitions)
  }
}
