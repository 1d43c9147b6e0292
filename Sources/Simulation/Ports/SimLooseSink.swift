import Broker
import Gate
import Pipeline

/// Decisions without transactions (`delivery=at_least_once`): outputs, then ids and what ends holds, then
/// offsets, each when what came before is acknowledged.
final class SimLooseSink: DecisionSink {
  private typealias Queued = (place: TopicPartition, record: Record)

  private let world: World
  private let machine: Machine
  private let lane: Lane
  private let records: SimRecords
  private let connection: Connection
  private var outputs: [Queued] = []
  private var afterwards: [Queued] = []
  private var positions: [(topic: String, offsets: [PartitionOffset])] = []
  private var claim = GroupClaim(generation: -1, memberID: "")

  init(_ notes: LaneNotes, sequence: Sequence, of machine: Machine) {
    lane = notes.lane
    records = SimRecords(notes: notes, sequence: sequence)
    self.machine = machine
    world = machine.world
    connection = Connection("producer", of: machine)
  }

  private func check() throws(Failure) {
    if machine.isDead { throw Failure(.fatal, "killed") }
  }

  func replace() throws(Failure) { drop() }
  func begin() throws(Failure) { drop() }

  func write(
    _ decided: UnsafeBufferPointer<OutputRecord>, of inputs: UnsafeBufferPointer<InputRecord>
  ) throws(Failure) {
    try check()
    for output in decided {
      let input = inputs[output.inputIndex]
      add(output, input.partition, carried: Array("\(input.partition)-\(input.offset)".utf8))
    }
  }

  func writeHolds(_ outcomes: UnsafeBufferPointer<HoldOutcome>) throws(Failure) {
    try check()
    for outcome in outcomes {
      if let record = outcome.record {
        add(record, outcome.partition, carried: Array(outcome.headers))
      }
      guard let key = outcome.endedKey else { continue }
      afterwards.append(
        (
          TopicPartition(SimTopics.deferred, outcome.partition),
          records.make(key, nil, carried: nil, atMs: world.nowMs)
        ))
    }
  }

  func writeState(_ state: UnsafeBufferPointer<StateRecord>) throws(Failure) {
    try check()
    for record in state {
      afterwards.append(
        (
          TopicPartition(SimTopics.state(lane), record.partition),
          records.make(record.key, record.value, carried: nil, atMs: world.nowMs)
        ))
    }
  }

  private func add(_ output: OutputRecord, _ partition: Int32, carried: [UInt8]) {
    outputs.append(
      (
        TopicPartition(SimRecords.topic(of: output.outcome), partition),
        records.make(output.key, output.value, carried: carried, atMs: world.nowMs)
      ))
  }

  func flush() throws(Failure) {
    #if PlantedBugs
      if PlantedBug.is(.looseStateFirst) { try send(&afterwards) }
    #endif
    try send(&outputs)
    try send(&afterwards)
  }

  private func send(_ queue: inout [Queued]) throws(Failure) {
    let untilMs = world.nowMs + SimTimes.stepMs
    while let place = queue.first?.place {
      try check()
      let batch = queue.filter { $0.place == place }.map(\.record)
      let request = Requests.produce(batch, to: place.topic, place.index)
      guard world.nowMs < untilMs else {
        throw Failure(.retriable, "outputs are not acknowledged yet")
      }
      // Without an answer they may be there already, and are there twice then.
      if case .produce(let answer)? = world.call(request, on: connection, timeoutMs: 400),
        answer.topics[0].partitions[0].error == .none
      {
        queue.removeAll { $0.place == place }
      } else {
        world.sleep(ms: 20)
      }
    }
    try check()
  }

  func sendOffsets(
    _ offsets: [PartitionOffset], receipts: [PartitionOffset], claim: GroupClaim
  ) throws(Failure) {
    positions = [(SimTopics.candidates(lane), offsets), (SimTopics.receipts, receipts)]
    self.claim = claim
  }

  func commit() throws(Failure) {
    try check()
    var request = OffsetCommitRequest()
    request.groupId = SimTopics.group(lane)
    (request.generationId, request.memberId) = (claim.generation, claim.memberID)
    request.topics = positions.filter { !$0.offsets.isEmpty }.map { topic, offsets in
      var item = OffsetCommitTopic()
      item.name = topic
      item.partitions = offsets.map {
        var place = OffsetCommitPartition()
        (place.index, place.offset) = ($0.partition, $0.offset)
        return place
      }
      return item
    }
    guard !request.topics.isEmpty else { return }
    guard
      case .offsetCommit(let answer)? = world.call(
        .offsetCommit(request), on: connection, timeoutMs: SimTimes.requestMs)
    else { throw Failure(machine.isDead ? .fatal : .retriable, "no answer to the offsets") }
    for error in answer.topics.flatMap(\.partitions).map(\.error) where error != .none {
      throw Failure(error.isTemporary ? .retriable : .abort, "offsets: \(error.rawValue)")
    }
  }

  func abort() throws(Failure) {
    try check()
    drop()
  }

  func close() { drop() }

  private func drop() {
    outputs = []
    afterwards = []
  }
}
