import Broker
import Gate
import Pipeline

/// Decisions in transactions.
final class SimSink: DecisionSink {
  private let world: World
  private let machine: Machine
  private let lane: Lane
  private let transactionalID: String
  private let records: SimRecords
  private var producer: SimProducer?
  private var isReady = false

  init(
    _ notes: LaneNotes, transactionalID: String, sequence: Sequence, of machine: Machine
  ) {
    lane = notes.lane
    self.transactionalID = transactionalID
    records = SimRecords(notes: notes, sequence: sequence)
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
    try write(
      output.key, output.value, to: SimRecords.topic(of: output.outcome), partition,
      carried: carried)
  }

  private func write(
    _ key: UnsafeRawBufferPointer?, _ value: UnsafeRawBufferPointer?, to topic: String,
    _ partition: Int32, carried: [UInt8]?
  ) throws(Failure) {
    try check()
    try producer!.produce(
      records.make(key, value, carried: carried, atMs: world.nowMs),
      to: TopicPartition(topic, partition))
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
