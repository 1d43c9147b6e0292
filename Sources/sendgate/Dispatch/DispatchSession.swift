import Consumer
import Gate
import Kafka
import Pipeline
import Producer
import Telemetry

/// One life of a dispatcher's clients, from joining the group to leaving it: read approvals, answer
/// each with a receipt, and commit both in a transaction.
///
/// Whatever goes wrong ends the session, and the next one begins where a restarted process would: at
/// the committed offsets, with what was sent read back from the receipts. So there is one way to
/// recover, and it is the one that kill -9 tests.
final class DispatchSession {
  let settings: DispatchSettings
  let control: DispatchControl
  let log: Logger
  let clock = SystemClock()
  let source: CandidateTopic
  /// The receipts, as they are read back.
  let written: ReceiptHistory
  private let sink: ReceiptSink
  private let calls: CallLog
  var dispatcher: StubDispatcher
  /// The next approval of each owned partition.
  var positions: [Int32: Int64] = [:]
  /// Who the partitions were given to.
  var memberID = ""
  private var claim: GroupClaim?
  private var openedAtMs: Int64?
  /// Of what is committed.
  private(set) var counts = StubDispatcher.Counts()

  init(
    _ settings: DispatchSettings, _ control: DispatchControl, _ calls: CallLog, _ log: Logger
  ) throws(ConfigurationError) {
    self.settings = settings
    self.control = control
    self.calls = calls
    self.log = log
    dispatcher = StubDispatcher(settings.provider)
    let onEvent = kafkaEvents(to: log, client: "dispatcher")
    let onProblem = { (error: KafkaError) in
      log.warning(
        "Reading met an error; it is retried.", ["kafka.error": .string("\(error)")])
    }
    // Whatever cannot be opened closes what was before it.
    source = try CandidateTopic(
      topic: settings.approvals, properties: settings.consumer, onEvent: onEvent,
      onProblem: onProblem)
    do throws(ConfigurationError) {
      written = try ReceiptHistory(
        topic: settings.receipts, properties: settings.kafka, onEvent: onEvent,
        onProblem: onProblem)
    } catch {
      source.close()
      throw error
    }
    do throws(ConfigurationError) {
      sink = try ReceiptSink(
        topic: settings.receipts, inputTopic: settings.approvals, groupID: settings.groupID,
        properties: settings.producer, onEvent: onEvent)
    } catch {
      source.close()
      written.close()
      throw error
    }
  }

  /// The sink first: nothing may be written once the partitions are others'.
  func close() {
    source.release()
    sink.close()
    source.close()
    written.close()
  }

  var isOpen: Bool { openedAtMs != nil }

  /// Open for longer than the coordinator lets it be: what then says "fenced" may be the coordinator
  /// alone.
  var isOverdue: Bool {
    openedAtMs.map { clock.monotonicMs() - $0 >= settings.transactionTimeoutMs } ?? false
  }

  /// Returns when it was asked to end and everything is committed.
  func run() throws(Failure) {
    try patiently { () throws(Failure) in try sink.start() }
    while !control.isStopping { try turn() }
    try commit()
  }

  private func turn() throws(Failure) {
    control.heedSignals()
    let batch = try source.poll(timeoutMs: pollTimeoutMs)
    defer { source.release() }
    let rebalance = source.nextRebalance()
    if case .lost(let partitions) = rebalance {
      // Others may be at these records already.
      throw Failure(.abort, "partitions \(partitions) were lost")
    }
    // What came with a revocation is still ours until that is answered.
    try dispatch(UnsafeBufferPointer(batch))
    if let rebalance { try answer(rebalance) }
    if let openedAtMs, clock.monotonicMs() - openedAtMs >= settings.commitIntervalMs {
      try commit()
    }
    control.heedIdleness(mayBeIdle: !positions.isEmpty && !isOpen)
  }

  private var pollTimeoutMs: Int32 {
    guard let openedAtMs else { return 100 }
    return Int32(max(0, min(100, openedAtMs + settings.commitIntervalMs - clock.monotonicMs())))
  }

  private func dispatch(_ batch: UnsafeBufferPointer<InputRecord>) throws(Failure) {
    for record in batch {
      // What comes of a partition between its assignments is nobody's.
      guard let position = positions[record.partition], record.offset >= position else { continue }
      try begin()
      control.noteInput()
      let output = dispatcher.dispatch(
        record.value, of: record.partition, nowMs: clock.wallMs())
      if let output { try write(output, record.partition) }
      positions[record.partition] = record.offset + 1
    }
  }

  private func write(_ output: StubDispatcher.Output, _ partition: Int32) throws(Failure) {
    for call in output.calls { calls.append(call) }
    let key = Array(output.userID.utf8)
    for receipt in output.receipts {
      let value = Array(receipt.utf8)
      let written = key.withUnsafeBytes { key in
        value.withUnsafeBytes { value in
          Result { () throws(Failure) in
            try sink.write(partition: partition, key: key, value: value)
          }
        }
      }
      try written.get()
    }
  }

  private func begin() throws(Failure) {
    guard openedAtMs == nil else { return }
    // With the batch, not at the commit: a later generation's claim would let the offsets of a
    // partition that is somebody else's by then pass.
    guard let claim = source.claim(), claim.isFencing, claim.memberID == memberID else {
      throw Failure(.abort, "no longer a member of group \(settings.groupID)")
    }
    self.claim = claim
    try sink.begin()
    openedAtMs = clock.monotonicMs()
  }

  /// Flush, then offsets, then commit: an offset must not be in a transaction that lacks a receipt.
  /// The calls are on record before, so that none is missing from it; after a crash in between one
  /// stands there twice, under one id.
  func commit() throws(Failure) {
    guard isOpen else { return }
    let offsets = positions.map { PartitionOffset(partition: $0.key, offset: $0.value) }
    try patiently(alsoStopping: true) { () throws(Failure) in try sink.flush() }
    calls.flush()
    if let failure = calls.failure { throw Failure(.fatal, failure.description) }
    try patiently(alsoStopping: true) { () throws(Failure) in
      try sink.sendOffsets(offsets, claim: claim!)
    }
    try patiently(alsoStopping: true) { () throws(Failure) in try sink.commit() }
    openedAtMs = nil
    counts.add(dispatcher.takeCounts())
  }

  /// Repeats what may be asked again, for as long as a transaction may be open.
  /// - Parameter alsoStopping: for what has to be finished before the end.
  func patiently(
    alsoStopping: Bool = false, _ body: () throws(Failure) -> Void
  ) throws(Failure) {
    let deadlineMs = clock.monotonicMs() + settings.transactionTimeoutMs
    while true {
      do throws(Failure) {
        return try body()
      } catch {
        control.heedSignals()
        let mayGoOn = alsoStopping || !control.isStopping
        guard error.kind == .retriable, mayGoOn, clock.monotonicMs() < deadlineMs else {
          throw error
        }
        log.info("Waiting for the broker.", ["reason": .string(error.message)])
        clock.sleep(ms: 50)
      }
    }
  }
}
