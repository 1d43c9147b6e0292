import Gate

@testable import Pipeline

/// A topic, a group's offsets and the decisions on them, in memory. The oracle: it knows every record
/// that was issued, and what became of each, from what reached it and not from the loop's counters.
final class FakeCluster {
  struct Decision: Hashable {
    var partition: Int32
    var offset: Int64
  }

  /// Offsets of the records in each partition, with the gaps that compaction and markers leave.
  private(set) var log: [Int32: [Int64]] = [:]
  var committed: [Int32: Int64] = [:]
  private(set) var decisions: [Decision] = []

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

  func commit(_ outputs: [Decision], _ offsets: [PartitionOffset]) {
    decisions += outputs
    for offset in offsets { committed[offset.partition] = offset.offset }
  }

  /// Another member decides the next records of a partition.
  func decideElsewhere(_ partition: Int32, records: Int) {
    let from = start(partition)
    let next = log[partition]!.filter { $0 >= from }.prefix(records)
    guard let last = next.last else { return }
    commit(
      next.map { Decision(partition: partition, offset: $0) },
      [PartitionOffset(partition: partition, offset: last + 1)])
  }

  /// What is wrong with the decisions so far: records decided twice, or records below a committed
  /// offset that never were.
  func violations(allowDoubles: Bool = false) -> [String] {
    var seen: [Decision: Int] = [:]
    for decision in decisions { seen[decision, default: 0] += 1 }
    var found: [String] = []
    if !allowDoubles {
      found += seen.filter { $0.value > 1 }.map { "\($0.key) decided \($0.value) times" }
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
  func wallMs() -> Int64 { 1_700_000_000_000 + monotonicMs() }
  func monotonicMs() -> Int64 {
    nowMs += 1
    return nowMs
  }
  func sleep(ms: Int64) { nowMs += ms }
}

/// One output for each record, approved.
final class FakeDecider: Decider {
  private var outputs: [OutputRecord] = []
  private let value = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
  private(set) var decided = 0

  deinit { value.deallocate() }

  func decide(
    _ records: UnsafeBufferPointer<InputRecord>, nowMs: Int64
  ) -> UnsafeBufferPointer<OutputRecord> {
    decided += records.count
    outputs = records.indices.map {
      OutputRecord(
        outcome: .approved, reason: .ok, category: .social, inputIndex: $0, key: nil,
        value: UnsafeRawBufferPointer(value), notificationID: nil)
    }
    return outputs.withUnsafeBufferPointer { $0 }
  }
}
