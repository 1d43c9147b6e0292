import Kafka
import Preferences
import Telemetry
import Testing

@testable import Evidence

/// The index on a broker.
@Suite struct IndexThreadTests {
  let world: EvidenceWorld
  let broker: TestBroker

  init() throws {
    world = try EvidenceWorld()
    broker = try TestBroker()
  }

  /// Indexes until it is so, and ends.
  private func index(until isSo: () throws -> Bool) throws {
    try world.index.start(
      properties: broker.properties, topics: TopicNames(),
      log: Logger(format: .json, levelMin: .error, sink: { _ in }), onEvent: { _ in })
    defer { world.index.stop() }
    try wait(for: "the index", isSo)
  }

  /// Indexes everything that is there.
  private func indexAll() throws {
    // Caught up may still be from before.
    try world.reopen()
    try index { world.index.counters.isCaughtUp.value }
  }

  private func drops(_ range: Range<Int>) -> [(key: String?, value: String?)] {
    range.map { ("u-1", decision("dropped", "expired", notification: "n-\($0)")) }
  }

  private func places(_ topic: String) throws -> [EvidencePlace] {
    try world.reader.timeline(user: "u-1", limit: 10_000).attempts.map(\.place)
      .filter { $0.topic == topic }
  }

  @Test func everythingIsIndexedOnceAcrossRestarts() throws {
    try broker.create()
    try broker.write(drops(0..<300), to: .dropped)
    try broker.write([("u-1", decision("approved", "ok"))], to: .approved)
    try broker.write([("u-1\0n-1\0d-1", deferral(dueMs: 1_790_000_000_000))], to: .deferred)
    try broker.write([("u-1", receipt(#""status":"accepted""#))], to: .receipts)
    try indexAll()
    #expect(try world.reader.timeline(user: "u-1", limit: 1000).attempts.count == 302)
    #expect(world.index.counters.unreadable.value == 0)
    #expect(
      try world.reader.notification("n-1")?.attempts.contains { !$0.receipts.isEmpty } == true)
    let before = try world.dump()
    try indexAll()
    #expect(try world.dump() == before)
    try broker.write(drops(300..<400), to: .dropped)
    try indexAll()
    let found = try places("notifications.dropped")
    #expect(found.count == 400 && Set(found.map { "\($0.partition)/\($0.offset)" }).count == 400)
    #expect(world.index.counters.dropped.value == 100)
  }

  @Test func theLagIsToldAndShrinksToNothing() throws {
    try broker.create()
    try broker.write(drops(0..<100), to: .dropped)
    try index { world.index.counters.freshAtMs != nil }
    #expect(world.index.counters.recordsBehind == 0)
    let lag = try world.reader.lag()
    #expect(lag.recordsBehind == 0 && lag.newestMs == EvidenceWorld.startMs)
    #expect(try #require(lag.freshAtMs) > EvidenceWorld.startMs)
  }

  /// While the database cannot be written, what was read is missing in it, and that is told.
  @Test func whileNothingCanBeWrittenTheLagIsTold() throws {
    try broker.create()
    try broker.write(drops(0..<10), to: .dropped)
    let counters = world.index.counters
    try index {
      guard counters.isCaughtUp.value, counters.recordsBehind == 0 else { return false }
      let before = try #require(counters.freshAtMs)
      let other = try EvidenceDatabase.sqlite(path: world.path).connect(.writer)
      defer { other.close() }
      try other.runScript("BEGIN IMMEDIATE")
      try broker.write(drops(10..<60), to: .dropped)
      try wait(for: "the lag", { counters.recordsBehind == 50 && !counters.isCaughtUp.value })
      #expect(try places("notifications.dropped").count == 10)
      let lag = try world.reader.lag()
      #expect(lag.recordsBehind == 50)
      #expect(try #require(lag.freshAtMs) >= before)
      try other.runScript("COMMIT")
      try wait(for: "the rest", { counters.isCaughtUp.value && counters.recordsBehind == 0 })
      return true
    }
    #expect(try places("notifications.dropped").count == 60)
    #expect(try world.reader.lag().recordsBehind == 0)
  }

  /// Without a broker nobody knows what is missing.
  @Test func nobodyIsCaughtUpWithABrokerThatDoesNotAnswer() throws {
    var server: TestBroker? = try TestBroker()
    try server!.create()
    try world.index.start(
      properties: server!.properties, topics: TopicNames(),
      log: Logger(format: .json, levelMin: .error, sink: { _ in }), onEvent: { _ in })
    defer { world.index.stop() }
    try wait(for: "the index", { world.index.counters.isCaughtUp.value })
    server = nil
    try wait(for: "the end of it", { !world.index.counters.isCaughtUp.value })
  }

  /// A reader that began anew knows no better than the one before it until it has come to the end; nor
  /// does one that reaches nobody, whose lag is to grow and not to be missing.
  @Test func howFarItWasOutlivesARestart() throws {
    try broker.create()
    try broker.write(drops(0..<10), to: .dropped)
    try index { world.index.counters.freshAtMs != nil }
    let before = try #require(try world.reader.lag().freshAtMs)
    let unknown = EvidenceLag(freshAtMs: nil, recordsBehind: 7, newestMs: nil)
    let batch = IndexBatch(progress: unknown)
    let erased = world.index.store.erased
    try world.index.store.writer.perform { connection throws(SQLError) in
      try BatchWriter(connection: connection).write(batch, erased: erased, nowMs: 0)
    }
    try world.reopen()
    let lag = try world.reader.lag()
    #expect(lag.freshAtMs == before && lag.recordsBehind == 7)
    #expect(world.index.counters.freshAtMs == nil)
    var nowhere = KafkaProperties()
    try nowhere.require("bootstrap.servers", "127.0.0.1:1", because: "nobody is there")
    try world.index.start(
      properties: nowhere, topics: TopicNames(),
      log: Logger(format: .json, levelMin: .error, sink: { _ in }), onEvent: { _ in })
    defer { world.index.stop() }
    try wait(for: "what is known from before", { world.index.counters.freshAtMs == before })
  }

  @Test func aTopicThatIsNotThereIsWaitedForAndHoldsUpNone() throws {
    try broker.create([.approved, .deferred, .dropped, .preferences])
    try broker.write(drops(0..<10), to: .dropped)
    try index {
      if world.index.counters.dropped.value == 10, world.index.counters.receipts.value == 0 {
        try? broker.create([.receipts])
        try? broker.write([("u-1", receipt(#""status":"accepted""#))], to: .receipts)
      }
      return world.index.counters.receipts.value > 0
    }
  }

  @Test func aNullValueOnThePreferenceTopicErases() throws {
    try broker.create()
    try broker.write(drops(0..<10), to: .dropped)
    try indexAll()
    try broker.write([("u-1", "{}"), ("u-1", nil)], to: .preferences)
    try indexAll()
    #expect(try world.reader.timeline(user: "u-1", limit: 10).attempts.isEmpty)
    #expect(world.index.counters.erasures.value == 1)
  }

  /// Where another record stands than the one that was read last, the topic is another one.
  @Test(arguments: [
    "UPDATE sources SET last_digest = last_digest + 1", IndexThreadTests.behindTheEnd,
  ])
  func aTopicMadeAnewIsReadFromItsFirstRecord(change: String) throws {
    try broker.create()
    try broker.write(drops(0..<30), to: .dropped)
    try indexAll()
    let before = try places("notifications.dropped").count
    #expect(before == 30)
    try world.index.store.writer.perform(isAlone: true) { connection throws(SQLError) in
      try connection.runScript(change + " WHERE topic = 'notifications.dropped'")
    }
    try indexAll()
    let partitions = Set(try places("notifications.dropped").map(\.partition)).count
    #expect(world.index.counters.madeAnew.value >= UInt64(partitions))
    #expect(try places("notifications.dropped").count == 60)
    #expect(world.index.counters.gaps.value == 0)
    // And is known from then on.
    try indexAll()
    #expect(world.index.counters.madeAnew.value == 0)
    #expect(try places("notifications.dropped").count == 60)
  }

  static let behindTheEnd =
    "UPDATE sources SET next_offset = 1000, last_offset = NULL, last_digest = NULL"

  @Test func anotherIndexOnTheSameDatabaseStandsBy() throws {
    try broker.create()
    try broker.write(drops(0..<10), to: .dropped)
    let other = try EvidenceIndex(.sqlite(path: world.path))
    defer { other.close() }
    func start(_ index: EvidenceIndex) throws {
      try index.start(
        properties: broker.properties, topics: TopicNames(),
        log: Logger(format: .json, levelMin: .error, sink: { _ in }), onEvent: { _ in })
    }
    try start(other)
    try wait(for: "the first", { other.counters.isCaughtUp.value })
    try start(world.index)
    try broker.write(drops(10..<20), to: .dropped)
    try wait(for: "the first", { other.counters.dropped.value == 20 })
    #expect(world.index.counters.dropped.value == 0)
    other.stop()
    try broker.write(drops(20..<30), to: .dropped)
    try wait(for: "the second", { world.index.counters.dropped.value == 10 })
    world.index.stop()
    #expect(try places("notifications.dropped").count == 30)
  }
}
