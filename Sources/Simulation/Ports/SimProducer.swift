import Broker
import Pipeline

/// A transactional producer, as a client library keeps one: records wait in a queue, a thread of its own
/// sends them in order and numbered, and what the broker says is remembered for the next call.
final class SimProducer {
  private struct Batch {
    var place: TopicPartition
    var records: [Record]
  }

  private let world: World
  private let machine: Machine
  private let connection: Connection
  private let transactionalID: String
  private let timeoutMs: Int32
  private(set) var producerId: Int64 = -1
  private var epoch: Int16 = -1
  private var sequences: [TopicPartition: Int32] = [:]
  /// What the coordinator was told of, in this transaction.
  private var added: Set<TopicPartition> = []
  private var hasOffsets = false
  private var queue: [(place: TopicPartition, record: Record)] = []
  private var inFlight: Batch?
  /// Work for the sending thread, or its end.
  private let queued = Signal()
  private let progressed = Signal()
  private var isClosed = false
  /// Records were given up without an answer: the next numbers would leave a gap.
  private var mustRaiseEpoch = false
  /// The transaction lacks a record: it can only be aborted.
  private var abortable: String?
  /// Nothing goes any more.
  private var fatal: Failure?

  init(_ transactionalID: String, timeoutMs: Int32, of machine: Machine) {
    self.transactionalID = transactionalID
    self.timeoutMs = timeoutMs
    self.machine = machine
    world = machine.world
    connection = Connection("producer", of: machine)
    machine.startFiber("sender") { [self] in send() }
  }

  var isOpen: Bool { !added.isEmpty || hasOffsets || !queue.isEmpty || inFlight != nil }

  // MARK: Calls

  /// Fences older producers of the same name, and waits for what they left open.
  func initialise(stepMs: Int64) throws(Failure) {
    try initialise(stepMs: stepMs, producerId: -1, epoch: -1)
  }

  private func initialise(
    stepMs: Int64, producerId: Int64, epoch: Int16
  ) throws(Failure) {
    var request = InitProducerIdRequest()
    request.transactionalId = transactionalID
    request.transactionTimeoutMs = timeoutMs
    (request.producerId, request.producerEpoch) = (producerId, epoch)
    try repeating("init transactions", stepMs) { (response) throws(Failure) in
      guard case .initProducerId(let answer) = response else { return false }
      guard try accept(answer.error, "init transactions") else { return false }
      (self.producerId, self.epoch) = (answer.producerId, answer.producerEpoch)
      sequences = [:]
      mustRaiseEpoch = false
      return true
    } request: {
      .initProducerId(request)
    }
  }

  func produce(_ record: Record, to place: TopicPartition) throws(Failure) {
    try check()
    queue.append((place, record))
    world.fire(queued)
  }

  func flush(stepMs: Int64) throws(Failure) {
    let untilMs = world.nowMs + stepMs
    while !queue.isEmpty || inFlight != nil {
      try check()
      if abortable != nil { return }
      guard world.nowMs < untilMs else {
        throw Failure(.retriable, "outputs are not acknowledged yet")
      }
      _ = world.wait(for: progressed, ms: untilMs - world.nowMs)
    }
  }

  func sendOffsets(
    _ topics: [(topic: String, positions: [PartitionOffset])], group: String, claim: GroupClaim,
    stepMs: Int64
  ) throws(Failure) {
    try checkOpen()
    var add = AddOffsetsToTxnRequest()
    (add.transactionalId, add.producerId, add.producerEpoch) = (transactionalID, producerId, epoch)
    add.groupId = group
    try repeating("add offsets", stepMs) { (response) throws(Failure) in
      guard case .addOffsetsToTxn(let answer) = response else { return false }
      return try accept(answer.error, "add offsets")
    } request: {
      .addOffsetsToTxn(add)
    }
    hasOffsets = true
    var commit = TxnOffsetCommitRequest()
    (commit.transactionalId, commit.producerId, commit.producerEpoch) = (
      transactionalID, producerId, epoch
    )
    commit.groupId = group
    (commit.generationId, commit.memberId) = (claim.generation, claim.memberID)
    commit.topics = topics.filter { !$0.positions.isEmpty }.map { topic, positions in
      var item = TxnOffsetCommitTopic()
      item.name = topic
      item.partitions = positions.map {
        var place = TxnOffsetCommitPartition()
        (place.index, place.offset) = ($0.partition, $0.offset)
        return place
      }
      return item
    }
    guard !commit.topics.isEmpty else { return }
    try repeating("commit offsets", stepMs) { (response) throws(Failure) in
      guard case .txnOffsetCommit(let answer) = response else { return false }
      for error in answer.topics.flatMap(\.partitions).map(\.error) {
        switch error {
        // Another generation owns the partitions: what was decided of them is theirs.
        case .illegalGeneration, .unknownMemberId, .fencedInstanceId:
          abortable = "offsets: \(error.rawValue)"
          throw Failure(.abort, "the group refuses the offsets: \(error.rawValue)")
        default: guard try accept(error, "commit offsets") else { return false }
        }
      }
      return true
    } request: {
      .txnOffsetCommit(commit)
    }
  }

  func commit(stepMs: Int64) throws(Failure) {
    try checkOpen()
    try end(commit: true, stepMs)
    finish()
  }

  /// What is queued is dropped; what is in flight is waited for, for a while.
  func abort(stepMs: Int64) throws(Failure) {
    queue.removeAll()
    let untilMs = world.nowMs + stepMs / 4
    while inFlight != nil, world.nowMs < untilMs, !machine.isDead {
      _ = world.wait(for: progressed, ms: untilMs - world.nowMs)
    }
    if inFlight != nil {
      inFlight = nil
      mustRaiseEpoch = true
    }
    try check()
    try end(commit: false, stepMs)
    finish()
    // The numbers of what was dropped in flight may or may not be taken.
    if mustRaiseEpoch { try initialise(stepMs: stepMs, producerId: producerId, epoch: epoch) }
  }

  private func finish() {
    added.removeAll()
    hasOffsets = false
    abortable = nil
  }

  private func end(commit: Bool, _ stepMs: Int64) throws(Failure) {
    // The coordinator knows of nothing to end.
    guard !added.isEmpty || hasOffsets else { return }
    var request = EndTxnRequest()
    (request.transactionalId, request.producerId, request.producerEpoch) = (
      transactionalID, producerId, epoch
    )
    request.committed = commit
    try repeating(commit ? "commit" : "abort", stepMs) { (response) throws(Failure) in
      guard case .endTxn(let answer) = response else { return false }
      return try accept(answer.error, commit ? "commit" : "abort")
    } request: {
      .endTxn(request)
    }
  }

  /// Nothing more is sent, and what is open stays open.
  func close() {
    isClosed = true
    queue.removeAll()
    world.fire(queued)
  }

  // MARK: The sending thread

  private func send() {
    while !isClosed && !machine.isDead {
      guard fatal == nil, abortable == nil, let batch = nextBatch() else {
        _ = world.wait(for: queued, ms: 1_000)
        continue
      }
      inFlight = batch
      transmit(batch)
      world.fire(progressed)
    }
  }

  private func nextBatch() -> Batch? {
    guard let place = queue.first?.place else { return nil }
    var records: [Record] = []
    queue.removeAll {
      guard $0.place == place, records.count < 50 else { return false }
      records.append($0.record)
      return true
    }
    return Batch(place: place, records: records)
  }

  private func transmit(_ batch: Batch) {
    do throws(Failure) {
      if !added.contains(batch.place) { try add(batch.place) }
      // It was dropped by an abort while this waited.
      guard inFlight != nil, !isClosed, !machine.isDead else { return }
      try deliver(batch)
      inFlight = nil
    } catch {
      inFlight = nil
      switch error.kind {
      case .abort:
        abortable = error.message
        mustRaiseEpoch = true
      default: fatal = fatal ?? error
      }
    }
  }

  private func add(_ place: TopicPartition) throws(Failure) {
    var request = AddPartitionsToTxnRequest()
    (request.transactionalId, request.producerId, request.producerEpoch) = (
      transactionalID, producerId, epoch
    )
    var topic = OffsetFetchTopic()
    (topic.name, topic.partitions) = (place.topic, [place.index])
    request.topics = [topic]
    // The coordinator may know of it before the answer is here, or without one.
    added.insert(place)
    _ = try repeatingInBackground("add partitions") { (response) throws(Failure) in
      guard case .addPartitionsToTxn(let answer) = response else { return false }
      return try accept(answer.topics[0].partitions[0].error, "add partitions")
    } request: {
      .addPartitionsToTxn(request)
    }
  }

  private func deliver(_ batch: Batch) throws(Failure) {
    var builder = BatchBuilder()
    (builder.producerId, builder.producerEpoch) = (producerId, epoch)
    builder.baseSequence = sequences[batch.place] ?? 0
    builder.isTransactional = true
    let request = Requests.produce(
      batch.records, to: batch.place.topic, batch.place.index, builder: builder,
      transactionalID: transactionalID)
    let isDone = try repeatingInBackground("produce") { (response) throws(Failure) in
      guard case .produce(let answer) = response else { return false }
      let error = answer.topics[0].partitions[0].error
      switch error {
      case .outOfOrderSequenceNumber, .invalidTxnState, .unknownProducerId:
        throw Failure(.abort, "a batch was refused: \(error.rawValue)")
      default: return try accept(error, "produce")
      }
    } request: {
      request
    }
    // Dropped meanwhile, it counts under an epoch that is gone.
    guard isDone else { return }
    sequences[batch.place] = builder.baseSequence &+ Int32(batch.records.count)
  }

  // MARK: Answers

  private func check() throws(Failure) {
    if machine.isDead { throw Failure(.fatal, "killed") }
    if let fatal { throw fatal }
  }

  private func checkOpen() throws(Failure) {
    try check()
    if let abortable { throw Failure(.abort, abortable) }
  }

  /// True: it is done; false: ask again.
  private func accept(_ error: ErrorCode, _ what: String) throws(Failure) -> Bool {
    switch error {
    case .none: return true
    case .producerFenced, .invalidProducerEpoch:
      let failure = Failure(.fenced, "\(what): fenced")
      fatal = failure
      throw failure
    case .invalidProducerIdMapping, .invalidTxnState:
      let failure = Failure(.lostTransaction, "\(what): \(error.rawValue)")
      fatal = failure
      throw failure
    default:
      if error.isTemporary { return false }
      let failure = Failure(.fatal, "\(what): error \(error.rawValue)")
      fatal = failure
      throw failure
    }
  }

  private func repeating(
    _ what: String, _ stepMs: Int64, _ take: (Response) throws(Failure) -> Bool,
    request: () -> Request
  ) throws(Failure) {
    let untilMs = world.nowMs + stepMs
    while true {
      try check()
      let leftMs = untilMs - world.nowMs
      guard leftMs > 0 else { throw Failure(.retriable, "\(what): no answer in time") }
      if let response = world.call(request(), on: connection, timeoutMs: min(leftMs, 400)),
        try take(response)
      {
        return
      }
      try check()
      world.sleep(ms: 20)
    }
  }

  /// For as long as a transaction may take. False where what it was for was dropped meanwhile.
  private func repeatingInBackground(
    _ what: String, _ take: (Response) throws(Failure) -> Bool, request: () -> Request
  ) throws(Failure) -> Bool {
    let untilMs = world.nowMs + Int64(timeoutMs)
    while !isClosed, inFlight != nil {
      if machine.isDead { throw Failure(.fatal, "killed") }
      guard world.nowMs < untilMs else { throw Failure(.abort, "\(what): not in time") }
      if let response = world.call(request(), on: connection, timeoutMs: 400),
        try take(response)
      {
        return true
      }
      world.sleep(ms: 20)
    }
    return false
  }
}
