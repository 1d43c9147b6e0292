import Broker
import Gate

/// Reads the logs as they are, markers and all, and tells the ledger of each transaction when it is
/// committed; then holds the group's offsets against what was decided.
final class Observer {
  private struct Written {
    var topic: String
    var partition: Int32
    var record: Record
  }
  private struct Log {
    var topic: String
    var partition: Int32
    var next: Int64 = 0
  }

  private unowned let world: World
  private let surroundings: Surroundings
  private let ledger: Ledger
  private var logs: [Log] = []
  /// Of transactions that are not ended.
  private var open: [Int64: [Written]] = [:]
  /// Of a gate without transactions: what is new, and everything, by its number. A batch that was sent
  /// again may be there twice, which says nothing of the gate.
  private var loose: [Written] = []
  private var knownLoose: Set<Int64> = []
  private let lanes: [Lane]
  private var isAtOnce = false
  private var snapshots: [(dueMs: Int64, offsets: [Committed])] = []

  init(_ world: World, _ surroundings: Surroundings, _ ledger: Ledger, lanes: [Lane]) {
    self.world = world
    self.surroundings = surroundings
    self.ledger = ledger
    self.lanes = lanes
    for topic in [SimTopics.approved, SimTopics.deferred, SimTopics.dropped] {
      for partition in 0..<surroundings.scenario.partitions {
        logs.append(Log(topic: topic, partition: partition))
      }
    }
  }

  /// Looks at what is new.
  func look() {
    let response = world.ask(
      Requests.fetch(
        logs.map { ($0.topic, $0.partition, $0.next) }, isolation: 0, maxWaitMs: 0))
    var committed: [Int64: [Written]] = [:]
    for (index, one) in response.fetched.enumerated() {
      let (entries, next) = one.partition.entries(from: logs[index].next)
      logs[index].next = next
      for entry in entries { note(entry, logs[index], &committed) }
    }
    guard let offsets = movedOffsets(),
      !(committed.isEmpty && loose.isEmpty && offsets.isEmpty)
    else { return }
    apply(committed, offsets)
  }

  private func note(_ entry: LogEntry, _ log: Log, _ committed: inout [Int64: [Written]]) {
    switch entry {
    case .record(let record, let producer, let isTransactional):
      guard isTransactional else {
        guard !surroundings.scenario.isExact else {
          return ledger.fail("exactly once", "a record of \(log.topic) outside of transactions")
        }
        if knownLoose.insert(number(SimRecords.orderHeader, record)).inserted {
          loose.append(Written(topic: log.topic, partition: log.partition, record: record))
        }
        return
      }
      // Kept by the place it came from, too: the markers of a transaction are one for each partition.
      open[producer, default: []].append(
        Written(topic: log.topic, partition: log.partition, record: record))
    case .marker(_, let producer, let isCommit):
      let isHere = { (one: Written) in one.topic == log.topic && one.partition == log.partition }
      let ended = (open[producer] ?? []).filter(isHere)
      open[producer]?.removeAll(where: isHere)
      if isCommit { committed[producer, default: []] += ended }
    }
  }

  // MARK: Offsets

  private struct Move {
    var lane: Lane
    var isReceipt: Bool
    var partition: Int32
    var offsets: Range<Int64>
  }

  /// What the groups have committed beyond what they had. Nil after a violation. A transaction's offsets may
  /// show before its records do: they count when those are there.
  private func movedOffsets() -> [Move]? {
    let dueMs = isAtOnce ? 0 : world.nowMs + surroundings.scenario.markerSpreadMs
    isAtOnce = false
    snapshots.append((dueMs, committedOffsets()))
    var due: [Committed]?
    while let first = snapshots.first, first.dueMs <= world.nowMs {
      due = first.offsets
      snapshots.removeFirst()
    }
    var moves: [Move] = []
    for one in due ?? [] {
      let place = Ledger.Place(lane: one.lane, partition: one.partition)
      let known =
        one.isReceipt ? ledger.committedReceipts[one.partition] : ledger.committed[place]
      let before = known ?? 0
      guard one.offset >= before else {
        ledger.fail(
          "fencing",
          "an offset of \(one.lane) partition \(one.partition) went back from \(before) to \(one.offset)"
        )
        return nil
      }
      guard one.offset > before else { continue }
      moves.append(
        Move(
          lane: one.lane, isReceipt: one.isReceipt, partition: one.partition,
          offsets: before..<one.offset))
    }
    return moves
  }

  /// Every marker is written: whatever the offsets are ahead of is there.
  func brokerRestarted() {
    for index in snapshots.indices { snapshots[index].dueMs = 0 }
    isAtOnce = true
  }

  private struct Committed {
    var lane: Lane
    var isReceipt: Bool
    var partition: Int32
    var offset: Int64
  }

  private func committedOffsets() -> [Committed] {
    var found: [Committed] = []
    let all = Array(0..<surroundings.scenario.partitions)
    for lane in lanes {
      var topics = [(topic: SimTopics.candidates(lane), partitions: all)]
      if lane == .ordinary { topics.append((SimTopics.receipts, all)) }
      let answer = world.ask(
        Requests.committed(topics, group: SimTopics.group(lane), isStable: false))
      for (index, one) in answer.offsets.enumerated() where one.offset >= 0 {
        found.append(
          Committed(
            lane: lane, isReceipt: index >= all.count, partition: one.index, offset: one.offset))
      }
    }
    return found
  }

  // MARK: Telling the ledger

  private func apply(_ committed: [Int64: [Written]], _ moves: [Move]) {
    var steps: [(order: Int64, step: CommittedStep)] = []
    for (_, written) in committed.sorted(by: { $0.key < $1.key }) {
      for one in written { add(one, to: &steps) }
    }
    for one in loose { add(one, to: &steps) }
    loose = []
    let written = committed.values.flatMap { $0 }
    for move in moves where move.isReceipt {
      let makers = written.filter { $0.partition == move.partition }.map { maker(of: $0.record) }
      add(move, by: Set(makers.map(\.number)), to: &steps)
    }
    if surroundings.scenario.isExact { ledger.apply(steps) } else { ledger.applyLoosely(steps) }
    for move in moves {
      if move.isReceipt {
        ledger.committedReceipts[move.partition] = move.offsets.upperBound
      } else {
        check(move)
      }
    }
    if surroundings.scenario.isExact { checkNothingBeyond(steps) }
  }

  private func add(_ one: Written, to steps: inout [(order: Int64, step: CommittedStep)]) {
    let order = number(SimRecords.orderHeader, one.record)
    guard let value = one.record.value else {
      return steps.append((order, .holdEnd(key: one.record.key ?? [])))
    }
    let carried = one.record.headers.first { $0.name == SimRecords.carriedHeader }?.value ?? []
    guard
      let decision = Decision(
        by: maker(of: one.record), topic: one.topic, partition: one.partition,
        offset: one.record.offset, order: order, turnMs: number(SimRecords.turnHeader, one.record),
        carried: String(decoding: carried, as: UTF8.self), value: value)
    else {
      return ledger.fail("decision", "cannot be read: \(String(decoding: value, as: UTF8.self))")
    }
    world.trace.add(decision.decidedAtMs &+ decision.offset)
    world.trace.say(world.nowMs) { "committed: \(decision.words)" }
    steps.append((order, .decision(decision)))
  }

  /// Receipts take their place among what the same loop did in that transaction: that of their last
  /// reading, since what was read before an abort does not count. Nor does what others read that wrote
  /// nothing of the partition in it: a zombie reads on until it is fenced.
  private func add(
    _ move: Move, by makers: Set<Int>, to steps: inout [(order: Int64, step: CommittedStep)]
  ) {
    for offset in move.offsets {
      let readings = surroundings.lanes.flatMap { lane in
        lane.receipts.filter {
          $0.partition == move.partition && $0.offsets.contains(offset)
        }.map { (order: $0.order, isMaker: makers.contains(lane.number)) }
      }
      let own = readings.filter(\.isMaker)
      let order = (own.isEmpty ? readings : own).map(\.order).max() ?? 0
      steps.append((order, .receipt(partition: move.partition, offset: offset)))
    }
  }

  private func maker(of record: Record) -> LaneNotes {
    surroundings.lanes[Int(number(SimRecords.makerHeader, record))]
  }

  private func number(_ header: String, _ record: Record) -> Int64 {
    let digits = record.headers.first { $0.name == header }?.value ?? []
    return digits.reduce(0) { $0 * 10 + Int64($1 - 48) }
  }

  /// What lies below the committed offset is decided, all of it.
  private func check(_ move: Move) {
    let place = Ledger.Place(lane: move.lane, partition: move.partition)
    for input in ledger.inputs(at: place, move.offsets) where !ledger.isDecided(input) {
      ledger.fail(
        surroundings.scenario.isExact ? "exactly once" : "at least once",
        "candidate \(input.number) of \(move.lane) partition \(move.partition) is lost: offsets are "
          + "committed up to \(move.offsets.upperBound), past its \(input.offset)")
    }
    ledger.committed[place] = move.offsets.upperBound
  }

  /// What is decided lies below the committed offset.
  private func checkNothingBeyond(_ steps: [(order: Int64, step: CommittedStep)]) {
    for case .decision(let decision) in steps.map(\.step)
    where decision.heldSinceMs == nil && ledger.inputs.indices.contains(decision.number) {
      let input = ledger.inputs[decision.number]
      let place = Ledger.Place(lane: input.lane, partition: input.partition)
      if input.offset >= ledger.committed[place] ?? 0 {
        ledger.fail("exactly once", "its offset was not committed with it: \(decision.words)")
      }
    }
  }
}
