import Gate
import Testing

@testable import Preferences

/// Who may set what, and what else is refused.
@Suite struct RuleTests {
  @Test func datesAheadOfTheClockAreRefused() {
    var world = World()
    world.apply(.choiceSet(.account, .social, .userOn), at: 0)
    let body = EventBody.choiceSet(.account, .social, .userOff)
    let nowMs = at(5)
    for (aheadMs, isRefused) in [(300_000, false), (300_001, true)] as [(Int64, Bool)] {
      let event = PreferenceEvent(
        eventID: "e", userID: "u-1", atMs: nowMs + aheadMs, source: .inAppSettings, body: body)
      let transition = world.apply(event, nowMs: nowMs)
      #expect((transition.refusal == .aheadOfTime) == isRefused)
    }
    #expect(world.rows.last?.outcome == .refused && world.rows.last?.reason == "ahead_of_time")
  }

  /// C6, for every source and scope, also for a user of whom nothing is kept: the refusal is on record.
  @Test func onlyAnAdministratorSwitchesSecurityOff() {
    for source in ChoiceSource.allCases {
      for scope in [PreferenceScope.account, .device("d-1")] {
        var world = World()
        let transition = world.apply(
          .choiceSet(scope, .security, .userOff), at: 1, source: source)
        let isAllowed = source == .adminOverride
        #expect((transition.refusal == nil) == isAllowed, "\(source)")
        guard !isAllowed else { continue }
        let isLink = source == .unsubscribeLink
        #expect(transition.refusal == (isLink ? .unknownUser : .securityNeedsAdmin))
        guard !isLink else { continue }
        #expect(world.published.isEmpty, "a refusal makes no document")
        #expect(world.users["u-1"] == UserPreferences(userID: "u-1"))
        let row = world.rows.last
        #expect(row?.outcome == .refused && row?.reason == "security_needs_admin")
        #expect(row?.source == source && row?.after == "user-off" && row?.scope == scope)
        // What comes next is published, as the first version.
        world.apply(.choiceSet(.account, .social, .userOff), at: 2)
        #expect(world.users["u-1"]?.version == 1 && world.document() != nil)
      }
    }
  }

  @Test func mutesAreThePolicysAndNeverSecuritys() {
    var world = World()
    let like = Subtype(.social, "like")
    #expect(world.apply(.subtypeMuteSet(like, isMuted: true), at: 1).outcome == .applied)
    let table: [(Subtype, Refusal)] = [
      (Subtype(.security, "login_alert"), .securityNeverMuted),
      (Subtype(.social, "wave"), .subtypeNotMutable),
      (Subtype(.marketing, "promotion"), .subtypeNotMutable),
      (Subtype(.transactional, "like"), .subtypeNotMutable),
    ]
    for (subtype, refusal) in table {
      #expect(world.apply(.subtypeMuteSet(subtype, isMuted: true), at: 2).refusal == refusal)
      #expect(world.rows.last?.outcome == .refused && world.rows.last?.subject == subtype.name)
    }
    // What an earlier policy let be muted can be taken back.
    #expect(
      world.apply(.subtypeMuteSet(Subtype(.social, "wave"), isMuted: false), at: 3).refusal == nil)
    #expect(world.apply(.subtypeMuteSet(like, isMuted: false), at: 4).outcome == .applied)
    #expect(documentFacts(world.document()!) == ["user_id": "u-1"])
  }

  /// Zones, where they are written (Zone ids): exact, with close matches.
  @Test func unknownZonesAreRefusedWithCloseMatches() {
    let table: [(Identifier, String?)] = [
      ("europe/berlin", "Europe/Berlin"), ("Europe/Berln", "Europe/Berlin"), ("UTC+8", nil),
      ("posix/UTC", nil), ("China Standard Time", nil), ("../etc/passwd", nil),
    ]
    for (zone, match) in table {
      for body in [
        EventBody.timezoneSet(ZoneSetting(zone)), .deviceSeen("d-1", sync(zone: zone), nil),
      ] {
        var world = World()
        world.apply(.deviceSeen("d-1", sync(), nil), at: 0, source: nil)
        let before = world.users
        let transition = world.apply(body, at: 1)
        guard case .unknownZone(let matches)? = transition.refusal else {
          Issue.record("\(zone) was taken")
          continue
        }
        #expect(match.map { matches.contains($0) } ?? true, "\(zone): \(matches)")
        #expect(world.users == before)
        #expect(world.rows.last?.reason == "unknown_zone")
      }
    }
    var world = World()
    #expect(world.apply(.timezoneSet(ZoneSetting("US/Eastern")), at: 1).refusal == nil)
  }

  /// L3: the ledger is its own: no choice of a category is in it, and its trail is a kind of its own.
  @Test func smsConsentIsALedgerOfItsOwn() {
    var world = World()
    world.apply(.choiceSet(.account, .marketing, .userOn), at: 1)
    #expect(world.users["u-1"]?.account.sms == nil)
    world.apply(.smsConsentSet(.userOn), at: 2)
    world.apply(.smsConsentSet(.userOff), at: 4)
    #expect(world.apply(.smsConsentSet(.userOn), at: 3).outcome == .late)
    #expect(
      world.rows.filter { $0.kind == .smsConsent }.map(\.outcome) == [.applied, .applied, .late])
    let facts = documentFacts(world.document()!)
    #expect(facts["account.sms.state"] == "user-off")
    #expect(facts["account.categories.marketing.state"] == "user-on")
    #expect(AuditHistory.smsConsent(world.rows, atMs: at(3)).state == .userOn)
    #expect(AuditHistory.smsConsent(world.rows, atMs: at(3)).sinceMs == at(3))
    #expect(AuditHistory.smsConsent(world.rows, atMs: at(3), recordedByMs: 0).state == .unset)
    #expect(AuditHistory.smsConsent(world.rows, atMs: at(4)).state == .userOff)
  }

  /// A choice on a device that is not there yet is kept for when it is, and the audit says so.
  @Test func choicesMayComeBeforeTheirDevice() {
    var world = World()
    world.apply(.choiceSet(.device("d-1"), .social, .userOff), at: 2)
    #expect(world.rows.last?.reason == "device_not_present")
    #expect(documentFacts(world.document()!) == ["user_id": "u-1"])
    world.apply(.deviceSeen("d-1", sync(), nil), at: 1, source: nil)
    #expect(
      documentFacts(world.document()!)["devices.d-1.categories.social.state"] == "user-off")
  }

  @Test func observedBecomesAReceiptAndNothingElse() {
    var world = World()
    world.apply(.deviceSeen("d-1", sync(), nil), at: 1, source: nil)
    let before = (world.users, world.rows.count)
    let seen = world.apply(.userObserved(notificationID: "n-1", "d-1", .tap), at: 2, source: nil)
    #expect(seen.outcome == .unchanged && world.users == before.0 && world.rows.count == before.1)
    #expect(
      ReceiptDocument.text(seen.observed!)
        == #"{"notification_id":"n-1","device_id":"d-1","user_id":"u-1","event":"user_observed","via":"tap","at":"\#(Instant.text(at(2)))"}"#
    )
  }

  /// A phone that is some minutes ahead does not keep its user from being erased; who came back is.
  @Test func erasureAndClocks() {
    for (laterMs, isGone) in [(0, true), (300_000, true), (300_001, false)] as [(Int64, Bool)] {
      var world = World()
      world.apply(
        PreferenceEvent(
          eventID: "a", userID: "u-1", atMs: at(1) + laterMs, source: .inAppSettings,
          body: .choiceSet(.account, .social, .userOff)))
      let erasure = world.apply(.userErased, at: 1, source: nil)
      #expect(erasure.isErased == isGone)
      #expect((world.users["u-1"] == nil) == isGone)
      #expect(world.erased["u-1"] == at(1) + (isGone ? laterMs : 0))
      // What is left is published behind the tombstone, though it says what it said before.
      let last = world.published.suffix(isGone ? 1 : 2).map(\.document)
      #expect(last == [nil] + (isGone ? [] : [PreferenceDocument.text(world.users["u-1"]!)]))
      #expect(isGone || world.users["u-1"]?.version == 2)
    }
  }
}

/// Defaults: C3, C4 and the refusal of C6.
@Suite struct DefaultsTests {
  private func event(_ category: Category, _ value: CategoryDefault?, at step: Int) -> DefaultEvent
  {
    DefaultEvent(eventID: "d", atMs: at(step), category: category, value: value)
  }

  private let on = CategoryDefault(isOn: true, isOnWhereRegulated: true)
  private let off = CategoryDefault(isOn: false, isOnWhereRegulated: false)

  @Test func theLatestCountsAndAnEqualTimeTheStricter() {
    var state = DefaultsState()
    func apply(_ event: DefaultEvent) -> DefaultsTransition {
      let transition = testMachine.apply(event, to: state, nowMs: testNow)
      state = transition.state ?? state
      return transition
    }
    #expect(apply(event(.social, on, at: 2)).outcome == .applied)
    #expect(apply(event(.social, off, at: 1)).outcome == .late)
    #expect(apply(event(.social, on, at: 2)).rows.isEmpty)
    let stricter = apply(event(.social, off, at: 2))
    #expect(stricter.outcome == .applied)
    #expect(
      stricter.record?.text
        == #"{"category":"social","default":"off","regulated_default":"off"}"#)
    #expect(apply(event(.social, on, at: 2)).outcome == .late)
    let confirmed = apply(event(.social, off, at: 3))
    #expect(confirmed.outcome == .confirmed && confirmed.record == nil)
    let back = apply(event(.social, nil, at: 4))
    #expect(back.record == DefaultsTransition.Record(category: .social, text: nil))
    #expect(back.rows.map(\.after) == ["policy"])
  }

  /// What is said now takes the place of what a fast clock dated ahead, or this one before it was set
  /// back.
  @Test(arguments: [300_000, 3_600_000] as [Int64])
  func whatIsSaidNowIsNeverLate(heldAheadMs: Int64) {
    for value in [on, nil] {
      for isOfNow in [true, false] {
        var state = DefaultsState()
        state.entries[.social] = DefaultsState.Entry(value: off, atMs: at(1) + heldAheadMs)
        let event = DefaultEvent(
          eventID: "d", atMs: at(1), isOfNow: isOfNow, category: .social, value: value)
        let transition = testMachine.apply(event, to: state, nowMs: at(1))
        #expect(transition.outcome == (isOfNow ? .applied : .late))
        let entry = DefaultsState.Entry(value: value, atMs: at(1) + heldAheadMs + 1)
        #expect(transition.state?.entries[.social] == (isOfNow ? entry : nil))
      }
    }
  }

  @Test func securityIsNeverOffByDefault() {
    for isOn in [true, false] {
      for isOnWhereRegulated in [true, false] {
        let value = CategoryDefault(isOn: isOn, isOnWhereRegulated: isOnWhereRegulated)
        let transition = testMachine.apply(
          event(.security, value, at: 1), to: DefaultsState(), nowMs: testNow)
        let isRefused = !isOn || !isOnWhereRegulated
        #expect((transition.refusal == .securityDefaultOff) == isRefused)
        #expect((transition.record == nil) == isRefused)
        #expect(transition.rows.map(\.outcome) == [isRefused ? .refused : .applied])
      }
    }
  }
}
