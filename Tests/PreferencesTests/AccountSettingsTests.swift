import Gate
import Testing

@testable import Preferences

/// The toggles of an account say what the gate does to its devices.
@Suite struct AccountSettingsTests {
  private static let permissions: [OSPermission] = [.granted, .denied]

  @Test func twoDevicesInEveryState() {
    for category in Category.allCases {
      for account in Choice.allCases {
        for first in Choice.allCases {
          for second in Choice.allCases {
            for permissions in Self.permissions.flatMap({ a in Self.permissions.map { (a, $0) } }) {
              check(category, account, (first, second), permissions)
            }
          }
        }
      }
    }
  }

  private func check(
    _ category: Category, _ account: Choice, _ choices: (Choice, Choice),
    _ permissions: (OSPermission, OSPermission)
  ) {
    var world = World()
    let gate = GateSide()
    world.apply(
      .deviceSeen("d-1", sync(permissions.0, .android), .active), at: 0, source: nil)
    world.apply(
      .deviceSeen("d-2", sync(permissions.1, .ios, region: "DE"), .active), at: 0, source: nil)
    world.apply(.choiceSet(.account, category, account), at: 1, source: .adminOverride)
    world.apply(.choiceSet(.device("d-1"), category, choices.0), at: 1, source: .adminOverride)
    world.apply(.choiceSet(.device("d-2"), category, choices.1), at: 1, source: .adminOverride)
    gate.publish("u-1", world.document())
    let words: Testing.Comment = "\(category) \(account) \(choices) \(permissions)"

    let toggle = settings(world)[category]
    #expect((toggle.state == .on) == gate.decide(category).contains("ok"), words)
    let isBlocked = permissions.0 == .denied && permissions.1 == .denied
    #expect((toggle.state == .blockedAtOSLevel) == isBlocked, words)
    var blockedOn: [Platform] = []
    if permissions.1 == .denied { blockedOn.append(.ios) }
    if permissions.0 == .denied { blockedOn.append(.android) }
    #expect(toggle.blockedOn == blockedOn, words)
  }

  /// Without a device: as one of an unknown region would have it.
  @Test func noDevice() {
    for category in Category.allCases {
      for account in Choice.allCases {
        var world = World()
        world.apply(.choiceSet(.account, category, account), at: 1, source: .adminOverride)
        let alone = settings(world)
        #expect(!alone.hasDevices)
        let gate = GateSide()
        world.apply(.deviceSeen("d-1", sync(region: nil), .active), at: 2, source: nil)
        gate.publish("u-1", world.document())
        #expect((alone[category].state == .on) == gate.decide(category).contains("ok"))
        #expect(settings(world).hasDevices)
        world.apply(.deviceRemoved("d-1"), at: 3, source: nil)
        #expect(settings(world) == alone, "a device that is gone has no say")
      }
    }
  }

  private func settings(_ world: World) -> AccountSettings {
    testMachine.accountSettings(
      world.users["u-1"]!, defaults: world.defaults, links: SettingsTests.links, nowMs: testNow)
  }
}
