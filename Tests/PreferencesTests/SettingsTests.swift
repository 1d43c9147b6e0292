import Gate
import Testing

@testable import Preferences

/// S2: four toggles that say what the gate does, and taps that do what they say.
@Suite struct SettingsTests {
  static let links = SettingsLinks(androidPackage: "com.example.app")!

  private func view(_ world: World, _ device: Identifier = "d-1") -> SettingsView {
    testMachine.settings(
      world.users["u-1"]!, device: device, defaults: world.defaults, links: Self.links,
      nowMs: testNow)!
  }

  /// Every account and device choice, default and region: on exactly where the gate approves.
  @Test func togglesSayWhatTheGateDoes() {
    for category in Category.allCases {
      for setDefault in [nil, true, false] where !(category == .security && setDefault == false) {
        for region in ["US", "DE", nil] as [Identifier?] {
          for account in Choice.allCases {
            for device in Choice.allCases {
              check(category, setDefault, region, account, device)
            }
          }
        }
      }
    }
  }

  private func check(
    _ category: Category, _ setDefault: Bool?, _ region: Identifier?, _ account: Choice,
    _ device: Choice
  ) {
    var world = World()
    let gate = GateSide()
    world.apply(.deviceSeen("d-1", sync(region: region), .active), at: 0, source: nil)
    world.apply(.choiceSet(.account, category, account), at: 1, source: .adminOverride)
    world.apply(.choiceSet(.device("d-1"), category, device), at: 1, source: .adminOverride)
    if let setDefault {
      let value = CategoryDefault(isOn: setDefault, isOnWhereRegulated: setDefault)
      let transition = testMachine.apply(
        DefaultEvent(eventID: "d", atMs: at(0), category: category, value: value),
        to: world.defaults, nowMs: testNow)
      world.defaults = transition.state!
      #expect(gate.publishDefault(category, transition.record!.text))
    }
    gate.publish("u-1", world.document())
    let words: Testing.Comment =
      "\(category) default \(setDefault as Bool?) \(region?.text ?? "-") \(account) \(device)"

    let toggle = view(world).toggles[Int(category.rawValue)]
    let isSent = gate.decide(category) == ["ok"]
    #expect((toggle.state == .on) == isSent, words)
    switch toggle.tap {
    case .set(let changes):
      for change in changes {
        world.apply(.choiceSet(change.scope, category, change.state), at: 2)
      }
      gate.publish("u-1", world.document())
      let after = view(world).toggles[Int(category.rawValue)]
      #expect(after.state == (isSent ? .off : .on), words)
      #expect((gate.decide(category) == ["ok"]) == !isSent, words)
    case .needsAdmin: #expect(category == .security && isSent, words)
    case .openOSSettings: Issue.record(words)
    }
  }

  /// The fourth product scenario: POST_NOTIFICATIONS denied.
  @Test func deniedBlocksAllFourAndLeadsToTheSystem() {
    for (platform, link) in [
      (
        Platform.android,
        "intent:#Intent;action=android.settings.APP_NOTIFICATION_SETTINGS;"
          + "S.android.provider.extra.APP_PACKAGE=com.example.app;end"
      ), (.ios, "app-settings:"),
    ] {
      var world = World()
      world.apply(.deviceSeen("d-1", sync(.denied, platform), .active), at: 0, source: nil)
      world.apply(.choiceSet(.account, .marketing, .userOff), at: 1)
      world.apply(.choiceSet(.account, .social, .userOn), at: 1)
      let view = view(world)
      #expect(view.toggles.map(\.category) == Category.allCases)
      #expect(
        view.toggles.map(\.state)
          == [SettingsView.ToggleState](repeating: .blockedAtOSLevel, count: 4))
      #expect(view.toggles.map(\.tap) == [SettingsView.Tap](repeating: .openOSSettings, count: 4))
      #expect(view.deepLink == link)
      // The choices are still there to see: five fields, never one.
      #expect(view.toggles[Int(Category.marketing.rawValue)].account == .userOff)
      #expect(view.text.components("\"state\":\"blocked_at_os_level\"") == 4)
      #expect(view.text.components("\"link\":\(JSONObject.quoted(link))") == 4)
    }
  }

  @Test func theTextOfAView() {
    var world = World()
    world.apply(.deviceSeen("d-1", sync(region: "DE"), .active), at: 0, source: nil)
    world.apply(
      .quietHoursSet(.account, .window(startMinute: 1320, endMinute: 480, days: 0x7F)), at: 1)
    world.apply(.suppressionSet(.account, .abuseHold), at: 1)
    let text = view(world).text
    #expect(
      text
        == #"{"device_id":"d-1","platform":"ios","os_permission":"granted","token_status":"active","#
        + #""quiet_hours":{"start":"22:00","end":"08:00"},"suppressions":["abuse_hold"],"#
        + #""deep_link":"app-settings:","toggles":["#
        + #"{"category":"transactional","state":"on","choice":{"account":"default","device":"default"},"lacks_consent":false,"tap":{"action":"set","choices":[{"scope":"device","state":"user-off"}]}},"#
        + #"{"category":"security","state":"on","choice":{"account":"default","device":"default"},"lacks_consent":false,"tap":{"action":"needs_admin"}},"#
        + #"{"category":"social","state":"on","choice":{"account":"default","device":"default"},"lacks_consent":false,"tap":{"action":"set","choices":[{"scope":"device","state":"user-off"}]}},"#
        + #"{"category":"marketing","state":"off","choice":{"account":"default","device":"default"},"lacks_consent":false,"tap":{"action":"set","choices":[{"scope":"device","state":"user-on"}]}}]}"#
    )
    world.apply(.quietHoursSet(.device("d-1"), .none), at: 2)
    #expect(view(world).quietHours == .none)
    world.apply(.quietHoursSet(.device("d-1"), .inherited), at: 3)
    #expect(view(world).quietHours != .none)
  }

  @Test func androidPackages() {
    for name in ["com.example.app", "a.b", "com.Example_1.x9"] {
      #expect(SettingsLinks(androidPackage: name) != nil, "\(name)")
    }
    for name in ["", "app", "com..app", "com.1app", "com.app;end", "com.app ", ".a.b", "a.b."] {
      #expect(SettingsLinks(androidPackage: name) == nil, "\(name)")
    }
  }

  @Test func noViewOfADeviceThatIsNotThere() {
    var world = World()
    world.apply(.choiceSet(.device("d-1"), .social, .userOff), at: 0)
    #expect(
      testMachine.settings(
        world.users["u-1"]!, device: "d-1", defaults: DefaultsState(), links: Self.links,
        nowMs: testNow) == nil)
  }
}

extension String {
  /// How often a text stands in it.
  func components(_ part: String) -> Int {
    split(separator: part, omittingEmptySubsequences: false).count - 1
  }
}
