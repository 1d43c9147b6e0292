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
    return try OutboxPublisher(
      service ?? world.service, properties: properties, topics: TopicNames(),
      log: quietLog, onEvent: { _ in })
  }

  /// Waits until nothing is left to publish.
  private func drain(_ service: PreferenceService) throws {
    try world.wait(for: "the outbox is empty") { try service.outboxBacklog().rows == 0 }
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

  /// Per key in the order of the outbox, and nothing else.
  private func expectPublished(_ rows: [OutboxTable.Row], mayRepeat: Bool = false) throws {
    for topic in OutboxTopic.allCases {
      let found = try broker.read(topic.role)
      let wanted = rows.filter { $0.topic == topic }
      if !mayRepeat { #expect(found.count == wanted.count, "\(topic)") }
      for key in Set(wanted.map(\.key)) {
        var values = found.filter { $0.key == key }.map(\.value)
        if mayRepeat {
          var firsts: [String?] = []
          for value in values where !firsts.contains(value) { firsts.append(value) }
          values = firsts
        }
        #expect(values == wanted.filter { $0.key == key }.map(\.value), "\(topic) \(key)")
      }
    }
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
    #expect(publisher.counters.published.value == UInt64(rows.count))
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
    #expect(try world.service.outboxBacklog().rows > 0)
    try broker.start()
    try applyEvents(50, from: 150)
    try drain(world.service)
    publisher.stop()
    for number in 0..<7 {
      let user = try #require(try world.service.user(Identifier("u-\(number)")))
      let documents = try broker.read(.preferences).filter { $0.key == user.userID.text }
      #expect(documents.last?.value == PreferenceDocument.text(user))
      var seen: [String?] = []
      for document in documents where !seen.contains(document.value) { seen.append(document.value) }
      #expect(seen.count == Int(user.version))
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
  func aMissingTopicIsWaitedFor(on backend: Backend) throws {
    world = try StoreWorld(backend)
    try broker.create([.preferences])
    try applyEvents(3)
    let rows = try world.outbox()
    let publisher = try publisher()
    try world.wait(for: "a record is refused") { publisher.counters.failed.value > 0 }
    #expect(try world.outbox() == rows)
    try broker.create([.audit, .defaults, .receipts])
    try drain(world.service)
    publisher.stop()
    try expectPublished(rows, mayRepeat: true)
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
    #expect(second.counters.published.value == 0)
    // The turn goes with the publisher, though its process lives on.
    first.stop()
    _ = try other.apply(world.choice("last", Identifier("u-1"), .social, .userOff))
    try drain(other)
    second.stop()
    #expect(second.counters.published.value == 2)
    other.close()
  }
}
