import Kafka
import Pipeline
import Preferences
import Telemetry

/// The index: one thread reads what the gate and dispatchers wrote, one writes it down, one takes away
/// what is old. Owned by `sendgate serve`; everybody else has an `EvidenceReader`.
public final class EvidenceIndex: @unchecked Sendable {
  // Unchecked because of the threads' handles, which only the owner that starts and closes touches.
  let store: EvidenceStore
  let settings: EvidenceSettings
  let nowMs: @Sendable () -> Int64
  /// Answers from it; closed with it.
  public let reader: EvidenceReader
  public let counters = IndexCounters()
  private var thread: IndexThread?
  private var upkeep: IndexUpkeep?

  /// Opens the database, makes it where there is none, and brings its schema up to date. Nothing is
  /// read from Kafka before `start`.
  public init(
    _ database: EvidenceDatabase, settings: EvidenceSettings = EvidenceSettings(),
    nowMs: @escaping @Sendable () -> Int64 = SystemTime.wallClockMs
  ) throws(StoreError) {
    store = try EvidenceStore(database, readersCount: settings.readersCount)
    self.settings = settings
    self.nowMs = nowMs
    reader = EvidenceReader(store.readers, counters)
  }

  /// Begins to read. Where another process indexes into the same database, stands by until that one
  /// ends.
  public func start(
    properties: KafkaProperties, topics: TopicNames, log: Logger,
    onEvent: @escaping KafkaEventHandler
  ) throws(ConfigurationError) {
    thread = try IndexThread(
      self, properties: properties, topics: EvidenceTopic.all(topics), log: log, onEvent: onEvent)
    upkeep = IndexUpkeep(self, log: log)
  }

  /// Keeps a run of the self-test; returns when that is written.
  public func add(_ run: SelfTestRun) throws(StoreError) {
    try store.writer.perform { connection throws(SQLError) in
      try SelfTestTable(connection: connection).add(run)
    }
  }

  /// Ends reading behind the batch that is being written; questions are still answered.
  public func stop() {
    upkeep?.stop()
    thread?.stop()
    upkeep = nil
    thread = nil
  }

  /// Nothing may be called afterwards. What was started is stopped before.
  public func close() {
    stop()
    store.close()
  }
}

/// What is done now and then.
extension EvidenceIndex {
  /// Takes away what is older than it is kept, a slice a commit. Returns how many records went.
  func takeOld(isStopping: () -> Bool = { false }) throws(StoreError) {
    let now = nowMs()
    let beforeMs = now - settings.retentionMs
    let slice = settings.retentionSlice
    let sources = try store.readers.read { connection throws(SQLError) in
      try Retention(connection: connection).sources()
    }
    for source in sources {
      for table in Retention.Table.allCases {
        var offset: Int64? = -1
        while let behind = offset, !isStopping() {
          let step = try store.writer.perform { connection throws(SQLError) in
            try Retention(connection: connection).take(
              table, of: source, behind: behind, beforeMs: beforeMs, limit: slice)
          }
          counters.expired.add(UInt64(step?.taken ?? 0))
          offset = step?.last
        }
      }
    }
    let countsBeforeMs = now - settings.countsKeptMs
    let erasedBeforeMs = now - settings.erasuresKeptMs
    let erased = store.erased
    try store.writer.perform { connection throws(SQLError) in
      try Retention(connection: connection).takeRest(
        beforeMs: beforeMs, countsBeforeMs: countsBeforeMs)
      try erased.forget(recordedBeforeMs: erasedBeforeMs, connection)
    }
  }

  /// Makes what was erased go from the database's log too; false where a reader was in the way.
  func purgeErased() throws(StoreError) -> Bool {
    try store.writer.perform(isAlone: true) { connection throws(SQLError) in
      try connection.purgeErased()
    }
  }

  /// Whether it is this process that reads, from now on until the index is closed.
  func takeTurn() throws(StoreError) -> Bool {
    try store.writer.perform(isAlone: true) { connection throws(SQLError) in
      try connection.tryLock("index")
    }
  }

  func endTurn() throws(StoreError) {
    try store.writer.perform(isAlone: true) { connection throws(SQLError) in
      try connection.unlock("index")
    }
  }
}
