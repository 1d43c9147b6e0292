import Broker
import Gate
import Pipeline

/// A candidate topic as a consumer brings it: some of what was fetched at a poll, from positions of its
/// own. It has librdkafka 2.0's bad habit: what a rebalance takes back out of a batch it does not bring again
/// by itself.
final class SimCandidates: CandidateSource {
  private let world: World
  private let machine: Machine
  private let topic: String
  private let group: String
  private let membership: SimMembership
  private let connection: Connection
  private let offsets: Connection
  private var random: SimRandom
  private var positions: [Int32: Int64] = [:]
  private var paused: Set<Int32> = []
  /// Fetched, and not brought yet.
  private var ahead: [(partition: Int32, record: Record)] = []
  private let batch = BorrowedRecords()
  private let carriedBytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)
  /// Called where a turn of the loop begins, or nearly.
  var onTurn: () -> Void = {}

  init(_ lane: Lane, partitionCount: Int32, random: SimRandom, of machine: Machine) {
    topic = SimTopics.candidates(lane)
    group = SimTopics.group(lane)
    self.machine = machine
    world = machine.world
    self.random = random
    membership = SimMembership(group, partitionCount: partitionCount, of: machine)
    connection = Connection("fetch", of: machine)
    offsets = Connection("offsets", of: machine)
  }

  deinit { carriedBytes.deallocate() }

  private func check() throws(Failure) {
    if machine.isDead { throw Failure(.fatal, "killed") }
  }

  func poll(timeoutMs: Int32) throws(Failure) -> UnsafeMutableBufferPointer<InputRecord> {
    try check()
    onTurn()
    membership.polled()
    if membership.isWaiting || readable.isEmpty {
      _ = world.wait(for: membership.news, ms: max(1, Int64(timeoutMs)))
    } else if !ahead.contains(where: { !paused.contains($0.partition) }) {
      fetch(timeoutMs: timeoutMs)
    } else {
      world.sleep(ms: 1)
    }
    try check()
    if membership.isWaiting {
      ahead.removeAll()
      return batch.take([])
    }
    let most = random.below(8) + 1
    var taken: [(partition: Int32, record: Record)] = []
    ahead.removeAll {
      guard taken.count < most, positions[$0.partition] != nil, !paused.contains($0.partition)
      else { return false }
      taken.append($0)
      return true
    }
    return batch.take(taken)
  }

  private var readable: [Int32] { positions.keys.sorted().filter { !paused.contains($0) } }

  private func fetch(timeoutMs: Int32) {
    let wanted = readable.map { (topic: topic, partition: $0, offset: positions[$0]!) }
    let waitMs = min(timeoutMs, 50)
    #if PlantedBugs
      let isolation: Int8 = PlantedBug.is(.candidatesUncommitted) ? 0 : 1
    #else
      let isolation: Int8 = 1
    #endif
    let response = world.call(
      Requests.fetch(wanted, isolation: isolation, maxWaitMs: waitMs, partitionBytes: 4_096),
      on: connection, timeoutMs: SimTimes.requestMs)
    for (_, fetched) in response?.fetched ?? [] {
      let from = wanted.first { $0.partition == fetched.index }!.offset
      // Sought, or given up, meanwhile.
      guard positions[fetched.index] == from, fetched.error == .none else { continue }
      let (records, next) = fetched.committedRecords(from: from)
      positions[fetched.index] = next
      ahead += records.map { (fetched.index, $0) }
    }
    if response == nil { world.sleep(ms: 5) }
  }

  func release() { batch.release() }

  func nextRebalance() -> Rebalance? { machine.isDead ? nil : membership.next() }

  func startOffsets(of partitions: [Int32]) throws(Failure) -> [PartitionOffset] {
    try committedOffsets(
      topic, partitions, group: group, world: world, connection: offsets, machine: machine)
  }

  func assign(_ partitions: [PartitionOffset]) throws(Failure) {
    try check()
    for one in partitions {
      positions[one.partition] = one.offset
      paused.remove(one.partition)
      ahead.removeAll { $0.partition == one.partition }
    }
    membership.took(partitions.map(\.partition))
  }

  func unassign(_ partitions: [Int32]) throws(Failure) {
    try check()
    for partition in partitions {
      positions[partition] = nil
      ahead.removeAll { $0.partition == partition }
    }
    membership.gaveUp(partitions)
  }

  func seek(_ partitions: [PartitionOffset]) throws(Failure) {
    try check()
    onTurn()
    for one in partitions {
      guard positions[one.partition] != nil else {
        throw Failure(.retriable, "sought what is not assigned")
      }
      positions[one.partition] = one.offset
      ahead.removeAll { $0.partition == one.partition }
    }
  }

  func setPaused(_ isPaused: Bool, _ partitions: [Int32]) throws(Failure) {
    try check()
    for partition in partitions {
      if isPaused { paused.insert(partition) } else { paused.remove(partition) }
    }
  }

  func headers(of record: InputRecord) -> UnsafeRawBufferPointer {
    let text = Array("\(record.partition)-\(record.offset)".utf8)
    carriedBytes.copyBytes(from: text)
    return UnsafeRawBufferPointer(rebasing: carriedBytes[..<text.count])
  }

  func claim() -> GroupClaim? { membership.claim }
  func lag(behind positions: [PartitionOffset]) -> Int64? { nil }

  func close() {
    batch.release()
    membership.leave()
  }
}

/// The committed offset of each partition, once no open transaction holds a newer one, else the log's
/// start.
func committedOffsets(
  _ topic: String, _ partitions: [Int32], group: String, world: World, connection: Connection,
  machine: Machine
) throws(Failure) -> [PartitionOffset] {
  guard !partitions.isEmpty else { return [] }
  #if PlantedBugs
    let isStable = !PlantedBug.is(.unstableOffsets)
  #else
    let isStable = true
  #endif
  guard
    let answer = world.call(
      Requests.committed([(topic, partitions)], group: group, isStable: isStable), on: connection,
      timeoutMs: SimTimes.requestMs)?.offsets,
    answer.count == partitions.count, answer.allSatisfy({ $0.error == .none })
  else { throw Failure(machine.isDead ? .fatal : .retriable, "offsets are not stable yet") }
  let unknown = answer.filter { $0.offset < 0 }.map(\.index)
  var starts: [Int32: Int64] = [:]
  if !unknown.isEmpty {
    let listed = world.call(
      Requests.offsets(topic, unknown, timestamp: -2, isolation: 1), on: connection,
      timeoutMs: SimTimes.requestMs)?.listed
    for one in listed ?? [] where one.error == .none { starts[one.index] = one.offset }
  }
  var result: [PartitionOffset] = []
  for one in answer {
    guard let offset = one.offset >= 0 ? one.offset : starts[one.index] else {
      throw Failure(machine.isDead ? .fatal : .retriable, "the log's start is not known yet")
    }
    result.append(PartitionOffset(partition: one.index, offset: offset))
  }
  return result
}
