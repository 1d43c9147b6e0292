import Gate
import Pipeline

@testable import Preferences

/// The system's tz database, once for all tests.
enum TestZones {
  static let publisher: ZonePublisher = {
    let publisher = ZonePublisher(epochs: Epochs())
    do {
      try TimeZoneDatabase().load(into: publisher)
    } catch {
      fatalError("\(error)")
    }
    return publisher
  }()
}

let testMachine = PreferenceMachine(policy: .builtIn, zones: TestZones.publisher)

/// Instants by small numbers: ten minutes apart, so that the tolerance for clocks is between them.
func at(_ step: Int) -> Int64 { 1_767_225_600_000 + Int64(step) * 600_000 }

/// Later than every event of a test.
let testNow = at(100_000)

func instantMs(_ text: String) -> Int64 { Instant.parse(text: text)! }

extension Identifier: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) { self.init(value) }
}

func sync(
  _ permission: OSPermission = .granted, _ platform: Platform = .ios, zone: Identifier? = nil,
  region: Identifier? = "US"
) -> DeviceSync {
  DeviceSync(platform: platform, osPermission: permission, timezone: zone, region: region)
}

/// What a store does with the machine, in memory.
struct World {
  var machine = testMachine
  var users: [Identifier: UserPreferences] = [:]
  var devices: [Identifier: SharedDevice] = [:]
  var erased: [Identifier: Int64] = [:]
  var rows: [AuditRow] = []
  /// In the order of the outbox; nil: a tombstone.
  var published: [(user: Identifier, document: String?)] = []
  var defaults = DefaultsState()
  private var eventCount = 0

  init() {}

  @discardableResult
  mutating func apply(_ event: PreferenceEvent, nowMs: Int64 = testNow) -> Transition {
    var known = KnownState(user: users[event.userID], userErasedAtMs: erased[event.userID])
    if let id = event.deviceID, let device = devices[id] {
      known.device = device
      if let holder = device.holder, holder != event.userID { known.holder = users[holder] }
    }
    let transition = machine.apply(event, to: known, nowMs: nowMs)
    save(transition, event)
    return transition
  }

  private mutating func save(_ transition: Transition, _ event: PreferenceEvent) {
    if let erasedAtMs = transition.erasedAtMs {
      erased[event.userID] = erasedAtMs
      let throughMs = transition.erasedThroughMs ?? .max
      rows.removeAll { $0.userID == event.userID && $0.atMs <= throughMs }
      for index in rows.indices where rows[index].userID == event.userID {
        rows[index].before = nil
      }
    }
    for id in transition.releasedDevices { devices[id]?.holder = nil }
    if transition.isErased { users[event.userID] = nil }
    if transition.erasedAtMs != nil { published.append((event.userID, nil)) }
    if let holder = transition.holder { users[holder.userID] = holder }
    if let document = transition.holderDocument {
      published.append((transition.holder!.userID, document))
    }
    if let user = transition.user { users[user.userID] = user }
    if let document = transition.userDocument { published.append((event.userID, document)) }
    if let device = transition.device { devices[device.deviceID] = device }
    for row in transition.rows {
      rows.append(row)
      rows[rows.count - 1].sequence = Int64(rows.count)
    }
  }

  @discardableResult
  mutating func apply(
    _ body: EventBody, at step: Int, user: Identifier = "u-1",
    source: ChoiceSource? = .inAppSettings
  ) -> Transition {
    eventCount += 1
    return apply(
      PreferenceEvent(
        eventID: Identifier("e-\(eventCount)"), userID: user, atMs: at(step), source: source,
        body: body))
  }

  /// The document that was published last; nil where there is none or it was a tombstone.
  func document(_ user: Identifier = "u-1") -> String? {
    published.last { $0.user == user }?.document
  }
}

/// Random numbers from a seed that a failing test prints (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  let seed: UInt64
  private var state: UInt64

  init(seed: UInt64 = .random(in: 0...UInt64.max)) {
    self.seed = seed
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
