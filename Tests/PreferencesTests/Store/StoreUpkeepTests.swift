import Gate
import Telemetry
import Testing

@testable import Preferences

@Suite struct StoreUpkeepTests {
  @Test(arguments: Backend.allCases)
  func oldIdsGoByThemselves(on backend: Backend) throws {
    let world = try StoreWorld(backend)
    let event = world.choice("e-1", Identifier("u-1"), .marketing, .userOn)
    _ = try world.service.apply(event)
    world.nowMs += 31 * 86_400_000
    let upkeep = StoreUpkeep(world.service, intervalMs: 1, log: quietLog)
    while upkeep.rounds.value < 2 { world.service.store.pause(ms: 1) { false } }
    upkeep.stop()
    #expect(try !world.service.apply(event).isRepeat)
  }
}
