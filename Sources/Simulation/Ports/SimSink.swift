import Broker
import Gate
import Pipeline

/// Numbers what the gate does, so that what came at once to the topics can be told apart by those who
/// check it. Nothing of the gate sees them.
final class Sequence {
  private var last: Int64 = 0
  func next() -> Int64 {
    last += 1
    return last
  }
}

/// One lane of one process, as those who check know it.
final class LaneNotes {
  let number: Int
  let lane: Lane
  let startedAtMs: Int64
  /// Receipts: when they were read, in the sequence, and which. Read again after an abort, they are
  /// here again.
  var receipts: [(order: Int64, partition: Int32, offsets: Range<Int64>)] = []

  init(number: Int, _ lane: Lane, startedAtMs: Int64) {
    self.number = number
    self.lane = lane
    self.startedAtMs = startedAtMs
  }
}

/// Decisions in transactions.
final class SimSink: DecisionSink {
  static let orderHeader = "order"
  static let turnHeader = "turn"
  static let carriedHeader = "carried"
  static let makerHeader = "maker"

  private let world: World
  private let machine: Machine
  private let lane: Lane
  private let transactionalID: String
  private let sequence: Sequence
  private var producer: SimProducer?
  private var isReady = false
  /// When the loop's turn began.
  var turnMs: Int64 = 0
  private let maker: Int

  init(
    _ notes: LaneNotes, transactionalID: String, sequence: Sequence, of machine: Machine
  ) {
    lane = notes.lane
    maker = notes.number
    self.transactionalID = transactionalID
    self.sequence = sequence
    self.machine = machine
    world = machine.world
  }

  private func check() throws(Failure) {
    if machine.isDead { throw Failure(.fatal, "killed") }
  }

  func replace() throws(Failure) {
    try check()
    if isReady { drop() }
    if producer == nil {
      producer = SimProducer(
        transactionalID, timeoutMs: Int32(SimTimes.transactionMs), of: machine)
    }
    do throws(Failure) {
      try producer!.initialise(stepMs: SimTimes.stepMs)
      isReady = true
    } catch {
      if error.kind != .retriable { drop() }
      throw error
    }
  }

  func begin() throws(Failure) {
    try check()
  }

  func write(
    _ outputs: UnsafeBufferPointer<OutputRecord>, of inputs: UnsafeBufferPointer<InputRecord>
  ) throws(Failure) {
    #if PlantedBugs
      let outputs = PlantedBug.is(.outputsOutOfOrder) ? outputs.reversed() : Array(outputs)
    #endif
    for output in outputs {
      let input = inputs[output.inputIndex]
      try write(output, input.partition, carried: Array("\(input.partition)-\(input.offset)".utf8))
    }
  }

  func writeState(_ records: UnsafeBufferPointer<StateRecord>) throws(Failure) {
    for record in records {
      try write(
        record.key, record.value, to: SimTopics.state(lane), record.partition, carried: nil)
    }
  }

  func writeHolds(_ outcomes: UnsafeBufferPointer<HoldOutcome>) throws(Failure) {
    for outcome in outcomes {
      guard let record = outcome.record else { continue }
      try write(record, outcome.partition, carried: Array(outcome.headers))
    }
    for outcome in outcomes {
      guard let key = outcome.endedKey else { continue }
      try write(key, nil, to: SimTopics.deferred, outcome.partition, carried: nil)
    }
  }

  private func write(
    _ output: OutputRecord, _ partition: Int32, carried: [UInt8]?
  ) throws(Failure) {
    let topic =
      switch output.outcome {
      case .approved: SimTopics.approved
      case .deferred: SimTopics.deferred
      case .dropped: SimTopics.dropped
      }
    try write(output.key, output.value, to: topic, partition, carried: carried)
  }

  private func write(
    _ key: UnsafeRawBufferPointer?, _ value: UnsafeRawBufferPointer?, to topic: String,
    _ partition: Int32, carried: [UInt8]?
  ) throws(Failure) {
    try check()
    var headers = [
      Record.Header(name: Self.orderHeader, value: Array("\(sequence.next())".utf8)),
      Record.Header(name: Self.turnHeader, value: Array("\(turnMs)".utf8)),
      Record.Header(name: Self.makerHeader, value: Array("\(maker)".utf8)),
    ]
    if let carried {
      headers.append(Record.Header(name: Self.carriedHeader, value: carried))
    }
    try producer!.produce(
      Record(
        timestampMs: world.nowMs, key: key.map { Array($0) }, value: value.map { Array($0) },
        headers: headers), to: TopicPartition(topic, partition))
  }

  func flush() throws(Failure) {
    try check()
    try producer!.flush(stepMs: SimTimes.stepMs)
  }

  func sendOffsets(
    _ offsets: [PartitionOffset], receipts: [PartitionOffset], claim: GroupClaim
  ) throws(Failure) {
    try check()
    try producer!.sendOffsets(
      [(SimTopics.candidates(lane), offsets), (SimTopics.receipts, receipts)],
      group: SimTopics.group(lane), claim: claim, stepMs: SimTimes.stepMs)
  }

  func commit() throws(Failure) {
    try check()
    try producer!.commit(stepMs: SimTimes.stepMs)
  }

  func abort() throws(Failure) {
    try check()
    try producer!.abort(stepMs: SimTimes.stepMs)
  }

  func close() { drop() }

  private func drop() {
    producer?.close()
    producer = nil
    isReady = false
  }
}
