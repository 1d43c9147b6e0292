@testable import Gate
@testable import Pipeline

/// A consumer of the fake cluster, with librdkafka 2.0's bad habits: for a rebalance it pauses every
/// partition and goes on behind the records it took back, and it may bring a record twice.
final class FakeSource: CandidateSource {
  let cluster: FakeCluster
  private let clock: FakeClock
  private let records: UnsafeMutableBufferPointer<InputRecord>
  private let headerBytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)
  private var fetch: [Int32: Int64] = [:]
  private var paused: Set<Int32> = []
  private var rebalances: [Rebalance] = []
  private var isReleased = true
  private(set) var polls = 0
  private(set) var isClosed = false
  private(set) var log: [String] = []

  /// Called at the start of each poll, with its number.
  var onPoll: (Int) -> Void = { _ in }
  var recordsPerPoll = 5
  var pollFailure: Failure?
  var seekFailures = 0
  var startOffsetFailures = 0
  /// Offsets are not told while another's transaction, which has newer ones, is open.
  var holdsOffsetsOfOpen = false
  /// What the client believes it is; the coordinator's truth is the cluster's `member`.
  var believes: GroupClaim?

  init(_ cluster: FakeCluster, _ clock: FakeClock) {
    self.cluster = cluster
    self.clock = clock
    believes = cluster.member
    records = .allocate(capacity: 256)
  }

  deinit {
    records.deallocate()
    headerBytes.deallocate()
  }

  var assigned: [Int32] { fetch.keys.sorted() }

  func note(_ rebalance: Rebalance, losing taken: Int = 0) {
    rebalances.append(rebalance)
    for partition in fetch.keys {
      let next = cluster.log[partition]!.filter { $0 >= fetch[partition]! }.prefix(taken)
      if let last = next.last { fetch[partition] = last + 1 }
    }
  }

  func poll(timeoutMs: Int32) throws(Failure) -> UnsafeMutableBufferPointer<InputRecord> {
    precondition(isReleased, "polled with a batch in hand")
    isReleased = false
    polls += 1
    onPoll(polls)
    if let failure = pollFailure {
      pollFailure = nil
      throw failure
    }
    var count = 0
    if rebalances.isEmpty {
      for partition in fetch.keys.sorted() where !paused.contains(partition) {
        let next = cluster.log[partition]!.filter { $0 >= fetch[partition]! }
        for offset in next.prefix(recordsPerPoll) {
          let content = cluster.contents[
            FakeCluster.Decision(partition: partition, offset: offset)]
          records[count] = InputRecord(
            partition: partition, offset: offset, timestampMs: clock.wallMs() - 20,
            key: content?.key, value: content?.value, handle: nil)
          count += 1
          fetch[partition] = offset + 1
        }
      }
    }
    clock.nowMs += count == 0 ? Int64(timeoutMs) : 1
    return UnsafeMutableBufferPointer(rebasing: records[..<count])
  }

  func release() { isReleased = true }

  func nextRebalance() -> Rebalance? { rebalances.isEmpty ? nil : rebalances.removeFirst() }

  func startOffsets(of partitions: [Int32]) throws(Failure) -> [PartitionOffset] {
    if startOffsetFailures > 0 {
      startOffsetFailures -= 1
      throw Failure(.retriable, "offsets are not stable")
    }
    if holdsOffsetsOfOpen, !partitions.allSatisfy(cluster.isSettled) {
      throw Failure(.retriable, "offsets are not stable")
    }
    return partitions.map { PartitionOffset(partition: $0, offset: cluster.start($0)) }
  }

  func assign(_ partitions: [PartitionOffset]) throws(Failure) {
    log.append("assign \(partitions.map(\.partition))")
    for partition in partitions { fetch[partition.partition] = partition.offset }
  }

  func unassign(_ partitions: [Int32]) throws(Failure) {
    log.append("unassign \(partitions)")
    for partition in partitions {
      fetch[partition] = nil
      precondition(!paused.contains(partition), "given up paused: it would come back paused")
    }
  }

  func seek(_ partitions: [PartitionOffset]) throws(Failure) {
    if seekFailures > 0 {
      seekFailures -= 1
      throw Failure(.retriable, "not started yet")
    }
    for partition in partitions {
      precondition(fetch[partition.partition] != nil, "sought what is not assigned")
      fetch[partition.partition] = partition.offset
    }
  }

  func setPaused(_ isPaused: Bool, _ partitions: [Int32]) throws(Failure) {
    for partition in partitions {
      if isPaused { paused.insert(partition) } else { paused.remove(partition) }
    }
  }

  /// The partition and offset, for the sink to show that they came along.
  func headers(of record: InputRecord) -> UnsafeRawBufferPointer {
    let text = Array("\(record.partition)-\(record.offset)".utf8)
    headerBytes.copyBytes(from: text)
    return UnsafeRawBufferPointer(rebasing: headerBytes[..<text.count])
  }

  func claim() -> GroupClaim? { believes }
  func lag(behind positions: [PartitionOffset]) -> Int64? { 7 }
  func close() { isClosed = true }
}

/// A producer of the fake cluster. Transactional: what it wrote shows with the commit, or never. Not
/// transactional: what it wrote shows with the flush, and offsets with the commit.
final class FakeSink: DecisionSink {
  private let cluster: FakeCluster
  private let isTransactional: Bool
  let faults = Faults()
  private var isOpen = false
  private var outputs: [FakeCluster.Decision] = []
  private var approved: [FakeCluster.Decision] = []
  private var entries: [FakeCluster.StateEntry] = []
  private var held: [FakeCluster.StateEntry] = []
  private var ends: [FakeCluster.StateEntry] = []
  private var records: [FakeCluster.Output] = []
  private var offsets: [PartitionOffset] = []
  private var receiptOffsets: [PartitionOffset] = []
  private(set) var isClosed = false
  private(set) var offsetsSent: [[PartitionOffset]] = []
  private(set) var claimsSent: [GroupClaim] = []

  init(_ cluster: FakeCluster, isTransactional: Bool = true) {
    self.cluster = cluster
    self.isTransactional = isTransactional
  }

  func replace() throws(Failure) { try faults.perform(.replace) { drop() } }

  func begin() throws(Failure) {
    precondition(!isOpen, "one transaction at a time")
    try faults.perform(.begin) { isOpen = true }
  }

  func write(
    _ outputs: UnsafeBufferPointer<OutputRecord>, of inputs: UnsafeBufferPointer<InputRecord>
  ) throws(Failure) {
    precondition(isOpen, "written outside a transaction")
    try faults.perform(.write) {
      for output in outputs {
        let decision = FakeCluster.Decision(
          partition: inputs[output.inputIndex].partition, offset: inputs[output.inputIndex].offset)
        self.outputs.append(decision)
        if output.outcome != .dropped { approved.append(decision) }
        guard inputs[output.inputIndex].value != nil else { continue }
        note(output, decision.partition, Array("\(decision.partition)-\(decision.offset)".utf8))
      }
    }
  }

  private func note(_ output: OutputRecord, _ partition: Int32, _ headers: [UInt8]) {
    let (key, value) = (output.key.map { Array($0) } ?? [], Array(output.value))
    records.append(
      FakeCluster.Output(
        outcome: output.outcome, reason: output.reason, partition: partition, key: key,
        value: value,
        notificationID: output.notificationID.map { String(decoding: $0, as: UTF8.self) } ?? "",
        headers: headers))
    guard output.outcome == .deferred else { return }
    held.append(
      FakeCluster.StateEntry(partition: partition, key: key, value: value, headers: headers))
  }

  func writeHolds(_ outcomes: UnsafeBufferPointer<HoldOutcome>) throws(Failure) {
    precondition(isOpen, "written outside a transaction")
    try faults.perform(.write) {
      for outcome in outcomes {
        if let record = outcome.record { note(record, outcome.partition, Array(outcome.headers)) }
        guard let key = outcome.endedKey else { continue }
        let end = FakeCluster.StateEntry(partition: outcome.partition, key: Array(key), value: nil)
        if isTransactional { held.append(end) } else { ends.append(end) }
      }
    }
  }

  func writeState(_ records: UnsafeBufferPointer<StateRecord>) throws(Failure) {
    precondition(isOpen, "written outside a transaction")
    entries += records.map {
      FakeCluster.StateEntry(
        partition: $0.partition, key: Array($0.key), value: $0.value.map { Array($0) })
    }
  }

  func flush() throws(Failure) {
    try faults.perform(.flush) {
      guard !isTransactional else { return }
      cluster.commit(outputs, approved: approved, entries, [], held: held, outputs: records)
      cluster.commit([], approved: [], [], [], held: ends)
      forget()
    }
  }

  func sendOffsets(
    _ offsets: [PartitionOffset], receipts: [PartitionOffset], claim: GroupClaim
  ) throws(Failure) {
    offsetsSent.append(offsets)
    claimsSent.append(claim)
    try faults.perform(.sendOffsets) {
      self.offsets = offsets
      receiptOffsets = receipts
    }
    // The group's coordinator fences by generation and member.
    if claim != cluster.member {
      throw Failure(.abort, "\(claim) is not \(cluster.member)")
    }
  }

  func commit() throws(Failure) {
    try faults.perform(.commit, isDone: !isOpen) {
      cluster.commit(
        outputs, approved: approved, entries, offsets, held: held, outputs: records)
      for one in receiptOffsets { cluster.committedReceipts[one.partition] = one.offset }
      drop()
    }
  }

  func abort() throws(Failure) { try faults.perform(.abort) { drop() } }

  func close() { isClosed = true }

  private func drop() {
    isOpen = false
    offsets = []
    receiptOffsets = []
    forget()
  }

  private func forget() {
    outputs = []
    approved = []
    entries = []
    held = []
    ends = []
    records = []
  }
}

/// The state topic of the fake cluster, with offsets that leave gaps for control markers.
final class FakeStateSource: StateSource {
  private let cluster: FakeCluster
  let streams: [StateStream]
  private struct Place: Hashable {
    var stream: StateStream
    var partition: Int32
  }
  private var positions: [Place: Int64] = [:]
  private var ended: Set<Place> = []
  var recordsPerPoll = 7
  /// Failures of the next calls.
  var failures = 0
  /// The partitions that are to be answered as out of range, once each.
  var outOfRange: Set<Int32> = []
  /// Whoever has a transaction open: what rule 4 forbids.
  var answersAtOnce = false
  private(set) var isClosed = false
  private(set) var log: [String] = []

  init(_ cluster: FakeCluster, holds: Bool = false) {
    self.cluster = cluster
    streams = holds ? [.state, .holds] : [.state]
  }

  private func failIfPlanned() throws(Failure) {
    guard failures > 0 else { return }
    failures -= 1
    throw Failure(.retriable, "the state topic does not answer")
  }

  /// Record i has offset 2i + 1; what is even is a marker.
  private func entries(_ place: Place) -> [FakeCluster.StateEntry] {
    (place.stream == .state ? cluster.state : cluster.deferred)[place.partition] ?? []
  }

  func settled(_ partitions: [Int32]) throws(Failure) -> [StatePosition] {
    try failIfPlanned()
    let settled = answersAtOnce ? partitions : partitions.filter(cluster.isSettled)
    log.append("settled \(settled) of \(partitions)")
    return settled.flatMap { partition in
      streams.map {
        let end = entries(Place(stream: $0, partition: partition)).count * 2
        return StatePosition($0, partition: partition, offset: Int64(end))
      }
    }
  }

  func read(_ positions: [StatePosition]) throws(Failure) {
    try failIfPlanned()
    log.append("read \(Set(positions.map(\.partition)).sorted())")
    self.positions = [:]
    ended = []
    for position in positions {
      let place = Place(stream: position.stream, partition: position.partition)
      self.positions[place] = max(0, position.offset)
    }
  }

  func poll(timeoutMs: Int32, _ body: (StateEvent) -> Void) throws(Failure) {
    try failIfPlanned()
    let places = positions.keys.sorted {
      ($0.partition, $0.stream.rawValue) < ($1.partition, $1.stream.rawValue)
    }
    for place in places {
      if outOfRange.remove(place.partition) != nil {
        body(.outOfRange(place.stream, partition: place.partition))
        continue
      }
      let entries = entries(place)
      let from = Int(positions[place]! / 2)
      for i in from..<min(entries.count, from + recordsPerPoll) {
        let at = StatePosition(
          place.stream, partition: place.partition, offset: Int64(i) * 2 + 1)
        entries[i].withBytes { key, value, headers in
          body(.record(at, key: key, value: value, headers: headers))
        }
        positions[place] = Int64(i) * 2 + 2
        ended.remove(place)
      }
      if Int(positions[place]! / 2) >= entries.count, ended.insert(place).inserted {
        let end = max(positions[place]!, Int64(entries.count) * 2)
        body(.end(StatePosition(place.stream, partition: place.partition, offset: end)))
      }
    }
  }

  func close() { isClosed = true }
}
