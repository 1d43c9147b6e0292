@testable import Gate
@testable import Pipeline

/// A topic, a group's offsets and the decisions on them, in memory. The oracle: it knows every record
/// that was issued, and what became of each, from what reached it and not from the loop's counters.
final class FakeCluster {
  struct Decision: Hashable {
    var partition: Int32
    var offset: Int64
  }
  struct StateEntry {
    var partition: Int32
    var key: [UInt8]
    var value: [UInt8]?
    var headers: [UInt8] = []

    func withBytes<R>(
      _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer?, UnsafeRawBufferPointer) -> R
    ) -> R {
      key.withUnsafeBytes { key in
        headers.withUnsafeBytes { headers in
          guard let value else { return body(key, nil, headers) }
          return value.withUnsafeBytes { body(key, $0, headers) }
        }
      }
    }
  }
  /// A record that carries bytes, where a test needs more than its number.
  struct Content {
    var key: UnsafeRawBufferPointer
    var value: UnsafeRawBufferPointer
  }
  /// An output with its bytes.
  struct Output {
    var outcome: Outcome
    var reason: Reason
    var partition: Int32
    var key: [UInt8]
    var value: [UInt8]
    var notificationID: String
    var headers: [UInt8]
  }

  /// Offsets of the records in each partition, with the gaps that compaction and markers leave.
  private(set) var log: [Int32: [Int64]] = [:]
  var committed: [Int32: Int64] = [:]
  /// Receipts by partition, and how far they are committed.
  var receipts: [Int32: [FakeReceipt]] = [:]
  var committedReceipts: [Int32: Int64] = [:]
  /// Of a run with caps: the users of each partition, the approvals answered with a receipt, and whether
  /// the first half is over.
  var users: [[[UInt8]]] = []
  var answered = 0
  var isSecondHalf = false
  private(set) var decisions: [Decision] = []
  /// Those of them that were let through, the others being duplicates.
  private(set) var approvals: [Decision] = []
  /// Ids that several records share; every other record has one of its own.
  var sharedIDs: [Decision: String] = [:]
  /// What is committed of each partition of the state topic, and what is written and not.
  private(set) var state: [Int32: [StateEntry]] = [:]
  /// The same of the deferred topic, and every output; both of transactions that are committed.
  private(set) var deferred: [Int32: [StateEntry]] = [:]
  private(set) var outputs: [Output] = []
  var contents: [Decision: Content] = [:]
  private var openElsewhere: (entries: [StateEntry], decisions: [Decision], PartitionOffset)?
  private var heldElsewhere: [StateEntry] = []

  /// The group as its coordinator knows it.
  var member = GroupClaim(generation: 1, memberID: "m-1")

  init(partitions: Int32, recordsEach: Int, gap: Int64 = 1) {
    for partition in 0..<partitions {
      log[partition] = (0..<recordsEach).map { 10 + Int64($0) * gap + Int64($0 / 7) }
    }
  }

  var partitions: [Int32] { log.keys.sorted() }
  var issued: Set<Decision> {
    Set(
      log.flatMap { partition, offsets in offsets.map { Decision(partition: partition, offset: $0) }
      })
  }

  func start(_ partition: Int32) -> Int64 { committed[partition] ?? log[partition]![0] }

  func id(_ decision: Decision) -> String {
    sharedIDs[decision] ?? "n\(decision.partition)-\(decision.offset)"
  }

  func commit(
    _ outputs: [Decision], approved: [Decision], _ entries: [StateEntry],
    _ offsets: [PartitionOffset], held: [StateEntry] = [], outputs records: [Output] = []
  ) {
    for entry in held { deferred[entry.partition, default: []].append(entry) }
    self.outputs += records
    decisions += outputs
    approvals += approved
    for entry in entries { state[entry.partition, default: []].append(entry) }
    for offset in offsets { committed[offset.partition] = offset.offset }
  }

  /// Another member decides the next records of a partition, whose ids it restored as it must.
  func decideElsewhere(_ partition: Int32, records: Int) {
    beginElsewhere(partition, records: records)
    endElsewhere(committing: true)
  }

  /// Another member does, and its transaction stays open. `held`: what it defers of them.
  func beginElsewhere(_ partition: Int32, records: Int, held: [StateEntry] = []) {
    heldElsewhere = held
    let from = start(partition)
    let next = log[partition]!.filter { $0 >= from }.prefix(records)
      .map { Decision(partition: partition, offset: $0) }
    guard let last = next.last else { return }
    var known = Set((state[partition] ?? []).map(\.key))
    let entries = next.compactMap { decision -> StateEntry? in
      let key = Self.stateKey(id(decision))
      guard known.insert(key).inserted else { return nil }
      return StateEntry(partition: partition, key: key, value: Self.stateValue)
    }
    let offset = PartitionOffset(partition: partition, offset: last.offset + 1)
    openElsewhere = (entries, next, offset)
  }

  func endElsewhere(committing: Bool) {
    guard let open = openElsewhere else { return }
    openElsewhere = nil
    guard committing else { return }
    let ids = Set(open.entries.map(\.key))
    var passed: Set<[UInt8]> = []
    let approved = open.decisions.filter {
      let key = Self.stateKey(id($0))
      return ids.contains(key) && passed.insert(key).inserted
    }
    commit(
      open.decisions, approved: approved, open.entries, [open.2], held: heldElsewhere)
  }

  func isSettled(_ partition: Int32) -> Bool { openElsewhere?.2.partition != partition }

  static func stateKey(_ id: String) -> [UInt8] { Array("u\0d\0\(id)\0p".utf8) }
  static let stateValue = Array(#"{"at":"2023-11-14T22:30:00.000Z","outcome":"approved"}"#.utf8)

  /// What is wrong with the decisions so far: records decided twice, or records below a committed
  /// offset that never were.
  func violations(allowDoubles: Bool = false, areDropsDuplicates: Bool = true) -> [String] {
    var seen: [Decision: Int] = [:]
    for decision in decisions { seen[decision, default: 0] += 1 }
    var found: [String] = []
    if !allowDoubles {
      found += seen.filter { $0.value > 1 }.map { "\($0.key) decided \($0.value) times" }
    }
    // An id is let through by the first of its records, and by no other.
    let through = Dictionary(grouping: approvals, by: id)
    if !allowDoubles {
      found += through.filter { $0.value.count > 1 }.map {
        "\($0.key) let through \($0.value.count) times: \($0.value)"
      }
    }
    for decision in decisions where areDropsDuplicates && through[id(decision)] == nil {
      found.append("\(decision) dropped as a duplicate of what was never let through")
    }
    for decision in issued
    where seen[decision] == nil && decision.offset < committed[decision.partition] ?? 0 {
      found.append("\(decision) lost: committed past it")
    }
    if !allowDoubles {
      for decision in seen.keys where decision.offset >= committed[decision.partition] ?? 0 {
        found.append("\(decision) decided, and not committed past")
      }
    }
    return found.sorted()
  }

  var isFinished: Bool { Set(decisions) == issued }
}

/// Failures to come: for the nth call of a step, counted from 1.
final class Faults {
  typealias Step = TransactionMachine.Step
  private var planned: [Step: [Int: (Failure.Kind, Bool)]] = [:]
  private(set) var calls: [Step: Int] = [:]
  private(set) var order: [Step] = []

  /// `happened`: the broker does what it was asked and only the answer is lost.
  func fail(_ step: Step, call: Int, _ kind: Failure.Kind, happened: Bool = false) {
    planned[step, default: [:]][call] = (kind, happened)
  }

  /// Notes a call; performs `body` unless it fails before that. `isDone`: it has happened, and only
  /// its answer was lost. Asked again, a broker does not say that it did not.
  func perform(_ step: Step, isDone: Bool = false, _ body: () -> Void) throws(Failure) {
    calls[step, default: 0] += 1
    order.append(step)
    guard let (kind, happened) = planned[step]?[calls[step]!], !(isDone && kind == .abort) else {
      body()
      return
    }
    if happened { body() }
    throw Failure(kind, "\(step) call \(calls[step]!) fails: \(kind)")
  }
}

/// A clock that moves a millisecond with every look, and by what is slept.
final class FakeClock: LoopClock {
  var nowMs: Int64 = 1_000_000
  /// 2023-11-14T22:13:20Z; the wall clock is this and the monotonic one. Set, it is stepped.
  var wallBaseMs: Int64 = 1_700_000_000_000
  func wallMs() -> Int64 { wallBaseMs + monotonicMs() }
  func monotonicMs() -> Int64 {
    nowMs += 1
    return nowMs
  }
  func sleep(ms: Int64) { nowMs += ms }
}

/// One output for each record: approved, or a duplicate by what the lane remembers.
final class FakeDecider: Pipeline.Decider {
  private let cluster: FakeCluster
  private let state: LaneState
  private var outputs: [OutputRecord] = []
  private var stateOutputs: [StateRecord] = []
  private var kept: [UnsafeMutableRawBufferPointer] = []
  private let value = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
  private(set) var decided = 0

  init(_ cluster: FakeCluster, _ state: LaneState) {
    self.cluster = cluster
    self.state = state
  }

  deinit {
    value.deallocate()
    for one in kept { one.deallocate() }
  }

  var stateRecords: UnsafeBufferPointer<StateRecord> {
    stateOutputs.withUnsafeBufferPointer { $0 }
  }

  func decide(
    _ records: UnsafeBufferPointer<InputRecord>, nowMs: Int64
  ) -> UnsafeBufferPointer<OutputRecord> {
    decided += records.count
    for one in kept { one.deallocate() }
    kept = []
    stateOutputs = []
    outputs = records.indices.map { decide($0, records[$0], nowMs) }
    return outputs.withUnsafeBufferPointer { $0 }
  }

  private func decide(_ index: Int, _ record: InputRecord, _ nowMs: Int64) -> OutputRecord {
    let id = cluster.id(FakeCluster.Decision(partition: record.partition, offset: record.offset))
    let key = keep(FakeCluster.stateKey(id))
    let seen = state.seen(record.partition)
    let isSeen = seen.firstSeenMs(state.hash(key), nowMs: nowMs) != nil
    if !isSeen {
      seen.insert(state.hash(key), atMs: nowMs, isDeferred: false)
      stateOutputs.append(
        StateRecord(
          partition: record.partition, key: key, value: keep(FakeCluster.stateValue)))
    }
    return OutputRecord(
      outcome: isSeen ? .dropped : .approved, reason: isSeen ? .duplicate : .ok,
      category: .social, inputIndex: index, key: nil, value: UnsafeRawBufferPointer(value),
      notificationID: nil)
  }

  private func keep(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    copy.copyBytes(from: bytes)
    kept.append(copy)
    return UnsafeRawBufferPointer(copy)
  }
}
