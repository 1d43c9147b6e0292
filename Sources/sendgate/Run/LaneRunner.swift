import Consumer
import Gate
import Kafka
import Pipeline
import Producer
import Synchronization
import Telemetry

/// One lane on one thread: its consumer, its producer, its loop.
final class LaneRunner: Sendable {
  let lane: Lane
  let name: String
  let counters = LoopCounters()
  let control = LaneControl()
  let health = LaneHealth()
  private let headersLeftOutCount = Atomic<UInt64>(0)
  private let worker: Int
  private let world: SharedWorld
  private let partitionCount: Int32
  private let ending = Mutex<LaneEnd?>(nil)

  init(_ lane: Lane, worker: Int, world: SharedWorld, partitionCount: Int32) {
    self.lane = lane
    self.worker = worker
    self.world = world
    self.partitionCount = partitionCount
    name = lane == .security ? "security-\(worker)" : "ordinary-\(worker)"
  }

  /// How the lane ended; nil while it runs.
  var end: LaneEnd? { ending.withLock { $0 } }

  /// Records written without their candidate's headers; those of aborted transactions count too.
  var headersLeftOut: UInt64 { headersLeftOutCount.load(ordering: .relaxed) }

  private func noteHeadersLeftOut(_ count: UInt64) {
    headersLeftOutCount.wrappingAdd(count, ordering: .relaxed)
    world.log.warning(
      "Records are written without their candidates' headers: with them they are too large",
      ["lane": .string(name), "records": .integer(Int(count))])
  }

  /// What must be granted or mended outside before the lane can read its input; nil: nothing that is
  /// known of.
  func obstacle(nowMs: Int64) -> String? {
    let owned = counters[.ownedPartitions]
    if let group = health.groupProblem(ownsPartitions: owned > 0, nowMs: nowMs) { return group }
    if counters[.restoringPartitions] > 0 { return health.stateProblem }
    return nil
  }

  /// The whole life of the lane, on the calling thread.
  func run() {
    // Before the clients are made: their threads inherit it.
    if lane == .ordinary { ThreadPriority.yieldToOthers() }
    let end: LaneEnd
    do throws(ConfigurationError) {
      end = try runLoop()
    } catch {
      end = .fatal("the configuration of the Kafka client: \(error)")
    }
    ending.withLock { $0 = end }
  }

  private var groupID: String { KafkaClients.groupID(world.configuration, lane) }

  private func runLoop() throws(ConfigurationError) -> LaneEnd {
    let names = world.topicNames
    let outputs = OutputTopicNames(
      approved: names[.approved], deferred: names[.deferred], dropped: names[.dropped],
      selfTest: names[.selfTest], state: names[stateRole])
    let isExact = world.configuration.delivery == .exactlyOnce
    let properties = try KafkaClients.outputs(world.configuration, lane, worker: worker)
    tell(properties, "\(name) producer")
    let onEvent = world.onKafkaEvent("\(name) producer")
    // Whatever is opened is closed by its loop; what cannot be opened closes what was before it.
    let deferredTopic = DeferredTopic(
      topic: names[.deferred], properties: world.kafka,
      onEvent: world.onKafkaEvent("\(name) deferred"))
    defer { deferredTopic.close() }
    let state = LaneState(
      policy: world.policy, partitionCount: partitionCount, hashKey: HashKeyFile.random())
    let holds = makeHolds(deferredTopic, state)
    let stateTopic = try makeStateTopic()
    let source: CandidateTopic
    do throws(ConfigurationError) {
      source = try makeSource()
    } catch {
      stateTopic.close()
      throw error
    }
    let receipts: ReceiptTopic?
    do throws(ConfigurationError) {
      receipts = try makeReceiptTopic()
    } catch {
      stateTopic.close()
      source.close()
      throw error
    }
    if isExact {
      return loop(
        source,
        TransactionalSink(
          TransactionalSink.Settings(
            properties: properties, topics: outputs, inputTopic: names[inputRole],
            receiptTopic: names[.receipts], groupID: groupID),
          onEvent: onEvent, onHeadersLeftOut: { [self] in noteHeadersLeftOut($0) }), stateTopic,
        state, holds, receipts)
    }
    return loop(
      source,
      AtLeastOnceSink(
        properties: properties, topics: outputs, inputTopic: names[inputRole],
        receiptTopic: names[.receipts], onEvent: onEvent,
        onHeadersLeftOut: { [self] in noteHeadersLeftOut($0) },
        commitOffsets: { (positions) throws(KafkaError) in
          try source.consumer.commit(positions)
        }), stateTopic, state, holds, receipts)
  }

  private var inputRole: TopicRole { lane == .security ? .candidateSecurity : .candidate }

  private func makeSource() throws(ConfigurationError) -> CandidateTopic {
    let properties = try KafkaClients.candidates(world.configuration, lane) { choice in
      world.log.info(
        "Chose how the consumer fetches ahead",
        ["lane": .string(name), "kafka.fetch": .string(choice)])
    }
    tell(properties, "\(name) consumer")
    return try CandidateTopic(
      topic: world.topicNames[inputRole], properties: properties,
      recordsMax: world.configuration.batchRecordsMax, health: health,
      onEvent: world.onKafkaEvent("\(name) consumer"),
      onProblem: { [log = world.log, name] error in
        log.warning(
          "Reading candidates met an error; it is retried",
          ["lane": .string(name), "kafka.error": .string("\(error)")])
      })
  }

  /// What the guarantees rest on, as it is; secrets hidden.
  private func tell(_ properties: KafkaProperties, _ client: String) {
    SettingsLog.write(
      "\(properties)".split(separator: " ").map(String.init),
      "Properties of a Kafka client.", client: client, to: world.log)
  }

  private var stateRole: TopicRole { lane == .security ? .stateSecurity : .state }

  private func makeStateTopic() throws(ConfigurationError) -> StateTopic {
    try StateTopic(
      topic: world.topicNames[stateRole],
      deferredTopic: lane == .ordinary ? world.topicNames[.deferred] : nil,
      properties: world.kafka, onEvent: world.onKafkaEvent("\(name) state"),
      onProblem: { [log = world.log, name, health] error in
        health.setStateProblem("\(error)")
        log.warning(
          "Reading the state topic met an error; it is retried",
          ["lane": .string(name), "kafka.error": .string("\(error)")])
      })
  }

  /// Only the ordinary lane holds: security is never held.
  private func makeHolds(_ deferredTopic: DeferredTopic, _ state: LaneState) -> LaneHolds? {
    guard lane == .ordinary else { return nil }
    let configuration = world.configuration
    return LaneHolds(
      policy: world.policy, preferences: world.preferences, zones: world.zones, state: state,
      links: world.links,
      settings: LaneHolds.Settings(
        spread: HoldSpread(spreadMs: Int64(configuration.releaseSpreadSeconds) * 1_000),
        payloadBytesMax: configuration.releasePayloadBytesMax,
        apnsPerSecond: configuration.releaseAPNsPerSecond.map(Int64.init),
        fcmPerSecond: configuration.releaseFCMPerSecond.map(Int64.init),
        partitionCount: partitionCount),
      source: deferredTopic, changes: world.preferenceChanges[worker],
      monotonicMs: SystemClock().monotonicMs())
  }

  /// Nil where nothing is counted: security is never capped.
  private func makeReceiptTopic() throws(ConfigurationError) -> ReceiptTopic? {
    guard lane == .ordinary, world.policy.hasCaps else { return nil }
    return try ReceiptTopic(
      topic: world.topicNames[.receipts], groupID: groupID, properties: world.kafka,
      onEvent: world.onKafkaEvent("\(name) receipts"),
      onProblem: { [log = world.log, name] error in
        log.warning(
          "Reading receipts met an error; it is retried",
          ["lane": .string(name), "kafka.error": .string("\(error)")])
      })
  }

  private func loop<Sink: DecisionSink>(
    _ source: CandidateTopic, _ sink: Sink, _ stateTopic: StateTopic, _ state: LaneState,
    _ holds: LaneHolds?, _ receipts: ReceiptTopic?
  ) -> LaneEnd {
    let configuration = world.configuration
    let engine = Engine(
      lane: lane, policy: world.policy, preferences: world.preferences, zones: world.zones,
      partitionCount: partitionCount, state: state, holds: holds, links: world.links)
    let intervalMs =
      lane == .security ? configuration.securityCommitIntervalMs : configuration.commitIntervalMs
    return GateLoop(
      source: source, sink: sink, clock: SystemClock(), decider: engine, state: state,
      stateSource: stateTopic, holds: holds,
      receipts: receipts.map {
        ReceiptIntake(
          source: $0, refunder: Refunder(state: state, partitionCount: partitionCount))
      },
      // Security has no opt-out that it would heed.
      leaks: lane == .ordinary
        ? LeakMeter(
          notes: world.optOuts[worker],
          objectiveMs: Int64(configuration.optOutLeakObjectiveMs)) : nil,
      settings: LoopSettings(
        commitIntervalMs: Int64(intervalMs),
        transactionTimeoutMs: Int64(configuration.transactionTimeoutMs),
        staleMsMax: world.policy.preferencesStaleSecondsMax(lane).map { $0 * 1_000 }),
      counters: counters, control: control, readiness: world.readiness, epochs: world.epochs,
      onEvent: { [log = world.log, name, health] event in
        switch event {
        case .waiting(let reason), .retrying(_, let reason): health.isWaiting(for: reason)
        // Whatever the state topic had to say, it was read.
        case .restored: health.setStateProblem(nil)
        default: break
        }
        LaneLog.write(event, lane: name, to: log)
      }
    ).run()
  }
}

/// What a lane reports, as log lines.
enum LaneLog {
  static func write(_ event: LoopEvent, lane: String, to log: Logger) {
    let text = LogValue.string("\(event)")
    switch event {
    case .assigned, .revoked, .resumed, .restoring:
      log.info("The lane's partitions changed", ["lane": .string(lane), "event": text])
    case .restored(_, _, _, let unreadable):
      if unreadable == 0 {
        log.info("The lane's partitions changed", ["lane": .string(lane), "event": text])
      } else {
        log.error(
          "Records of the state or deferred topic cannot be read",
          ["lane": .string(lane), "event": text])
      }
    case .paused(_, isReady: false):
      // Every start does, until the preferences are read.
      log.info("The lane waits for the preferences", ["lane": .string(lane), "event": text])
    case .lost, .aborted, .producerReplaced, .membershipChanged, .paused:
      log.warning("The lane was disturbed", ["lane": .string(lane), "event": text])
    case .retrying, .waiting:
      log.warning("The lane waits", ["lane": .string(lane), "event": text])
    case .ended(.drained):
      log.info("The lane ended", ["lane": .string(lane), "event": text])
    case .ended:
      log.error("The lane ended", ["lane": .string(lane), "event": text])
    }
  }
}
