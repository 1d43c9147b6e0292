import Gate
import Testing

@testable import Preferences

/// Whatever order events arrive in, and however often, they lead to the same state; and a model that
/// sorts them says the same of it.
@Suite struct OrderTests {
  @Test func theOrderOfDeliveryDecidesNothing() {
    var made = RandomEvents(SeededGenerator())
    let seed = made.random.seed
    for round in 0..<100 {
      let events = made.events(Int.random(in: 1...60, using: &made.random))
      let model = LogModel(events: events)
      var first: World?
      for _ in 0..<3 {
        var order = events + events.filter { _ in Bool.random(using: &made.random) }
        order.shuffle(using: &made.random)
        var world = World.withUsers
        for event in order {
          world.apply(event)
          let problem = problem(world)
          #expect(problem == nil, "seed \(seed) round \(round): \(problem ?? "")")
        }
        if let first {
          #expect(world.facts == first.facts, "seed \(seed) round \(round)")
          #expect(world.devices == first.devices, "seed \(seed) round \(round)")
        } else {
          first = world
        }
      }
      for user in RandomEvents.users {
        let facts = documentFacts(PreferenceDocument.text(first!.users[user]!))
        #expect(facts == model.facts(of: user), "seed \(seed) round \(round) \(user)")
      }
    }
  }

  /// What holds after each event.
  private func problem(_ world: World) -> String? {
    for device in RandomEvents.devices {
      let present = world.users.values.filter { $0.devices[device]?.isPresent == true }
      if present.count > 1 { return "\(device) belongs to \(present.map(\.userID))" }
      let holders = world.users.values.filter { $0.devices[device]?.isHeld == true }
      if holders.map(\.userID) != [world.devices[device]?.holder].compactMap({ $0 }) {
        return "\(device) is held by \(holders.map(\.userID))"
      }
    }
    for user in world.users.values {
      let scopes = [user.account.choices] + user.devices.values.map(\.choices)
      for choices in scopes {
        guard let security = choices[.security]?.inForce, security.value == .userOff else {
          continue
        }
        if security.source != .adminOverride { return "security is off for \(user.userID)" }
      }
    }
    return nil
  }

  /// The document that was published last is that of the state; versions rise by one; and at no point
  /// of the outbox is a device in two users' newest documents.
  @Test func theOutboxIsTheState() {
    var made = RandomEvents(SeededGenerator())
    let seed = made.random.seed
    for round in 0..<80 {
      var world = World.withUsers
      for event in made.events(60) { world.apply(event) }
      var versions: [Identifier: Int64] = [:]
      var holders: [String: Identifier] = [:]
      for (user, document) in world.published {
        let version = version(document!)
        #expect(version == versions[user, default: 1] + 1, "seed \(seed) round \(round)")
        versions[user] = version
        holders = holders.filter { $0.value != user }
        for path in documentFacts(document!).keys where path.hasSuffix(".device_id") {
          #expect(holders[path] == nil, "seed \(seed) round \(round) \(path)")
          holders[path] = user
        }
      }
      for (user, state) in world.users where state.version > 1 {
        #expect(world.document(user) == PreferenceDocument.text(state), "seed \(seed)")
      }
    }
  }

  private func version(_ document: String) -> Int64 {
    guard case .object(let members)? = withBytes(document, { try? JSONValue($0) }),
      case .number(let digits)? = members.first(where: { $0.name == "version" })?.value
    else { return -1 }
    return Int64(digits)!
  }

  /// The same of erasure, for what alone can begin a user: what is dated up to it is gone whenever it
  /// comes, what is dated after it stays.
  @Test func anErasureMayComeAtAnyTime() {
    var made = RandomEvents(SeededGenerator())
    let seed = made.random.seed
    for round in 0..<100 {
      var events = made.events(40).filter {
        $0.deviceID == nil && $0.canBegin
      }
      let erasedAtMs = at(Int.random(in: 0..<6, using: &made.random))
      let user = RandomEvents.users[0]
      events.append(
        PreferenceEvent(eventID: "erase", userID: user, atMs: erasedAtMs, body: .userErased))
      let left = events.filter { $0.userID == user && $0.atMs > erasedAtMs }
      // Of somebody of whom only refusals are on record nothing is kept that could stay.
      let isAnyAllowed = left.contains { testMachine.refusal($0, KnownState()) == nil }
      for _ in 0..<3 {
        events.shuffle(using: &made.random)
        var world = World()
        for event in events { world.apply(event) }
        let words: Testing.Comment = "seed \(seed) round \(round)"
        #expect(world.erased[user] == erasedAtMs, words)
        #expect(!world.rows.contains { $0.userID == user && $0.atMs <= erasedAtMs }, words)
        guard let state = world.users[user] else {
          #expect(!isAnyAllowed, words)
          #expect(world.document(user) == nil, words)
          continue
        }
        #expect(
          documentFacts(PreferenceDocument.text(state)) == LogModel(events: left).facts(of: user),
          words)
      }
    }
  }
}
