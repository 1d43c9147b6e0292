import Kafka
import Pipeline
import Preferences
import Telemetry

/// One consumer's life: finds the partitions, goes on where the database says, reads, and hands over
/// what is to be written.
final class IndexSession {
  let store: EvidenceStore
  let counters: IndexCounters
  let log: Logger
  let topics: [EvidenceTopic]
  let settings: EvidenceSettings
  let reader: PartitionReader
  /// Asks for partitions and where they end. On the reader's own connection an answer waits behind a
  /// fetch that has nothing to give.
  private let watcher: PartitionReader
  private let records = RecordBatch(recordsMax: 4096)
  private let clock = SystemClock()
  var intake: IndexIntake
  /// Since when the oldest change waits to be written, monotonic; nil: none does.
  private var waitingSinceMs: Int64?
  private var savedAtMs: Int64 = 0
  private var lookAtMs: Int64 = 0
  private var askAtMs: Int64 = 0
  /// Whether the broker answered when last asked; while it does not, nobody knows what is missing.
  private var isAnswered = false

  static let requestTimeoutMs: Int32 = 5000
  private static let pollMs: Int32 = 200
  /// New partitions are found by looking; a topic that is not there is looked for more often.
  private static let lookIntervalMs: Int64 = 30_000
  private static let lookForMissingMs: Int64 = 5_000
  private static let askIntervalMs: Int64 = 2_000
  /// How far it is is written this often at most where there is nothing else to write: in the turn in
  /// which it was asked, so that whoever reads the database knows of the last few seconds.
  private static let saveIntervalMs: Int64 = 1_000

  init(
    _ store: EvidenceStore, _ counters: IndexCounters, topics: [EvidenceTopic],
    _ properties: KafkaProperties, _ settings: EvidenceSettings, log: Logger,
    onEvent: @escaping KafkaEventHandler
  ) throws(ConfigurationError) {
    self.store = store
    self.counters = counters
    self.log = log
    self.topics = topics
    self.settings = settings
    intake = IndexIntake(
      topics: topics, erased: store.erased, counters: counters, nowMs: clock.wallMs())
    do throws(ConfigurationError) {
      reader = try PartitionReader(
        topic: topics[0].name, properties: properties, onEvent: onEvent)
    } catch {
      records.close()
      throw error
    }
    do throws(ConfigurationError) {
      watcher = try PartitionReader(
        topic: topics[0].name, properties: properties, onEvent: onEvent)
    } catch {
      records.close()
      reader.close()
      throw error
    }
  }

  func close() {
    records.close()
    reader.close()
    watcher.close()
  }

  /// Until it is time to end, or reading has to begin anew from what the database knows.
  func run(isStopping: () -> Bool, pause: () -> Void) {
    while !isStopping() {
      let nowMs = clock.monotonicMs()
      if nowMs >= lookAtMs {
        guard findPartitions(nowMs: nowMs) else {
          counters.isCaughtUp.set(false)
          reader.serveEvents()
          watcher.serveEvents()
          pause()
          continue
        }
      }
      askForEnds(nowMs: nowMs)
      reader.poll(records, timeoutMs: pollMs())
      let events = intake.take(records, nowMs: clock.wallMs())
      records.release()
      if waitingSinceMs == nil, !intake.batch.changes.isEmpty {
        waitingSinceMs = clock.monotonicMs()
      }
      for error in events.errors {
        log.warning("A topic cannot be read.", ["error": "\(error)"])
      }
      if isDue(clock.monotonicMs()) || !events.lost.isEmpty {
        guard write(isStopping, pause) else { return }
      }
      counters.isCaughtUp.set(isAnswered && intake.isAtEnd && intake.batch.changes.isEmpty)
      if !events.lost.isEmpty {
        guard goOn(events.lost) else { return }
      }
      // What comes back under that name may be another topic: it is looked at as at a start.
      if events.errors.contains(where: \.isMissingTopic) {
        _ = write(isStopping, pause)
        return
      }
    }
    _ = write(isStopping, pause)
  }

  private func pollMs() -> Int32 {
    guard let since = waitingSinceMs else { return Self.pollMs }
    let left = since + settings.batchAgeMsMax - clock.monotonicMs()
    return Int32(clamping: max(0, min(left, Int64(Self.pollMs))))
  }

  private func isDue(_ nowMs: Int64) -> Bool {
    if intake.batch.changes.count >= settings.batchRecordsMax { return true }
    if let since = waitingSinceMs { return nowMs - since >= settings.batchAgeMsMax }
    return !intake.batch.isEmpty && nowMs - savedAtMs >= Self.saveIntervalMs
  }
}

/// Partitions.
extension IndexSession {
  /// False where the broker does not answer, or the database cannot say where to go on.
  private func findPartitions(nowMs: Int64) -> Bool {
    var isWhole = true
    var found = intake.partitions
    for (topic, one) in topics.enumerated() {
      do throws(KafkaError) {
        let count = try watcher.partitionCount(of: one.name, timeoutMs: Self.requestTimeoutMs)
        guard let count else {
          isWhole = false
          log.warning(
            "A topic that is indexed does not exist; the others are read.",
            ["kafka.topic": .string(one.name)])
          continue
        }
        // A topic that has fewer than before was made anew, which its partitions will tell.
        let known = Int32(found.count { $0.topic == topic })
        for number in known..<max(known, count) {
          guard let source = open(one, number) else { return false }
          found.append(IndexPartition(topic: topic, number: number, source: source))
        }
      } catch {
        log.warning("The topics that are indexed cannot be looked up.", ["error": "\(error)"])
        return false
      }
    }
    lookAtMs = nowMs + (isWhole ? Self.lookIntervalMs : Self.lookForMissingMs)
    guard found.count != intake.partitions.count else { return !found.isEmpty }
    intake.set(found)
    return assign()
  }

  private func open(_ topic: EvidenceTopic, _ number: Int32) -> IndexSource? {
    do throws(StoreError) {
      return try store.writer.perform { connection throws(SQLError) in
        try SourceTable(connection: connection).open(topic, number)
      }
    } catch {
      log.error("Where to go on indexing cannot be read.", ["error": "\(error)"])
      return nil
    }
  }

  private func assign() -> Bool {
    do throws(KafkaError) {
      try reader.assign(
        topics.indices.map { topic in
          TopicPositions(
            topic: topics[topic].name,
            positions: intake.partitions.filter { $0.topic == topic }.map {
              PartitionPosition(partition: $0.number, offset: $0.startOffset)
            })
        })
      askAtMs = 0
      return true
    } catch {
      log.warning("Reading cannot begin.", ["error": "\(error)"])
      return false
    }
  }

  /// Where the partitions end now, and with it how far this is behind.
  private func askForEnds(nowMs: Int64) {
    guard nowMs >= askAtMs, !intake.partitions.isEmpty else { return }
    askAtMs = nowMs + Self.askIntervalMs
    let askedAtMs = clock.wallMs()
    do throws(KafkaError) {
      let ends = try watcher.ends(
        of: topics.indices.map { topic in
          (
            topics[topic].name,
            intake.partitions.filter { $0.topic == topic }.map(\.number)
          )
        }, timeoutMs: Self.requestTimeoutMs)
      watcher.serveEvents()
      intake.asked(ends, atMs: askedAtMs)
      isAnswered = true
      counters.set(
        EvidenceLag(freshAtMs: nil, recordsBehind: intake.unwritten, newestMs: nil))
    } catch {
      isAnswered = false
      counters.isCaughtUp.set(false)
      log.warning("Where the indexed topics end is not known.", ["error": "\(error)"])
    }
  }

  /// Goes on in partitions whose place is not there any more. False where that cannot be found out.
  private func goOn(_ lost: [IndexIntake.Lost]) -> Bool {
    for one in lost {
      let partition = intake.partitions[one.index]
      let topic = topics[partition.topic]
      let fields: LogFields = [
        "kafka.topic": .string(topic.name), "kafka.partition": .integer(partition.number),
        "kafka.offset": .integer(partition.source.nextOffset),
      ]
      do throws(KafkaError) {
        var isNew = one.isOther
        if !isNew {
          let end = try watcher.ends(
            [partition.number], of: topic.name, timeoutMs: Self.requestTimeoutMs)[0].offset
          isNew = end < partition.source.nextOffset
        }
        if isNew {
          counters.madeAnew.add()
          log.error(
            "A topic was deleted and made anew; it is read from its first record.", fields)
          guard let source = renew(topic, partition.number) else { return false }
          intake.reset(one.index, to: source)
          continue
        }
        let start = try watcher.logStart(
          partition.number, of: topic.name, timeoutMs: Self.requestTimeoutMs)
        // What was read is gone, as it should be: only what stood between is missing.
        if start > max(0, partition.source.nextOffset) {
          counters.gaps.add()
          log.error(
            "Records were gone before they were indexed; the first that is there is next.",
            fields)
        }
        intake.move(one.index, to: max(start, partition.source.nextOffset))
      } catch {
        log.warning("Where a topic begins and ends is not known.", ["error": "\(error)"])
        return false
      }
    }
    return assign()
  }

  private func renew(_ topic: EvidenceTopic, _ number: Int32) -> IndexSource? {
    do throws(StoreError) {
      return try store.writer.perform { connection throws(SQLError) in
        try SourceTable(connection: connection).renew(topic, number)
      }
    } catch {
      log.error("That a topic is read anew cannot be kept.", ["error": "\(error)"])
      return nil
    }
  }
}

/// To the database.
extension IndexSession {
  /// False: begin anew from what the database knows.
  private func write(_ isStopping: () -> Bool, _ pause: () -> Void) -> Bool {
    let batch = intake.takeBatch()
    waitingSinceMs = nil
    savedAtMs = clock.monotonicMs()
    guard !batch.isEmpty else { return true }
    while true {
      do throws(StoreError) {
        try put(batch)
        wrote(batch)
        return true
      } catch {
        if error == .closed { return false }
        if case .sql(let sql) = error, !sql.concernsEverything {
          if putOneByOne(batch) {
            wrote(batch)
            return true
          }
        } else {
          log.error("Evidence cannot be kept; it is tried again.", ["error": "\(error)"])
        }
        // Reading on would leave a hole that nobody remembers.
        if isStopping() { return false }
        // How much is missing is known all the same, and told.
        counters.isCaughtUp.set(false)
        askForEnds(nowMs: clock.monotonicMs())
        pause()
      }
    }
  }

  private func wrote(_ batch: IndexBatch) {
    intake.wrote()
    if let progress = batch.progress { counters.set(progress) }
  }

  private func put(_ batch: IndexBatch) throws(StoreError) {
    let erased = store.erased
    let nowMs = clock.wallMs()
    try store.writer.perform { connection throws(SQLError) in
      try BatchWriter(connection: connection).write(batch, erased: erased, nowMs: nowMs)
    }
  }

  /// One record that the database can never take must not hold up all that follow. False where
  /// something else is the matter.
  private func putOneByOne(_ batch: IndexBatch) -> Bool {
    do throws(StoreError) {
      for change in batch.changes {
        var one = IndexBatch()
        one.changes = [change]
        do throws(StoreError) {
          try put(one)
        } catch {
          guard case .sql(let sql) = error, !sql.concernsEverything else { throw error }
          counters.skipped.add()
          log.error(
            "A record was refused by the evidence database and is passed by; this is a defect.",
            ["error": "\(error)"])
        }
      }
      var rest = batch
      rest.changes = []
      try put(rest)
      return true
    } catch {
      log.error("Evidence cannot be kept; it is tried again.", ["error": "\(error)"])
      return false
    }
  }
}
