/// Someone in a consumer group.
final class Member {
  var id: String
  let instanceId: String?
  var clientId: String
  var clientHost: String
  var sessionTimeoutMs: Int32
  var rebalanceTimeoutMs: Int32
  var protocols: [JoinProtocol]
  var assignment: [UInt8] = []

  /// A JoinGroup or SyncGroup that waits for the others.
  var join: RequestId?
  var sync: RequestId?
  /// Has not been through a rebalance yet, so cannot send heartbeats.
  var isNew = false
  /// When it is given up, unless it is heard of.
  var deadlineMs: Int64 = 0
  /// The time of the earliest timer set for it.
  var timerMs: Int64 = .max

  init(
    id: String, instanceId: String?, clientId: String, clientHost: String, sessionTimeoutMs: Int32,
    rebalanceTimeoutMs: Int32, protocols: [JoinProtocol]
  ) {
    self.id = id
    self.instanceId = instanceId
    self.clientId = clientId
    self.clientHost = clientHost
    self.sessionTimeoutMs = sessionTimeoutMs
    self.rebalanceTimeoutMs = rebalanceTimeoutMs
    self.protocols = protocols
  }

  func matches(_ other: [JoinProtocol]) -> Bool {
    protocols.count == other.count
      && zip(protocols, other).allSatisfy { $0.name == $1.name && $0.metadata == $1.metadata }
  }

  func metadata(for name: String?) -> [UInt8] {
    protocols.first { $0.name == name }?.metadata ?? []
  }
}

/// What a group last committed for a partition.
struct CommittedOffset {
  var offset: Int64
  var leaderEpoch: Int32
  var metadata: String?
  /// Its place among all commits: of two, the later one counts, whichever became visible last.
  var order: Int64
}

/// A consumer group of the classic protocol.
final class Group {
  enum State: String {
    case empty = "Empty"
    case preparingRebalance = "PreparingRebalance"
    case completingRebalance = "CompletingRebalance"
    case stable = "Stable"
  }

  let id: String
  var state = State.empty
  var generation: Int32 = 0
  var protocolType: String?
  var protocolName: String?
  var leader: String?
  /// In the order they joined.
  var members: [Member] = []
  /// Were given a member id and have not joined with it yet.
  var pendingMembers: Set<String> = []
  /// Have their JoinGroup answer and owe a SyncGroup.
  var pendingSync: Set<String> = []

  /// Counts joins begun, so that a timer of an earlier one is known for what it is.
  var joinStamp = 0
  /// In the first rebalance: how much longer it may be put off while members keep coming.
  var initialDelayLeftMs: Int64?
  var memberAddedInDelay = false

  var offsets: [TopicPartition: CommittedOffset] = [:]
  /// Offsets of transactions not ended, by producer id.
  var pendingOffsets: [Int64: [TopicPartition: CommittedOffset]] = [:]

  /// What the last completed rebalance came to, as the journal has it.
  var settled: GroupEntry?

  init(id: String) { self.id = id }

  func member(_ id: String) -> Member? { members.first { $0.id == id } }

  func staticMember(_ instanceId: String) -> Member? {
    members.first { $0.instanceId == instanceId }
  }

  var rebalanceTimeoutMs: Int64 { Int64(members.map(\.rebalanceTimeoutMs).max() ?? 0) }

  var haveAllJoined: Bool { pendingMembers.isEmpty && members.allSatisfy { $0.join != nil } }

  /// Whether someone with these protocols can be in the group with the others.
  func supports(_ type: String, _ protocols: [JoinProtocol]) -> Bool {
    if state == .empty { return !type.isEmpty && !protocols.isEmpty }
    guard type == protocolType else { return false }
    return protocols.contains { candidate in
      members.allSatisfy { $0.protocols.contains { $0.name == candidate.name } }
    }
  }

  /// The protocol that all support and most like best; the first one met among equals.
  func chooseProtocol() -> String? {
    guard let first = members.first else { return nil }
    let common = first.protocols.map(\.name).filter { name in
      members.allSatisfy { $0.protocols.contains { $0.name == name } }
    }
    var votes: [String: Int] = [:]
    for member in members {
      if let vote = member.protocols.first(where: { common.contains($0.name) }) {
        votes[vote.name, default: 0] += 1
      }
    }
    return common.max { votes[$0, default: 0] < votes[$1, default: 0] }
  }

  /// Checks who sends a request; `none` when it is a member and the one it says.
  func check(member id: String, instanceId: String?) -> ErrorCode {
    if let instanceId {
      guard let current = staticMember(instanceId) else { return .unknownMemberId }
      return current.id == id ? .none : .fencedInstanceId
    }
    return member(id) == nil ? .unknownMemberId : .none
  }

  func remove(_ member: Member) {
    members.removeAll { $0 === member }
    pendingSync.remove(member.id)
    if leader == member.id { leader = members.first?.id }
  }
}
