import Gate

@testable import Preferences

/// Events of a few users and devices at a few instants, so that nearly everything collides.
struct RandomEvents {
  static let users: [Identifier] = ["u-1", "u-2", "u-3"]
  static let devices: [Identifier] = ["d-1", "d-2", "d-3"]
  static let windows: [WindowSetting] = [
    .none, .window(startMinute: 1320, endMinute: 480, days: 0x7F),
    .window(startMinute: 0, endMinute: 1440, days: 0x1F),
  ]
  static let zones: [Identifier?] = [nil, "Europe/Berlin", "Asia/Shanghai"]

  var random: SeededGenerator
  private var count = 0

  init(_ random: SeededGenerator) { self.random = random }

  private mutating func pick<T>(_ values: [T]) -> T { values.randomElement(using: &random)! }

  private mutating func scope() -> PreferenceScope {
    pick([.account, .device(pick(Self.devices))])
  }

  mutating func events(_ number: Int) -> [PreferenceEvent] { (0..<number).map { _ in event() } }

  mutating func event() -> PreferenceEvent {
    count += 1
    var source: ChoiceSource? = pick([.inAppSettings, .osSettingsSync, .adminOverride])
    let body: EventBody
    switch Int.random(in: 0..<14, using: &random) {
    case 0, 1: body = .choiceSet(scope(), pick(Category.allCases), pick(Choice.allCases))
    case 2:
      body = .choiceSet(.account, pick([.marketing, .social]), .userOff)
      source = .unsubscribeLink
    case 3:
      body = .linkUndone(pick([.marketing, .social]))
      source = .unsubscribeLink
    case 4:
      body = .subtypeMuteSet(
        Subtype(.social, pick(["like", "mention"])), isMuted: pick([true, false]))
    case 5:
      let scope = scope()
      let window =
        scope == .account ? pick(Self.windows) : pick(Self.windows + [.inherited])
      body = .quietHoursSet(scope, window)
    case 6: body = .timezoneSet(ZoneSetting(pick(Self.zones)))
    case 7: body = .smsConsentSet(pick(Choice.allCases))
    case 8:
      body = .suppressionSet(scope(), pick(Suppression.allCases))
      source = nil
    case 9:
      body = .suppressionCleared(scope(), pick(Suppression.allCases))
      source = nil
    case 10:
      body = .permissionPromptShown(pick(Self.devices), moment: pick(["order_placed", "whim"]))
      source = nil
    case 11:
      let (provider, code) = pick([
        (PushProvider.apns, "Unregistered"), (.fcm, "UNREGISTERED"), (.fcm, "INVALID_ARGUMENT"),
        (.apns, "TooManyRequests"),
      ])
      body = .tokenFeedback(pick(Self.devices), provider, code: code)
      source = nil
    case 12:
      body = .deviceRemoved(pick(Self.devices))
      source = nil
    default:
      body = .deviceSeen(
        pick(Self.devices),
        sync(
          pick(OSPermission.allCases), pick(Platform.allCases), zone: pick(Self.zones),
          region: pick([nil, "US", "DE"])), pick([nil, .active, .revoked]))
      source = nil
    }
    return PreferenceEvent(
      eventID: Identifier("e-\(count)"), userID: pick(Self.users),
      atMs: at(Int.random(in: 0..<6, using: &random)), source: source, body: body)
  }
}

extension World {
  /// One in which the random users are known, so that no event depends on another to begin them.
  static var withUsers: World {
    var world = World()
    for user in RandomEvents.users { world.users[user] = UserPreferences(userID: user, version: 1) }
    return world
  }

  /// Without what counts deliveries.
  var facts: [Identifier: UserPreferences] {
    users.mapValues { user in
      var user = user
      user.version = 0
      return user
    }
  }
}
