import Gate
import Testing

@testable import Preferences

/// Events whose sender named no instant, against what a fast clock dated ahead.
@Suite struct HeldInstantTests {
  private static let like = Subtype(.social, "like")

  /// Each pair: what is held, dated ahead, and what is said now. The second is the laxer where one of
  /// the two is, so that an equal instant would not do.
  private static let pairs: [(EventBody, EventBody)] = [
    (.choiceSet(.account, .social, .userOff), .choiceSet(.account, .social, .userOn)),
    (
      .choiceSet(.device("d-1"), .social, .userOff), .choiceSet(.device("d-1"), .social, .userOn)
    ),
    (.subtypeMuteSet(Self.like, isMuted: true), .subtypeMuteSet(Self.like, isMuted: false)),
    (
      .quietHoursSet(.account, .window(startMinute: 0, endMinute: 60, days: 0x7F)),
      .quietHoursSet(.account, .none)
    ),
    (
      .quietHoursSet(.device("d-1"), .window(startMinute: 0, endMinute: 60, days: 0x7F)),
      .quietHoursSet(.device("d-1"), .inherited)
    ),
    (.timezoneSet(ZoneSetting("Asia/Shanghai")), .timezoneSet(ZoneSetting("Europe/Berlin"))),
    (.timezoneSet(ZoneSetting("Europe/Berlin")), .timezoneSet(ZoneSetting("Asia/Shanghai"))),
    (.smsConsentSet(.userOff), .smsConsentSet(.userOn)),
    (.suppressionSet(.account, .bounced), .suppressionCleared(.account, .bounced)),
    (.suppressionSet(.device("d-1"), .bounced), .suppressionCleared(.device("d-1"), .bounced)),
    (.deviceSeen("d-1", sync(.denied), .revoked), .deviceSeen("d-1", sync(.granted), .active)),
    (.deviceSeen("d-1", sync(), nil), .deviceRemoved("d-1")),
  ]

  @Test func whatIsSaidNowTakesThePlaceOfWhatIsDatedAhead() {
    let nowMs = at(5)
    for (held, said) in Self.pairs {
      for isOfNow in [false, true] {
        var world = World()
        world.apply(.choiceSet(.account, .marketing, .userOff), at: 0)
        func apply(_ id: Identifier, _ body: EventBody, _ ms: Int64, _ isOfNow: Bool) -> Transition
        {
          world.apply(
            PreferenceEvent(
              eventID: id, userID: "u-1", atMs: ms, isOfNow: isOfNow, source: .inAppSettings,
              body: body), nowMs: nowMs)
        }
        #expect(apply("held", held, nowMs + 300_000, false).outcome == .applied, "\(held)")
        let transition = apply("said", said, nowMs, isOfNow)
        #expect(transition.outcome == (isOfNow ? .applied : .late), "\(said)")
        #expect(
          transition.rows.allSatisfy { $0.atMs == nowMs + (isOfNow ? 300_001 : 0) }, "\(said)")
      }
    }
  }

  /// Now where nothing is ahead of it; and an undoing behind its mute.
  @Test func nothingIsDatedFurtherThanItMust() {
    var world = World()
    func apply(_ id: Identifier, _ body: EventBody, _ ms: Int64) -> Transition {
      world.apply(
        PreferenceEvent(
          eventID: id, userID: "u-1", atMs: ms, isOfNow: true, source: .inAppSettings, body: body),
        nowMs: ms)
    }
    #expect(apply("e-1", .choiceSet(.account, .social, .userOn), at(1)).rows.map(\.atMs) == [at(1)])
    #expect(
      apply("e-2", .choiceSet(.account, .social, .userOff), at(2)).rows.map(\.atMs) == [at(2)])
    world.apply(.choiceSet(.account, .social, .userOff), at: 3, source: .unsubscribeLink)
    let undone = PreferenceEvent(
      eventID: "e-3", userID: "u-1", atMs: at(3), isOfNow: true, source: .unsubscribeLink,
      body: .linkUndone(.social))
    #expect(world.apply(undone, nowMs: at(3)).rows.map(\.atMs) == [at(3) + 1])
    #expect(world.users["u-1"]?.account.choices[.social]?.link?.value == false)
  }
}
