import Broker
import Pipeline

/// A member of a consumer group, as a client library keeps one beside the thread that polls: joins,
/// sends heartbeats, tells of what was given and taken, and waits for the answer. Cooperative: what stays is
/// never taken away in between.
final class SimMembership {
  private let world: World
  private let machine: Machine
  private let connection: Connection
  private let group: String
  private let partitionCount: Int32
  private(set) var generation: Int32 = -1
  private(set) var memberID = ""
  /// What the poller has said it holds.
  private(set) var held: Set<Int32> = []
  private var noted: [Rebalance] = []
  private var isUnanswered = false
  private var mustJoin = true
  private var isLeaving = false
  private(set) var hasLeft = false
  private var polledAtMs: Int64
  /// The poller is away for too long: out of the group until it is back.
  private var isAway = false
  /// Something for the poller; something for the member's own thread.
  let news = Signal()
  private let answered = Signal()

  init(_ group: String, partitionCount: Int32, of machine: Machine) {
    self.group = group
    self.partitionCount = partitionCount
    self.machine = machine
    world = machine.world
    polledAtMs = world.nowMs
    connection = Connection("group", of: machine)
    machine.startFiber("member") { [self] in run() }
  }

  // MARK: The poller's side

  var claim: GroupClaim? {
    generation >= 0 && !memberID.isEmpty
      ? GroupClaim(generation: generation, memberID: memberID) : nil
  }

  var hasNews: Bool { !noted.isEmpty }
  /// Until each is answered no record comes.
  var isWaiting: Bool { isUnanswered }

  func polled() {
    polledAtMs = world.nowMs
    if isAway {
      isAway = false
      world.fire(answered)
    }
  }

  func next() -> Rebalance? { noted.isEmpty ? nil : noted.removeFirst() }

  func took(_ partitions: [Int32]) {
    held.formUnion(partitions)
    answer()
  }

  func gaveUp(_ partitions: [Int32]) {
    held.subtract(partitions)
    answer()
  }

  private func answer() {
    isUnanswered = false
    world.fire(answered)
  }

  /// Waits for the member's thread to have left, for a while.
  func leave() {
    isLeaving = true
    noted.removeAll()
    answer()
    let untilMs = world.nowMs + 2_000
    while !hasLeft, world.nowMs < untilMs, !machine.isDead {
      _ = world.wait(for: news, ms: untilMs - world.nowMs)
    }
  }

  // MARK: The member's own thread

  private func run() {
    while !machine.isDead && !isLeaving {
      if isAway {
        _ = world.wait(for: answered, ms: 1_000)
      } else if mustJoin {
        join()
      } else {
        _ = world.wait(for: answered, ms: SimTimes.heartbeatMs)
        beat()
      }
    }
    sayGoodbye()
    hasLeft = true
    world.fire(news)
  }

  private func join() {
    // Whoever forgot who it was may not say that it still holds anything.
    if memberID.isEmpty, !held.isEmpty { tell(.lost(held.sorted())) }
    guard !isLeaving, !machine.isDead else { return }
    var request = JoinGroupRequest()
    (request.groupId, request.memberId) = (group, memberID)
    request.sessionTimeoutMs = SimTimes.sessionMs
    request.rebalanceTimeoutMs = SimTimes.rebalanceMs
    request.protocolType = "consumer"
    var choice = JoinProtocol()
    choice.name = "cooperative-sticky"
    choice.metadata = held.sorted().map { UInt8($0) }
    request.protocols = [choice]
    let timeoutMs = Int64(SimTimes.rebalanceMs) + 2_000
    guard
      case .joinGroup(let joined)? = world.call(
        .joinGroup(request), on: connection, timeoutMs: timeoutMs)
    else { return world.sleep(ms: 50) }
    guard !isLeaving else { return }
    switch joined.error {
    case .none: break
    case .memberIdRequired:
      memberID = joined.memberId
      return
    case .unknownMemberId, .illegalGeneration, .fencedInstanceId: return lose()
    default: return world.sleep(ms: 50)
    }
    (generation, memberID) = (joined.generationId, joined.memberId)
    sync(joined)
  }

  private func sync(_ joined: JoinGroupResponse) {
    var request = SyncGroupRequest()
    (request.groupId, request.generationId, request.memberId) = (group, generation, memberID)
    if joined.leader == memberID { request.assignments = assign(joined.members) }
    guard
      case .syncGroup(let synced)? = world.call(
        .syncGroup(request), on: connection, timeoutMs: Int64(SimTimes.rebalanceMs))
    else { return world.sleep(ms: 50) }
    guard !isLeaving else { return }
    switch synced.error {
    case .none: break
    case .unknownMemberId, .illegalGeneration, .fencedInstanceId: return lose()
    default: return world.sleep(ms: 50)
    }
    mustJoin = false
    let mine = Set(synced.assignment.map { Int32($0) })
    let taken = held.subtracting(mine).sorted()
    let given = mine.subtracting(held).sorted()
    if !taken.isEmpty {
      tell(.revoked(taken))
      // Only now may others be given it.
      mustJoin = true
      if !given.isEmpty { tell(.assigned(given)) }
    } else {
      tell(.assigned(given))
    }
  }

  /// Sticky: who holds a partition keeps it, as far as the shares are even. What must move is given to
  /// nobody before its holder has said that it let go.
  private func assign(_ members: [JoinedMember]) -> [SyncAssignment] {
    let names = members.map(\.memberId).sorted()
    var holders: [Int32: String] = [:]
    for member in members.sorted(by: { $0.memberId < $1.memberId }) {
      for partition in member.metadata { holders[Int32(partition)] = member.memberId }
    }
    let (share, rest) = (Int(partitionCount) / names.count, Int(partitionCount) % names.count)
    var room: [String: Int] = [:]
    for (index, name) in names.enumerated() { room[name] = share + (index < rest ? 1 : 0) }
    var given: [String: [UInt8]] = [:]
    var free: [Int32] = []
    for partition in 0..<partitionCount {
      guard let holder = holders[partition] else {
        free.append(partition)
        continue
      }
      if room[holder]! > 0 {
        room[holder]! -= 1
        given[holder, default: []].append(UInt8(partition))
      }
    }
    for partition in free {
      guard let name = names.first(where: { room[$0]! > 0 }) else { continue }
      room[name]! -= 1
      given[name, default: []].append(UInt8(partition))
    }
    return names.map { name in
      var assignment = SyncAssignment()
      (assignment.memberId, assignment.assignment) = (name, given[name] ?? [])
      return assignment
    }
  }

  /// Tells the poller and waits for its answer, alive to the group meanwhile.
  private func tell(_ rebalance: Rebalance) {
    noted.append(rebalance)
    isUnanswered = true
    world.fire(news)
    while isUnanswered && !isLeaving && !machine.isDead {
      _ = world.wait(for: answered, ms: SimTimes.heartbeatMs)
      if isUnanswered { beat() }
    }
  }

  private func beat() {
    guard !isLeaving, !machine.isDead else { return }
    if world.nowMs - polledAtMs > SimTimes.pollMsMax {
      sayGoodbye()
      isAway = true
      return lose()
    }
    guard generation >= 0 else { return }
    var request = HeartbeatRequest()
    (request.groupId, request.generationId, request.memberId) = (group, generation, memberID)
    guard
      case .heartbeat(let answer)? = world.call(
        .heartbeat(request), on: connection, timeoutMs: SimTimes.requestMs)
    else { return }
    switch answer.error {
    case .rebalanceInProgress: mustJoin = true
    // The client forgets who it was at once, also where its poller has yet to answer.
    case .unknownMemberId, .illegalGeneration, .fencedInstanceId: lose()
    default: break
    }
  }

  /// Somebody else has, or may have, what this member had.
  private func lose() {
    generation = -1
    memberID = ""
    mustJoin = true
    guard !isUnanswered, !held.isEmpty, !isLeaving else { return }
    tell(.lost(held.sorted()))
  }

  private func sayGoodbye() {
    guard !memberID.isEmpty, !machine.isDead else { return }
    var leaving = LeavingMember()
    leaving.memberId = memberID
    var request = LeaveGroupRequest()
    (request.groupId, request.members) = (group, [leaving])
    _ = world.call(.leaveGroup(request), on: connection, timeoutMs: SimTimes.requestMs)
  }
}
