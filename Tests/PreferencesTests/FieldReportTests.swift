import Gate
import Testing

@testable import Preferences

/// Reports from the field, groups E, F and I: what the service's rules answer for. Decisions are the
/// gate's own, on what the service publishes.
@Suite struct FieldReportTests {
  private let world: World
  private let gate = GateSide()

  init() {
    var world = World()
    world.apply(.deviceSeen("d-1", sync(), .active), at: 0, source: nil)
    self.world = world
  }

  /// C069: unset is a state of its own, and what is none of the three is no choice at all.
  @Test func c069ThreeStates() {
    for region in ["US", "DE"] as [Identifier] {
      for category in Category.allCases {
        for state in [nil, Choice.unset, .userOn, .userOff] {
          var world = World()
          world.apply(.deviceSeen("d-1", sync(region: region), .active), at: 0, source: nil)
          if let state {
            world.apply(.choiceSet(.account, category, state), at: 1, source: .adminOverride)
          }
          gate.publish("u-1", world.document())
          let expected =
            switch state {
            case .userOn: "ok"
            case .userOff: "account_opted_out"
            default: category == .marketing && region == "DE" ? "no_gdpr_consent" : "ok"
            }
          #expect(gate.decide(category) == [expected], "\(category) \(region) \(state as Choice?)")
        }
      }
    }
    for state in [#""""#, "0", #""false""#, "true", #""on""#, "null"] {
      let text =
        #"{"event_id":"e","type":"choice_set","user_id":"u-1","at":"2026-01-01T00:00:00Z","source":"in_app_settings","scope":"account","category":"social","state":\#(state)}"#
      #expect(throws: EventFault.self, "\(state)") { try EventDecoder.decode(text) }
    }
  }

  /// C070: off is written down, so that a default that flips does not bring the category back.
  @Test func c070OffIsSaved() {
    var world = world
    world.apply(.choiceSet(.account, .social, .userOff), at: 1)
    #expect(
      documentFacts(world.document()!)["account.categories.social.state"] == "user-off")
    gate.publish("u-1", world.document())
    #expect(gate.decide(.social) == ["account_opted_out"])
    let on = CategoryDefault(isOn: true, isOnWhereRegulated: true)
    #expect(gate.publishDefault(.social, DefaultDocument.text(.social, on)))
    #expect(gate.decide(.social) == ["account_opted_out"])
  }

  /// C071: a new default touches only what is still default, and is never written into a user; the
  /// third product scenario: a device switched off stays off, its row in the audit as it was.
  @Test func c071DefaultsAreNotChoices() {
    let choices: [(Identifier, Choice?, before: String, after: String)] = [
      ("on", .userOn, "ok", "ok"), ("off", .userOff, "device_opted_out", "device_opted_out"),
      ("default", nil, "category_default_off", "ok"),
    ]
    var world = World()
    for (user, state, _, _) in choices {
      let device = Identifier("d-\(user)")
      world.apply(.deviceSeen(device, sync(), .active), at: 0, user: user, source: nil)
      if let state {
        world.apply(.choiceSet(.device(device), .marketing, state), at: 1, user: user)
      }
    }
    let documents = choices.map { world.document($0.0)! }
    let rows = world.rows
    let off = CategoryDefault(isOn: false, isOnWhereRegulated: false)
    let on = CategoryDefault(isOn: true, isOnWhereRegulated: false)
    for (value, step) in [(off, 2), (on, 3)] {
      let transition = testMachine.apply(
        DefaultEvent(eventID: "d", atMs: at(step), category: .marketing, value: value),
        to: world.defaults, nowMs: testNow)
      world.defaults = transition.state!
      #expect(transition.rows.allSatisfy { $0.userID == nil })
      #expect(gate.publishDefault(.marketing, transition.record!.text))
      for (index, (user, _, before, after)) in choices.enumerated() {
        gate.publish(user, documents[index])
        #expect(gate.decide(.marketing, user: user) == [value == on ? after : before], "\(user)")
      }
    }
    #expect(choices.map { world.document($0.0)! } == documents)
    #expect(world.rows == rows)
    let answer = AuditHistory.choice(
      world.rows.filter { $0.userID == "off" }, .marketing, .device("d-off"), atMs: testNow)
    #expect(answer.state == .userOff && answer.sinceMs == at(1))
  }

  /// C071: in the EEA a default of on is no consent.
  @Test func c071ADefaultIsNoConsent() {
    var world = World()
    world.apply(.deviceSeen("d-1", sync(region: "DE"), .active), at: 0, source: nil)
    gate.publish("u-1", world.document())
    let on = CategoryDefault(isOn: true, isOnWhereRegulated: true)
    #expect(gate.publishDefault(.marketing, DefaultDocument.text(.marketing, on)))
    #expect(gate.decide(.marketing) == ["no_gdpr_consent"])
  }

  /// C078: a fetched link is no source; two posts are one opt-out, and the second says so.
  @Test func c078ScannersDoNotUnsubscribe() {
    let text =
      #"{"event_id":"e","type":"choice_set","user_id":"u-1","at":"2026-01-01T00:00:00Z","source":"link_get","scope":"account","category":"marketing","state":"user-off"}"#
    do {
      _ = try EventDecoder.decode(text)
      Issue.record("link_get was taken")
    } catch {
      #expect(error.member == "source" && error.userID == "u-1")
    }
    var world = world
    let first = world.apply(
      .choiceSet(.account, .marketing, .userOff), at: 1, source: .unsubscribeLink)
    let second = world.apply(
      .choiceSet(.account, .marketing, .userOff), at: 2, source: .unsubscribeLink)
    #expect(first.outcome == .applied && second.outcome == .confirmed)
    world.apply(.linkUndone(.marketing), at: 3, source: .unsubscribeLink)
    #expect(world.users["u-1"]!.account.choices[.marketing]!.state == .unset)
  }

  /// C079: the newsletter's opt-out is the newsletter's.
  @Test func c079OneCategoryAtATime() {
    var world = world
    world.apply(.choiceSet(.account, .marketing, .userOff), at: 1, source: .unsubscribeLink)
    gate.publish("u-1", world.document())
    #expect(gate.decide(.marketing) == ["account_opted_out"])
    #expect(gate.decide(.security, members: #","event":"password_reset""#) == ["ok"])
    #expect(gate.decide(.transactional) == ["ok"] && gate.decide(.social) == ["ok"])
    // Those have no links, and a link would do nothing to them.
    for category in [Category.security, .transactional] {
      #expect(!category.carriesLink)
      let transition = world.apply(
        .choiceSet(.account, category, .userOff), at: 2, source: .unsubscribeLink)
      #expect(transition.outcome == .refused)
    }
  }

  /// C082: a suppression ends when it is cleared, and an older report does not bring it back.
  @Test func c082SuppressionsEnd() {
    for scope in [PreferenceScope.account, .device("d-1")] {
      var world = world
      world.apply(.suppressionSet(scope, .bounced), at: 1, source: nil)
      gate.publish("u-1", world.document())
      #expect(gate.decide(.security) == ["suppressed_bounced"])
      world.apply(.suppressionCleared(scope, .bounced), at: 3, source: nil)
      gate.publish("u-1", world.document())
      #expect(gate.decide(.security) == ["ok"])
      #expect(world.apply(.suppressionSet(scope, .bounced), at: 2, source: nil).outcome == .late)
      gate.publish("u-1", world.document())
      #expect(gate.decide(.security) == ["ok"])
    }
  }

  /// C085: the region is the device's, a zone is no residence, and what is none is regulated.
  @Test func c085WhichLaw() {
    let table: [(Identifier?, Identifier, String)] = [
      (nil, "America/Chicago", "no_gdpr_consent"), ("US", "Europe/Berlin", "ok"),
      ("GB", "America/Chicago", "no_gdpr_consent"), ("UK", "America/Chicago", "no_gdpr_consent"),
      ("EL", "America/Chicago", "no_gdpr_consent"), ("CH", "Europe/Zurich", "ok"),
      ("XX", "America/Chicago", "no_gdpr_consent"),
    ]
    for (region, zone, reason) in table {
      var world = World()
      world.apply(.deviceSeen("d-1", sync(zone: zone, region: region), nil), at: 0, source: nil)
      gate.publish("u-1", world.document())
      #expect(gate.decide(.marketing) == [reason], "\(region?.text ?? "-") \(zone)")
    }
  }

  /// C096: a second account without a device gets nothing on the first one's.
  @Test func c096NoDeviceIsNoDevice() {
    var world = world
    world.apply(.choiceSet(.account, .social, .userOn), at: 1, user: "u-2")
    for user in ["u-1", "u-2"] as [Identifier] { gate.publish(user, world.document(user)) }
    #expect(gate.decide(.social, user: "u-2") == ["no_devices"])
    // Once it registers, the token is the second one's alone.
    world.apply(.deviceSeen("d-1", sync(), .active), at: 2, user: "u-2", source: nil)
    for user in ["u-1", "u-2"] as [Identifier] { gate.publish(user, world.document(user)) }
    #expect(gate.decide(.social, user: "u-2") == ["ok"])
    #expect(gate.decide(.social, user: "u-1") == ["no_devices"])
  }

  /// C098: reg(1), unregistered(2), reg(3), in every order of arrival, with and without the third.
  @Test func c098FeedbackCounts() {
    let events: [(EventBody, Int)] = [
      (.deviceSeen("d-1", sync(), .active), 1),
      (.tokenFeedback("d-1", .apns, code: "Unregistered"), 2),
      (.deviceSeen("d-1", sync(), .active), 3),
    ]
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    for order in orders {
      for (count, reason) in [(3, "ok"), (2, "token_expired")] {
        var world = World()
        world.users["u-1"] = UserPreferences(userID: "u-1", version: 1)
        for index in order where index < count {
          world.apply(events[index].0, at: events[index].1, source: nil)
        }
        gate.publish("u-1", world.document())
        #expect(gate.decide(.transactional) == [reason], "\(order) \(count)")
      }
    }
  }

  /// C134: what fails leaves a record too: each event of a mixed run that is refused or late has its
  /// row, with who, what, when, how and why.
  @Test func c134FailuresLeaveARecord() {
    var made = RandomEvents(SeededGenerator())
    var world = World.withUsers
    var failures = 0
    for event in made.events(3_000) {
      let before = world.rows.count
      let transition = world.apply(event)
      let rows = world.rows[before...]
      #expect(
        rows.allSatisfy { $0.eventID == event.eventID || $0.kind == .deviceLost },
        "seed \(made.random.seed)")
      if transition.outcome == .refused || transition.outcome == .late {
        failures += 1
        #expect(
          rows.contains { $0.outcome == transition.outcome && $0.userID == event.userID },
          "seed \(made.random.seed) \(event)")
      }
      if transition.outcome == .refused {
        #expect(rows.count == 1 && rows.last?.reason != nil, "seed \(made.random.seed)")
      }
    }
    #expect(failures > 500)
    #expect(world.rows.map(\.sequence) == (1...Int64(world.rows.count)).map { $0 })
  }

  /// C135: a recognised event with an unreadable state is neither acknowledged nor guessed at; the
  /// fault names the member, and the user and event it is about.
  @Test func c135UnreadableIsNotLost() {
    let text =
      #"{"event_id":"e-9","type":"choice_set","user_id":"u-1","at":"2026-01-01T00:00:00Z","source":"in_app_settings","scope":"account","category":"marketing","state":"user-off "}"#
    do {
      _ = try EventDecoder.decode(text)
      Issue.record("was read")
    } catch {
      #expect(error.code == .unknownValue && error.member == "state")
      #expect(error.userID == "u-1" && error.eventID == "e-9")
      let row = AuditRow.unreadable(error, fallbackID: "events/0/7", recordedAtMs: at(1))
      #expect(row?.kind == .unreadable && row?.outcome == .refused)
      #expect(row?.reason == "unknown_value" && row?.subject == "state")
      var nobody = error
      nobody.userID = nil
      #expect(AuditRow.unreadable(nobody, fallbackID: "events/0/7", recordedAtMs: at(1)) == nil)
    }
  }
}
