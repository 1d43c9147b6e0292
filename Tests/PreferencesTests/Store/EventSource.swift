import Gate

@testable import Preferences

/// Random events of few users, devices and instants, so that they meet: repeated, late, of equal times,
/// refused, taking devices from each other, erasing.
struct EventSource {
  private var state: UInt64
  private var made: [PreferenceEvent] = []

  init(seed: UInt64) { state = seed }

  mutating func next() -> PreferenceEvent {
    // Some come twice, under the same id.
    if !made.isEmpty, chance(1, of: 10) { return pick(made) }
    let body = body()
    let event = PreferenceEvent(
      eventID: Identifier("e-\(made.count)"), userID: Identifier("user-\(number(4))"),
      atMs: StoreWorld.startMs + Int64(number(40)) * 60_000, source: pick(ChoiceSource.allCases),
      body: body)
    made.append(event)
    return event
  }

  private mutating func body() -> EventBody {
    let device = Identifier("device-\(number(5))")
    switch number(16) {
    case 0...3: return .choiceSet(scope(), pick(Category.allCases), pick(Choice.allCases))
    case 4: return .linkUndone(chance(1, of: 2) ? .marketing : .social)
    case 5:
      let name = pick(["like", "comment", "no-such"])
      return .subtypeMuteSet(Subtype(.social, Identifier(name)), isMuted: chance(1, of: 2))
    case 6: return .quietHoursSet(scope(), window())
    case 7:
      let zone = pick([nil, "UTC", "Asia/Tokyo", "Berlin"])
      return .timezoneSet(ZoneSetting(zone.map { Identifier($0) }))
    case 8: return .smsConsentSet(pick(Choice.allCases))
    case 9...11: return .deviceSeen(device, sync(), pick([nil, .active, .revoked]))
    case 12: return .deviceRemoved(device)
    case 13:
      return chance(1, of: 2)
        ? .suppressionSet(scope(), pick(Suppression.allCases))
        : .suppressionCleared(scope(), pick(Suppression.allCases))
    case 14:
      return chance(1, of: 2)
        ? .permissionPromptShown(device, moment: Identifier("after_order"))
        : .tokenFeedback(device, .apns, code: pick(["Unregistered", "TooManyRequests"]))
    default:
      return chance(1, of: 3)
        ? .userErased
        : .userObserved(
          notificationID: Identifier("n-\(number(9))"), device, pick(ObservedVia.allCases))
    }
  }

  private mutating func scope() -> PreferenceScope {
    chance(1, of: 2) ? .account : .device(Identifier("device-\(number(5))"))
  }

  private mutating func window() -> WindowSetting {
    let start = UInt16(number(1440))
    let end = UInt16(number(1440))
    return pick([
      .inherited, .none, .window(startMinute: start, endMinute: end, days: UInt8(number(128))),
    ])
  }

  private mutating func sync() -> DeviceSync {
    DeviceSync(
      platform: pick(Platform.allCases), osPermission: pick(OSPermission.allCases),
      timezone: pick([nil, "UTC", "Nowhere"]).map { Identifier($0) },
      region: pick([nil, "DE", "US"]).map { Identifier($0) })
  }

  /// SplitMix64.
  private mutating func random() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func number(_ below: Int) -> Int { Int(random() % UInt64(below)) }
  mutating func chance(_ n: Int, of all: Int) -> Bool { number(all) < n }
  mutating func pick<T>(_ values: [T]) -> T { values[number(values.count)] }
}
