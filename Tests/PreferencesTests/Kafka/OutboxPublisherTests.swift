import Gate
import Kafka
import Telemetry
import Testing

@testable import Preferences

@Suite final class OutboxPublisherTests {
  private var world: StoreWorld!
  let broker: TestBroker

  init() throws {
    broker = try TestBroker()
  }

  private func publisher(_ service: PreferenceService? = nil) throws -> OutboxPublisher {
    var properties = broker.properties
    // How long a topic may be missing before its records fail.
    properties["topic.metadata.propagation.max.ms"] = "200"
    // The sizes of records are as large as they look.
    properties["compression.type"] = "none"
    return try OutboxPublisher(
      service ?? world.service, properties: properties, topics: TopicNames(),
      settings: OutboxSettings(retryMs: 50), log: quietLog, onEvent: { _ in })
  }

  private func pseudonym(_ user: Identifier) throws -> String {
    let stored = try world.service.store.readers.read { connection throws(SQLError) in
      try UserReader(connection: connection).user(user)
    }
    return Pseudonym(secret: stored!.secret).text(user)
  }

  /// Waits until nothing is left to publish.
  private func drain(_ service: PreferenceService) throws {
    try world.wait(for: "the outbox is empty") { try world.waiting(service) == 0 }
  }

  private func applyEvents(_ count: Int, from first: Int = 0) throws {
    for number in first..<first + count {
      let user = Identifier("u-\(number % 7)")
      let state: Choice = number / 7 % 2 == 0 ? .userOn : .userOff
      _ = try world.service.apply(
        world.choice("e-\(number)", user, .marketing, state, at: StoreWorld.startMs + Int64(number))
      )
    }
  }

  /// Per key in the order of the outbox, and nothing else; of documents those that a newer one follows
  /// may be missing.
  private func expectPublished(_ rows: [OutboxTable.Row], mayRepeat: Bool = false) throws {
    for topic in OutboxTopic.allCases {
      let found = try broker.read(topic.role)
      let wanted = rows.filter { $0.topic == topic }
      if topic != .state && !mayRepeat { #expect(found.count == wanted.count, "\(topic)") }
      for key in Set(wanted.map(\.key)) {
        var values = found.filter { $0.key == key }.map(\.value)
        if mayRepeat {
          var firsts: [String?] = []
          for value in values where !firsts.contains(value) { firsts.append(value) }
          values = firsts
        }
        var all = wanted.filter { $0.key == key }.map(\.value)
        if topic == .state {
          #expect(values.last == all.last, "\(topic) \(key)")
          #expect(values.count { $0 == nil } == all.count { $0 == nil }, "\(topic) \(key)")
          all = all.filter(values.contains)
        }
        #expect(values == all, "\(topic) \(key)")
      }
    }
  }

  private func published(_ publisher: OutboxPublisher) -> UInt64 {
    publisher.statuses.values.reduce(0) { $0 + $1.published.value }
  }

  @Test(arguments: Backend.allCases)
  func everythingIsPublishedInOrderAndThenGone(on backend: Backend) throws {
    world = try StoreWorld(backend)
    try broker.create()
    try applyEvents(200)
    _ = try world.service.apply(
      DefaultEvent(
        eventID: Identifier("d"), atMs: world.nowMs, category: .social,
        value: CategoryDefault(isOn: false, isOnWhereRegulated: false)))
    _ = try world.service.apply(world.erased("x", Identifier("u-3"), at: world.nowMs + 1000))
    let rows = try world.outbox()
    #expect(Set(rows.map(\.topic)) == [.state, .audit, .defaults])
    let publisher = try publisher()
    try drain(world.service)
    publisher.stop()
    #expect(published(publisher) == UInt64(rows.count))
    try expectPublished(rows)
    #expect(try broker.read(.preferences).last { $0.key == "u-3" }?.value == nil)
    #expect(try broker.read(.defaults).map(\.key) == ["social"])
  }

  /// While it runs, with the broker away in the middle.
  @Test(arguments: Backend.allCases)
  func aBrokerThatGoesAwayLosesNothing(on backend: Backend) throws {
    world = try StoreWorld(backend)
    try broker.create()
    let publisher = try publisher()
    try applyEvents(50)
    try drain(world.service)
    broker.stop()
    try applyEvents(100, from: 50)
    #expect(try world.waiting() > 0)
    try broker.start()
    try applyEvents(50, from: 150)
    try drain(world.service)
    publisher.stop()
    for number in 0..<7 {
      let user = try #require(try world.service.user(Identifier("u-\(number)")))
      let documents = try broker.read(.preferences).filter { $0.key == user.userID.text }
      #expect(documents.last?.value == PreferenceDocument.text(user))
      let pseudonym = try pseudonym(user.userID)
      let rows = try broker.read(.audit).filter { $0.key == pseudonym }
      #expect(Set(rows.map(\.value)).count == Int(user.version))
    }
  }

  @Test(arguments: Backend.allCases)
  func whatWasNotPublishedWaitsForTheNextStart(on backend: Backend) throws {
    world = try StoreWorld(backend)
    try broker.create()
    try applyEvents(20)
    broker.stop()
    let first = try publisher()
    first.stop()
    let rows = try world.outbox()
    #expect(rows.count == 40)
    try broker.start()
    try world.reopen()
    let second = try publisher()
    try drain(world.service)
    second.stop()
    try expectPublished(rows)
  }

  @Test(arguments: Backend.allCases)
  func aMissingTopicIsWaitedForAndHoldsUpNoOther(on backend: Backend) throws {
    world = try StoreWorld(backend)
    try broker.create([.preferences])
    try applyEvents(3)
    let rows = try world.outbox()
    let publisher = try publisher()
    try world.wait(for: "a record is refused") {
      publisher.statuses[.audit]!.failed.value > 0
    }
    try world.wait(for: "the documents are published") {
      try world.service.outboxBacklog()[.state]!.rows == 0
    }
    #expect(try world.outbox() == rows.filter { $0.topic == .audit })
    try broker.create([.audit, .defaults, .receipts])
    try drain(world.service)
    publisher.stop()
    try expectPublished(rows, mayRepeat: true)
  }

  @Test(arguments: Backend.allCases)
  func aRefusedTopicHoldsUpNoOtherAndIsNamed(on backend: Backend) throws {
    world = try StoreWorld(backend)
    try broker.create()
    broker.stop()
    try broker.start(injecting: "Produce topic=preferences.audit error TOPIC_AUTHORIZATION_FAILED")
    try applyEvents(40)
    let publisher = try publisher()
    let audit = publisher.statuses[.audit]!
    try world.wait(for: "it was refused twice") { audit.failed.value > 1 }
    try applyEvents(40, from: 40)
    let rows = try world.outbox()
    #expect(rows.count { $0.topic == .audit } == 80)
    try world.wait(for: "the documents are published") {
      try world.service.outboxBacklog()[.state]!.rows == 0
    }
    let refusal = try #require(audit.refusal)
    #expect(refusal.contains("TOPIC_AUTHORIZATION_FAILED") && refusal.contains("grant"))
    #expect(publisher.statuses[.state]!.refusal == nil)
    for number in 0..<7 {
      let user = try #require(try world.service.user(Identifier("u-\(number)")))
      let newest = try broker.read(.preferences).last { $0.key == user.userID.text }
      #expect(newest?.value == PreferenceDocument.text(user))
    }
    #expect(try broker.read(.audit) == [])
    broker.stop()
    try broker.start()
    try drain(world.service)
    try world.wait(for: "it is told no more") { audit.refusal == nil }
    publisher.stop()
    try expectPublished(rows.filter { $0.topic == .audit }, mayRepeat: true)
  }

  /// As where the document of somebody with many devices is larger than the topic takes.
  @Test(arguments: Backend.allCases)
  func aRefusedRecordHoldsUpNobodyElse(on backend: Backend) throws {
    world = try StoreWorld(backend)
    try broker.create([.audit, .defaults, .receipts])
    try broker.create([.preferences], settings: [("max.message.bytes", "1500")])
    let large = Identifier("large")
    for device in 0..<30 {
      _ = try world.service.apply(world.seen("s-\(device)", large, "d-\(device)"))
    }
    try applyEvents(60)
    let publisher = try publisher()
    let status = publisher.statuses[.state]!
    try world.wait(for: "all others are published") {
      try Set(world.outbox().map(\.key)) == ["large"] && status.refusal != nil
    }
    let refusal = try #require(status.refusal)
    #expect(refusal.contains("MSG_SIZE_TOO_LARGE") && refusal.contains("records of 1 keys"))
    // While it waits, others are published as they come.
    try applyEvents(20, from: 60)
    try world.wait(for: "the others are published again") {
      try Set(world.outbox().map(\.key)) == ["large"]
    }
    // A smaller one takes its place.
    for device in 0..<30 {
      _ = try world.service.apply(
        PreferenceEvent(
          eventID: Identifier("r-\(device)"), userID: large, atMs: StoreWorld.startMs + 1,
          body: .deviceRemoved(Identifier("d-\(device)"))))
    }
    try drain(world.service)
    try world.wait(for: "it is told no more") { status.refusal == nil }
    publisher.stop()
    let user = try #require(try world.service.user(large))
    let documents = try broker.read(.preferences).filter { $0.key == "large" }
    #expect(documents.last?.value == PreferenceDocument.text(user))
  }

  /// What the gate measures from is when the first of the changes was made that it does not know.
  @Test(arguments: Backend.allCases)
  func aDocumentIsDatedAsTheFirstChangeInIt(on backend: Backend) throws {
    world = try StoreWorld(backend)
    try broker.create()
    let firstMs = world.nowMs
    for number in 0..<3 {
      _ = try world.service.apply(
        world.choice("e-\(number)", Identifier("u-1"), Category.allCases[number], .userOff))
      world.nowMs += 1000
    }
    let publisher = try publisher()
    try drain(world.service)
    world.nowMs += 1000
    _ = try world.service.apply(
      world.choice("e", Identifier("u-1"), .social, .userOn, at: world.nowMs))
    try drain(world.service)
    publisher.stop()
    #expect(
      try broker.read(.preferences).map(\.timestampMs) == [firstMs, firstMs + 4000])
  }

  /// Two processes on one database must not publish side by side: their records would cross.
  @Test(arguments: Backend.allCases)
  func aSecondPublisherStandsBy(on backend: Backend) throws {
    world = try StoreWorld(backend)
    try broker.create()
    let other = try world.open()
    let first = try publisher()
    try applyEvents(5)
    try drain(world.service)
    let second = try publisher(other)
    try applyEvents(5, from: 5)
    try drain(world.service)
    #expect(published(second) == 0)
    // The turn goes with the publisher, though its process lives on.
    first.stop()
    _ = try other.apply(world.choice("last", Identifier("u-1"), .social, .userOff))
    try drain(other)
    second.stop()
    #expect(published(second) == 2)
    other.close()
  }
}
