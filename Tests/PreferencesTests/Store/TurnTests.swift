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

  @Test func whoStandsBySaysSoOnceAndHasItsTurn() throws {
    let world = try StoreWorld()
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

  @Test func whoWaitsEndsWithTheService() throws {
    let world = try StoreWorld()
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
}
