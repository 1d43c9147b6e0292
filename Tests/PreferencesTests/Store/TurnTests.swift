import Gate
import Synchronization
import Telemetry
import Testing

@testable import Preferences

@Suite struct TurnTests {
  private final class Lines: Sendable {
    private let all = Mutex<[String]>([])
    var texts: [String] { all.withLock { $0 } }
    var log: Logger {
      Logger(
        format: .json,
        sink: { bytes in
          let text = String(decoding: bytes, as: UTF8.self)
          self.all.withLock { $0.append(text) }
        })
    }
  }

  @Test(arguments: Backend.allCases)
  func whoStandsBySaysSoOnceAndHasItsTurn(on backend: Backend) throws {
    let world = try StoreWorld(backend)
    let other = try world.open()
    defer { other.close() }
    let lines = Lines()
    #expect(try world.service.takeTurn(.intake))
    var looks = 0
    let hadIt = other.waitForTurn(.intake, log: lines.log, retryMs: 1) {
      looks += 1
      return looks > 10
    }
    #expect(!hadIt)
    #expect(lines.texts.count == 1)
    #expect(lines.texts.first?.contains("stands by") == true)
    world.service.endTurn(.intake, log: lines.log)
    #expect(other.waitForTurn(.intake, log: lines.log, retryMs: 1) { false })
    #expect(lines.texts.count == 1)
  }

  @Test(arguments: Backend.allCases)
  func whoWaitsEndsWithTheService(on backend: Backend) throws {
    let world = try StoreWorld(backend)
    let closed = try world.open()
    closed.close()
    let lines = Lines()
    var looks = 0
    let hadIt = closed.waitForTurn(.outbox, log: lines.log, retryMs: 1) {
      looks += 1
      return looks > 10
    }
    #expect(!hadIt && looks == 1)
    closed.endTurn(.outbox, log: lines.log)
    #expect(lines.texts.isEmpty)
  }

  /// Whoever published without knowing that the turn was lost puts what it speaks of at the end again:
  /// its own records may have come behind newer ones.
  @Test(arguments: Backend.allCases)
  func whatWasPublishedWithoutTheTurnIsPublishedAgain(on backend: Backend) throws {
    let world = try StoreWorld(backend)
    let (user, gone) = (Identifier("u-1"), Identifier("u-2"))
    let value = CategoryDefault(isOn: false, isOnWhereRegulated: false)
    _ = try world.service.apply(world.choice("e-1", user, .marketing, .userOn))
    _ = try world.service.apply(world.choice("e-2", gone, .marketing, .userOn))
    _ = try world.service.apply(
      DefaultEvent(
        eventID: Identifier("d-1"), atMs: world.nowMs, category: .social, value: value))
    let published = try world.outbox()
    _ = try world.service.apply(world.choice("e-3", user, .social, .userOff))
    _ = try world.service.apply(world.erased("e-4", gone, at: world.nowMs))
    let before = try world.outbox()

    #expect(try !world.service.settleOutbox(published))
    let again = try world.outbox().dropFirst(before.count)
    let newest = try #require(try world.service.user(user))
    #expect(again.map(\.topic) == [.state, .state, .defaults])
    #expect(again.map(\.key) == ["u-1", "u-2", "social"])
    #expect(
      again.map(\.value) == [
        PreferenceDocument.text(newest), nil, DefaultDocument.text(.social, value),
      ])

    #expect(try world.service.takeTurn(.outbox))
    #expect(try world.service.settleOutbox(try world.outbox()))
    #expect(try world.outbox().isEmpty)
  }
}
