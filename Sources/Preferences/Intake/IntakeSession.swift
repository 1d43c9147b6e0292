import Kafka
import Pipeline
import Telemetry

/// One consumer's life: finds the partitions, goes on where the store says, and reads.
final class IntakeSession {
  private let service: PreferenceService
  private let decoder: IntakeDecoder
  private let counters: IntakeCounters
  private let log: Logger
  private let reader: PartitionReader
  private let batch = RecordBatch(recordsMax: 4096)
  private let clock = SystemClock()
  private var positions: [IntakePartition: Int64] = [:]
  /// Those whose end was seen since the last record.
  private var atEnd: Set<IntakePartition> = []
  private var lookAtMs: Int64 = 0
  private var savedAtMs: Int64 = 0
  /// Partitions read on without an effect since the store was last told.
  private var unsaved: Set<IntakePartition> = []

  private static let requestTimeoutMs: Int32 = 5000
  private static let pollMs: Int32 = 200
  /// New partitions are found by looking.
  private static let lookIntervalMs: Int64 = 30_000
  /// Records without an effect, such as acceptances, are not worth a commit each.
  private static let saveIntervalMs: Int64 = 5_000
  /// Applied in one transaction; every other write waits for it.
  private static let effectsMax = 128

  init(
    _ service: PreferenceService, _ decoder: IntakeDecoder, _ counters: IntakeCounters,
    _ properties: KafkaProperties, log: Logger, onEvent: @escaping KafkaEventHandler
  ) throws(ConfigurationError) {
    self.service = service
    self.decoder = decoder
    self.counters = counters
    self.log = log
    do throws(ConfigurationError) {
      reader = try PartitionReader(
        topic: decoder.eventTopic, properties: properties, onEvent: onEvent)
    } catch {
      batch.close()
      throw error
    }
  }

  func close() {
    batch.close()
    reader.close()
  }

  /// Until it is time to end, or reading has to begin anew.
  func run(isStopping: () -> Bool, pause: () -> Void) {
    while !isStopping() {
      if clock.monotonicMs() >= lookAtMs {
        // Two that read do no harm, as offsets go with the effects; they do everything twice.
        guard keepsTurn() else { return }
        guard findPartitions() else {
          reader.serveEvents()
          pause()
          continue
        }
      }
      reader.poll(batch, timeoutMs: Self.pollMs)
      let read = take()
      batch.release()
      guard apply(read, isStopping, pause) else { return }
      counters.isCaughtUp.set(!positions.isEmpty && atEnd.count == positions.count)
    }
    saveUnsaved()
  }

  /// False where the broker does not answer, or a topic is not there yet.
  private func findPartitions() -> Bool {
    var found: [IntakePartition: Int64] = [:]
    do throws(KafkaError) {
      for topic in decoder.topics {
        guard
          let count = try reader.partitionCount(of: topic, timeoutMs: Self.requestTimeoutMs)
        else {
          log.warning("A topic that is read does not exist.", ["kafka.topic": .string(topic)])
          return false
        }
        guard let known = known(topic) else { return false }
        for number in 0..<count {
          let partition = IntakePartition(topic: topic, number: number)
          // Below 0: from the first record there is.
          found[partition] = positions[partition] ?? known[number] ?? -1
        }
      }
      lookAtMs = clock.monotonicMs() + Self.lookIntervalMs
      if Set(found.keys) != Set(positions.keys) { try assign(found) }
      return true
    } catch {
      log.warning("The topics that are read cannot be looked up.", ["error": "\(error)"])
      return false
    }
  }

  /// True also where that cannot be told now: then nothing can be kept either.
  private func keepsTurn() -> Bool {
    do throws(StoreError) {
      return try service.keepsTurn(.intake, log: log)
    } catch {
      return error != .closed
    }
  }

  private func known(_ topic: String) -> [Int32: Int64]? {
    do throws(StoreError) {
      return try service.intakeOffsets(topic)
    } catch {
      log.error("Where to go on reading cannot be read.", ["error": "\(error)"])
      return nil
    }
  }

  private func assign(_ new: [IntakePartition: Int64]) throws(KafkaError) {
    try reader.assign(
      decoder.topics.map { topic in
        TopicPositions(
          topic: topic,
          positions: new.filter { $0.key.topic == topic }.map {
            PartitionPosition(partition: $0.key.number, offset: $0.value)
          })
      })
    positions = new
    atEnd = []
  }
}

/// From a batch to the store.
extension IntakeSession {
  /// What is applied in one transaction.
  private struct Step {
    var records: [IntakeRecord] = []
    var ends: [IntakePartition: Int64] = [:]
  }

  private func take() -> (steps: [Step], lost: [IntakePartition]) {
    var steps = [Step()]
    var lost: [IntakePartition] = []
    for index in 0..<batch.count {
      let record = batch[index]
      let partition = IntakePartition(
        topic: record.isOf(decoder.eventTopic) ? decoder.eventTopic : decoder.receiptTopic,
        number: record.partition)
      if record.isRecord {
        atEnd.remove(partition)
        positions[partition] = record.offset + 1
        steps[steps.count - 1].ends[partition] = record.offset + 1
        if let effect = decoder.decode(
          partition, offset: record.offset, key: record.key, value: record.value)
        {
          steps[steps.count - 1].records.append(effect)
          if steps[steps.count - 1].records.count == Self.effectsMax { steps.append(Step()) }
        }
      } else if record.isEndOfPartition {
        atEnd.insert(partition)
        positions[partition] = record.offset
      } else if record.isOutOfRange {
        lost.append(partition)
      } else {
        log.warning("A topic cannot be read.", ["error": "\(record.error)"])
      }
    }
    return (steps, lost)
  }

  /// False: begin anew from what the store knows.
  private func apply(
    _ read: (steps: [Step], lost: [IntakePartition]), _ isStopping: () -> Bool, _ pause: () -> Void
  ) -> Bool {
    for step in read.steps where !step.ends.isEmpty {
      if step.records.isEmpty {
        unsaved.formUnion(step.ends.keys)
        continue
      }
      guard apply(step, isStopping, pause) else { return false }
      unsaved.subtract(step.ends.keys)
    }
    if clock.monotonicMs() >= savedAtMs + Self.saveIntervalMs { saveUnsaved() }
    return read.lost.isEmpty || restart(read.lost)
  }

  private func apply(_ step: Step, _ isStopping: () -> Bool, _ pause: () -> Void) -> Bool {
    while true {
      do throws(StoreError) {
        try service.take(step.records, ends: Self.ends(step.ends))
        return true
      } catch {
        if error == .closed { return false }
        if case .sql(let sql) = error, !sql.concernsEverything {
          if applyOneByOne(step) { return true }
        } else {
          log.error("Events cannot be kept; they are tried again.", ["error": "\(error)"])
        }
        // Reading on would leave a hole that nobody remembers.
        if isStopping() { return false }
        pause()
      }
    }
  }

  /// One record that the store can never take must not hold up all that follow. False where something
  /// else is the matter.
  private func applyOneByOne(_ step: Step) -> Bool {
    do throws(StoreError) {
      for record in step.records {
        let end = IntakeEnd(partition: record.partition, nextOffset: record.offset + 1)
        do throws(StoreError) {
          try service.take([record], ends: [end])
        } catch {
          guard case .sql(let sql) = error, !sql.concernsEverything else { throw error }
          counters.skipped.add()
          log.error(
            "An event was refused by the store and is passed by; this is a defect.",
            [
              "kafka.topic": .string(record.partition.topic),
              "kafka.partition": .integer(record.partition.number),
              "kafka.offset": .integer(record.offset), "error": "\(error)",
            ])
          try service.take([], ends: [end])
        }
      }
      try service.take([], ends: Self.ends(step.ends))
      return true
    } catch {
      log.error("Events cannot be kept; they are tried again.", ["error": "\(error)"])
      return false
    }
  }

  private static func ends(_ ends: [IntakePartition: Int64]) -> [IntakeEnd] {
    ends.map { IntakeEnd(partition: $0.key, nextOffset: $0.value) }
  }

  private func saveUnsaved() {
    savedAtMs = clock.monotonicMs()
    guard !unsaved.isEmpty else { return }
    do throws(StoreError) {
      try service.take(
        [],
        ends: unsaved.map { IntakeEnd(partition: $0, nextOffset: positions[$0] ?? 0) })
      unsaved = []
    } catch {
      // They are read again, and have no effect again.
      log.warning("Where reading has come to cannot be kept.", ["error": "\(error)"])
    }
  }

  /// Retention took records before they were read, or the topic was made anew. What is gone is gone,
  /// and what is there must be read; that it happened is for somebody to look at.
  private func restart(_ lost: [IntakePartition]) -> Bool {
    var new = positions
    for partition in lost {
      counters.gaps.add()
      let wanted = positions[partition] ?? 0
      log.error(
        "Records were gone before they were read; reading goes on with the first that is there.",
        [
          "kafka.topic": .string(partition.topic), "kafka.partition": .integer(partition.number),
          "kafka.offset": .integer(wanted),
        ])
      new[partition] = -1
    }
    do {
      for partition in lost { try service.resetIntake(partition.topic, partition.number, to: 0) }
      try assign(new)
      return true
    } catch {
      log.error("Reading cannot begin anew.", ["error": "\(error)"])
      return false
    }
  }
}
