import Gate
import Testing

@testable import Preferences

/// What an unsubscribe link does, and undoing it.
@Suite struct LinkTests {
  @Test func undoingLeadsBackToWhatWasBefore() {
    for before in [nil, Choice.unset, .userOn, .userOff] {
      var world = World()
      world.apply(.deviceSeen("d-1", sync(), nil), at: 0)
      if let before { world.apply(.choiceSet(.account, .marketing, before), at: 1) }
      let held = world.users["u-1"]!.account.choices[.marketing]?.inForce

      world.apply(
        .choiceSet(.account, .marketing, .userOff), at: 2, source: .unsubscribeLink)
      let muted = world.users["u-1"]!.account.choices[.marketing]!.inForce
      #expect(muted == Stamped(.userOff, atMs: at(2), source: .unsubscribeLink))

      let undone = world.apply(.linkUndone(.marketing), at: 3, source: .unsubscribeLink)
      // The consent of before, with its own time and source: not one made up by the link.
      #expect(world.users["u-1"]!.account.choices[.marketing]?.inForce == held)
      #expect(undone.outcome == (before == .userOff ? .confirmed : .applied))
    }
  }

  @Test func undoingTwiceOrForNothingChangesNothing() {
    var world = World()
    world.apply(.choiceSet(.account, .social, .userOn), at: 1)
    let document = world.document()
    #expect(
      world.apply(.linkUndone(.social), at: 2, source: .unsubscribeLink).outcome == .unchanged)
    #expect(world.rows.last?.reason == "nothing_to_undo")
    world.apply(.choiceSet(.account, .social, .userOff), at: 3, source: .unsubscribeLink)
    world.apply(.linkUndone(.social), at: 4, source: .unsubscribeLink)
    #expect(
      world.apply(.linkUndone(.social), at: 5, source: .unsubscribeLink).outcome == .unchanged)
    // A mute that was delivered late is undone all the same.
    let late = world.apply(
      .choiceSet(.account, .social, .userOff), at: 4, source: .unsubscribeLink)
    #expect(late.outcome == .late)
    #expect(documentFacts(world.document()!) == documentFacts(document!))
  }

  @Test func whatIsChosenInTheAppAfterwardsCounts() {
    var world = World()
    world.apply(.choiceSet(.account, .marketing, .userOn), at: 1)
    world.apply(.choiceSet(.account, .marketing, .userOff), at: 2, source: .unsubscribeLink)
    world.apply(.choiceSet(.account, .marketing, .userOn), at: 3)
    #expect(world.users["u-1"]!.account.choices[.marketing]!.state == .userOn)
    // Undoing the old mute does not bring the old choice back over the new one.
    world.apply(.choiceSet(.account, .marketing, .unset), at: 4)
    world.apply(.linkUndone(.marketing), at: 5, source: .unsubscribeLink)
    #expect(world.users["u-1"]!.account.choices[.marketing]!.state == .unset)
  }

  /// Nothing but the account's marketing and social, and only off.
  @Test func aLinkDoesNothingElse() {
    let bodies: [EventBody] = [
      .choiceSet(.account, .transactional, .userOff), .choiceSet(.account, .marketing, .userOn),
      .choiceSet(.account, .marketing, .unset), .choiceSet(.device("d-1"), .marketing, .userOff),
      .linkUndone(.transactional), .linkUndone(.security),
      .subtypeMuteSet(Subtype(.social, "like"), isMuted: true),
      .quietHoursSet(.account, .none), .timezoneSet(ZoneSetting(nil)), .smsConsentSet(.userOff),
    ]
    for body in bodies {
      var world = World()
      world.apply(.deviceSeen("d-1", sync(), nil), at: 0)
      let before = world.users
      let transition = world.apply(body, at: 1, source: .unsubscribeLink)
      #expect(transition.refusal == .linkOnlyMutes, "\(body)")
      #expect(world.users == before, "\(body)")
      #expect(world.rows.last?.outcome == .refused, "\(body)")
    }
    var world = World()
    world.apply(.deviceSeen("d-1", sync(), nil), at: 0)
    let security = world.apply(
      .choiceSet(.account, .security, .userOff), at: 1, source: .unsubscribeLink)
    #expect(security.refusal == .securityNeedsAdmin)
  }

  /// A link that outlives its user does not bring the user back.
  @Test func aLinkDoesNotBeginAUser() {
    var world = World()
    world.apply(.deviceSeen("d-1", sync(), nil), at: 0)
    world.apply(.userErased, at: 1, source: nil)
    let undone = world.apply(.linkUndone(.social), at: 2, source: .unsubscribeLink)
    let muted = world.apply(
      .choiceSet(.account, .social, .userOff), at: 2, source: .unsubscribeLink)
    #expect(undone.refusal == .unknownUser && muted.refusal == .unknownUser)
    #expect(world.users.isEmpty && world.rows.isEmpty)
  }
}
