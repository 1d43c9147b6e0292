import Gate
import Testing

@testable import Preferences

/// C5: what the audit says of an instant is what the machine would hold had it seen the events up to
/// then and no others; and what it knew at a time is what it held at that time.
@Suite struct HistoryTests {
  @Test func theAuditKnowsEveryInstant() {
    var made = RandomEvents(SeededGenerator())
    let seed = made.random.seed
    for round in 0..<60 {
      let events = made.events(60)
      var world = World.withUsers
      for event in events { world.apply(event) }
      for step in -1...6 {
        var then = World.withUsers
        for event in events where event.atMs <= at(step) { then.apply(event) }
        for user in RandomEvents.users {
          let rows = world.rows.filter { $0.userID == user }
          let words: Testing.Comment = "seed \(seed) round \(round) \(user) at \(step)"
          let state = then.users[user]!
          for category in Category.allCases {
            expect(
              AuditHistory.choice(rows, category, .account, atMs: at(step)),
              state.account.choices[category]?.inForce, words)
            for device in RandomEvents.devices {
              expect(
                AuditHistory.choice(rows, category, .device(device), atMs: at(step)),
                state.devices[device]?.choices[category]?.inForce, words)
            }
          }
          expect(AuditHistory.smsConsent(rows, atMs: at(step)), state.account.sms, words)
        }
      }
    }
  }

  private func expect(
    _ answer: AuditHistory.Answer, _ held: Stamped<Choice>?, _ words: Testing.Comment
  ) {
    #expect(answer.state == held?.value ?? .unset, words)
    #expect(answer.sinceMs == held?.atMs && answer.source == held?.source, words)
    #expect((answer.row == nil) == (held == nil), words)
    if let row = answer.row, let held {
      #expect(row.atMs == held.atMs && row.outcome != .refused, words)
    }
  }

  /// "Had this user opted in to marketing on 2025-11-03, how, and when?"
  @Test func theQuestionOfTheRequirement() {
    var world = World()
    func choose(_ state: Choice, _ at: String, _ source: ChoiceSource, heard: String) {
      world.apply(
        PreferenceEvent(
          eventID: Identifier("e \(at)"), userID: "u-1", atMs: instantMs(at), source: source,
          body: .choiceSet(.account, .marketing, state)), nowMs: instantMs(heard))
    }
    choose(.userOn, "2025-10-01T09:00:00Z", .inAppSettings, heard: "2025-10-01T09:00:01Z")
    choose(.userOff, "2025-12-24T18:00:00Z", .unsubscribeLink, heard: "2025-12-24T18:00:01Z")
    // An opt-out from a phone that was offline for a month.
    choose(.userOff, "2025-11-02T08:00:00Z", .inAppSettings, heard: "2025-12-30T00:00:00Z")

    let asked = instantMs("2025-11-03T00:00:00Z")
    let then = AuditHistory.consent(
      world.rows, .marketing, atMs: asked, recordedByMs: instantMs("2025-11-30T00:00:00Z"))
    #expect(then.isOptedIn && then.account.sinceMs == instantMs("2025-10-01T09:00:00Z"))
    #expect(then.account.source == .inAppSettings && then.account.row?.sequence == 1)
    let now = AuditHistory.consent(world.rows, .marketing, atMs: asked)
    #expect(!now.isOptedIn && now.account.sinceMs == instantMs("2025-11-02T08:00:00Z"))
    #expect(now.account.row?.outcome == .late)
    let before = AuditHistory.consent(
      world.rows, .marketing, atMs: instantMs("2025-09-30T00:00:00Z"))
    #expect(!before.isOptedIn && before.account == .nothing)
  }

  /// The account's and a device's choices together: any opt-out is one.
  @Test func accountAndDeviceTogether() {
    for account in Choice.allCases {
      for device in Choice.allCases {
        var world = World()
        world.apply(.choiceSet(.account, .marketing, account), at: 1)
        world.apply(.choiceSet(.device("d-1"), .marketing, device), at: 1)
        let consent = AuditHistory.consent(world.rows, .marketing, device: "d-1", atMs: at(1))
        let states = [account, device]
        #expect(
          consent.isOptedIn == (states.contains(.userOn) && !states.contains(.userOff)))
        #expect(consent.device?.state == device && consent.account.state == account)
      }
    }
  }
}
