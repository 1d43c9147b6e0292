import Gate
import Testing

@testable import Preferences

/// Whose a device is, what it says of itself, and what providers say of its token.
@Suite struct DeviceTests {
  /// D1: the later account has it, both audits say so, and the loser's document goes out first.
  @Test func aDeviceGoesToWhoRegistersItLast() {
    var world = World()
    world.apply(.deviceSeen("d-1", sync(), .active), at: 1, user: "u-1", source: nil)
    world.apply(.choiceSet(.device("d-1"), .social, .userOff), at: 2, user: "u-1")
    let published = world.published.count
    world.apply(.deviceSeen("d-1", sync(), .active), at: 3, user: "u-2", source: nil)

    #expect(world.published[published...].map(\.user) == ["u-1", "u-2"])
    #expect(documentFacts(world.document("u-1")!)["devices.d-1.device_id"] == nil)
    #expect(documentFacts(world.document("u-2")!)["devices.d-1.device_id"] == "d-1")
    #expect(world.devices["d-1"]?.holder == "u-2")
    let last = world.rows.filter { $0.atMs == at(3) && $0.kind != .deviceSync }
    #expect(last.map(\.kind) == [.deviceLost, .deviceClaimed])
    #expect(last.map(\.userID) == ["u-1", "u-2"])
    #expect(last.map(\.before) == ["held", nil])
    #expect(last.map(\.after) == ["elsewhere", "held"])
    // The one who lost it is not told who has it.
    #expect(!AuditDocument.text(last[0]).contains("u-2"))

    // Back again: the opt-out made there still stands.
    world.apply(.deviceSeen("d-1", sync(), .active), at: 4, user: "u-1", source: nil)
    let facts = documentFacts(world.document("u-1")!)
    #expect(facts["devices.d-1.categories.social.state"] == "user-off")
    #expect(documentFacts(world.document("u-2")!)["devices.d-1.device_id"] == nil)
  }

  @Test func anEarlierClaimThatComesLateTakesNothing() {
    var world = World()
    world.apply(.deviceSeen("d-1", sync(), .active), at: 3, user: "u-2", source: nil)
    let late = world.apply(.deviceSeen("d-1", sync(), .active), at: 2, user: "u-1", source: nil)
    #expect(late.holder == nil && late.device == nil)
    #expect(world.devices["d-1"]?.holder == "u-2")
    #expect(world.rows.last { $0.kind == .deviceClaimed }?.outcome == .late)
    #expect(documentFacts(world.document("u-1")!)["devices.d-1.device_id"] == nil)
  }

  /// After an erasure the device is nobody's, and an older claim does not come back.
  @Test func anErasedHoldersClaimStands() {
    var world = World()
    world.apply(.deviceSeen("d-1", sync(), .active), at: 3, user: "u-2", source: nil)
    world.apply(.userErased, at: 4, user: "u-2", source: nil)
    #expect(world.devices["d-1"] == SharedDevice(deviceID: "d-1", claimedAtMs: at(3)))
    world.apply(.deviceSeen("d-1", sync(), .active), at: 2, user: "u-1", source: nil)
    #expect(world.devices["d-1"]?.holder == nil)
    world.apply(.deviceSeen("d-1", sync(), .active), at: 5, user: "u-1", source: nil)
    #expect(world.devices["d-1"]?.holder == "u-1")
  }

  @Test func aRemovedDeviceLeavesTheDocument() {
    var world = World()
    world.apply(.deviceSeen("d-1", sync(), .active), at: 1, source: nil)
    #expect(world.apply(.deviceRemoved("d-1"), at: 2, source: nil).outcome == .applied)
    #expect(world.rows.last?.after == "removed")
    #expect(documentFacts(world.document()!)["devices.d-1.device_id"] == nil)
    #expect(world.apply(.deviceRemoved("d-1"), at: 2, source: nil).outcome == .unchanged)
    #expect(world.apply(.deviceRemoved("d-1"), at: 1, source: nil).outcome == .late)
    // A sync of before the removal that comes after it.
    #expect(world.apply(.deviceSeen("d-1", sync(), nil), at: 1, source: nil).outcome == .unchanged)
    #expect(documentFacts(world.document()!)["devices.d-1.device_id"] == nil)
    #expect(world.apply(.deviceSeen("d-1", sync(), nil), at: 3, source: nil).outcome == .applied)
    #expect(documentFacts(world.document()!)["devices.d-1.device_id"] == "d-1")
  }

  /// The sync is one group: what it leaves out is unknown now, and what comes late changes none of it.
  @Test func aSyncSetsTheWholeGroup() {
    var world = World()
    world.apply(
      .deviceSeen("d-1", sync(.granted, zone: "Europe/Berlin", region: "DE"), nil), at: 2,
      source: nil)
    let late = world.apply(
      .deviceSeen("d-1", sync(.denied, zone: "Asia/Shanghai", region: "CN"), nil), at: 1,
      source: nil)
    #expect(late.outcome == .late)
    #expect(late.rows.map(\.after) == ["ios denied Asia/Shanghai CN"])
    #expect(late.rows.map(\.before) == ["ios granted Europe/Berlin DE"])
    #expect(documentFacts(world.document()!)["devices.d-1.timezone"] == "Europe/Berlin")

    let again = world.apply(
      .deviceSeen("d-1", sync(.granted, zone: "Europe/Berlin", region: "DE"), nil), at: 3,
      source: nil)
    #expect(again.outcome == .confirmed)
    #expect(again.rows.isEmpty && again.userDocument == nil, "nothing that the gate reads changed")

    world.apply(.deviceSeen("d-1", sync(.denied, region: nil), nil), at: 4, source: nil)
    let facts = documentFacts(world.document()!)
    #expect(facts["devices.d-1.os_permission"] == "denied")
    #expect(facts["devices.d-1.timezone"] == nil && facts["devices.d-1.region"] == nil)
  }

  static let codes: [(PushProvider, String, token: String, suppression: String?)] = [
    (.apns, "Unregistered", "expired", nil), (.apns, "BadDeviceToken", "expired", nil),
    (.apns, "DeviceTokenNotForTopic", "expired", nil), (.fcm, "UNREGISTERED", "expired", nil),
    (.fcm, "SENDER_ID_MISMATCH", "active", "set"), (.fcm, "INVALID_ARGUMENT", "active", "set"),
    (.apns, "TooManyRequests", "active", nil), (.fcm, "UNAVAILABLE", "active", nil),
    (.fcm, "Unregistered", "active", nil), (.apns, "UNREGISTERED", "active", nil),
  ]

  /// R3, code by code, at the token's own time and before and after it.
  @Test(arguments: codes.indices)
  func providersCodes(_ index: Int) {
    let (provider, code, token, suppression) = Self.codes[index]
    for (step, counts) in [(1, false), (2, true), (3, true)] {
      var world = World()
      world.apply(.deviceSeen("d-1", sync(), .active), at: 2, source: nil)
      world.apply(.tokenFeedback("d-1", provider, code: code), at: step, source: nil)
      let facts = documentFacts(world.document()!)
      #expect(facts["devices.d-1.token_status"] == (counts ? token : "active"), "\(step)")
      #expect(facts["devices.d-1.suppressions.bounced"] == suppression, "\(step)")
    }
  }

  @Test func feedbackDoesNotBringAnErasedUserBack() {
    var world = World()
    world.apply(.deviceSeen("d-1", sync(), .active), at: 1, source: nil)
    world.apply(.userErased, at: 2, source: nil)
    world.apply(.tokenFeedback("d-1", .apns, code: "Unregistered"), at: 3, source: nil)
    world.apply(.permissionPromptShown("d-1", moment: "order_placed"), at: 3, source: nil)
    world.apply(.deviceRemoved("d-1"), at: 3, source: nil)
    world.apply(.suppressionCleared(.account, .bounced), at: 3, source: nil)
    let seen = world.apply(
      .userObserved(notificationID: "n-1", "d-1", .tap), at: 3, source: nil)
    #expect(seen.observed == nil)
    #expect(world.users.isEmpty && world.rows.isEmpty)
    #expect(world.published.last?.document == nil)
  }

  /// The document takes 64, those seen last; 256 are kept, and for one more the one goes that has been
  /// away for longest, so that nobody is ever kept from registering.
  @Test func moreDevicesThanADocumentHas() {
    var world = World()
    for number in 0..<70 {
      world.apply(.deviceSeen(Identifier("d-\(number)"), sync(), nil), at: number, source: nil)
    }
    let ids = documentFacts(world.document()!).filter { $0.key.hasSuffix(".device_id") }.values
    #expect(Set(ids) == Set((6..<70).map { "d-\($0)" }))
    for number in 70..<PreferenceMachine.devicesMax {
      world.apply(.deviceSeen(Identifier("d-\(number)"), sync(), nil), at: number, source: nil)
    }
    world.apply(.deviceRemoved("d-200"), at: 300, source: nil)
    world.apply(.deviceRemoved("d-150"), at: 310, source: nil)
    world.apply(.deviceSeen("d-100", sync(), nil), at: 320, user: "u-2", source: nil)
    for (step, gone) in ["d-100", "d-200", "d-150", "d-0", "d-1"].enumerated() {
      let id = Identifier("more-\(step)")
      #expect(
        world.apply(.deviceSeen(id, sync(), nil), at: 1_000 + step, source: nil).refusal == nil)
      let user = world.users["u-1"]!
      #expect(user.devices.count == PreferenceMachine.devicesMax)
      #expect(user.devices[id]?.isPresent == true && user.devices[Identifier(gone)] == nil)
      let row = world.rows.last { $0.reason == "too_many_devices" }
      #expect(row?.scope == .device(Identifier(gone)) && row?.after == "forgotten")
      // Another's claim is another's; one of this user's is given up.
      #expect(world.devices[Identifier(gone)]?.holder == (gone == "d-100" ? "u-2" : nil))
    }
    // Whoever comes back to such a device begins anew there.
    world.apply(.deviceSeen("d-0", sync(), nil), at: 2_000, user: "u-2", source: nil)
    world.apply(.deviceSeen("d-0", sync(), nil), at: 2_001, source: nil)
    #expect(world.users["u-1"]?.devices["d-0"]?.isPresent == true)
  }
}

/// P1: never at first launch, only at a moment of the policy, never twice for a device.
@Suite struct PromptTests {
  private func answer(_ world: World, _ moment: Identifier = "order_placed") -> PromptAnswer {
    testMachine.mayPrompt(
      world.users["u-1"]?.devices["d-1"], shared: world.devices["d-1"], moment: moment)
  }

  @Test func whenItMayBeShown() {
    var world = World()
    #expect(answer(world) == .nothing(.unknownDevice))
    world.apply(.deviceSeen("d-1", sync(.denied), nil), at: 0, source: nil)
    #expect(answer(world) == .nothing(.firstLaunch))
    world.apply(
      PreferenceEvent(
        eventID: "again", userID: "u-1", atMs: at(0) + 299_999,
        body: .deviceSeen("d-1", sync(.denied), nil)))
    #expect(answer(world) == .nothing(.firstLaunch), "registers once more as it starts")
    world.apply(.deviceSeen("d-1", sync(.denied), nil), at: 1, source: nil)
    #expect(answer(world) == .allowed)
    #expect(answer(world, "whim") == .nothing(.unknownMoment))
    world.apply(.deviceSeen("d-1", sync(.granted), nil), at: 2, source: nil)
    #expect(answer(world) == .nothing(.alreadyGranted))
    world.apply(.deviceSeen("d-1", sync(.provisional), nil), at: 3, source: nil)
    #expect(answer(world) == .allowed)

    let shown = world.apply(
      .permissionPromptShown("d-1", moment: "order_placed"), at: 4, source: nil)
    #expect(shown.outcome == .applied)
    #expect(shown.rows.map(\.kind) == [.promptShown] && shown.rows[0].reason == nil)
    #expect(answer(world) == .inAppPage(.alreadyPrompted))
  }

  /// That it was shown is a fact of the device: whoever signs in on it is not asked again.
  @Test func neverTwiceWhoeverUsesTheDevice() {
    var world = World()
    world.apply(.deviceSeen("d-1", sync(.denied), nil), at: 0, user: "u-2", source: nil)
    world.apply(.permissionPromptShown("d-1", moment: "whim"), at: 1, user: "u-2", source: nil)
    #expect(world.rows.last?.reason == "moment_not_in_policy")
    world.apply(.deviceSeen("d-1", sync(.denied), nil), at: 2, source: nil)
    world.apply(.deviceSeen("d-1", sync(.denied), nil), at: 3, source: nil)
    #expect(answer(world) == .inAppPage(.alreadyPrompted))
    let second = world.apply(
      .permissionPromptShown("d-1", moment: "order_placed"), at: 4, source: nil)
    #expect(second.outcome == .late)
    #expect(world.rows.last?.reason == "already_prompted")
    #expect(world.devices["d-1"]?.prompt == PromptShown(atMs: at(1), moment: "whim"))
  }

  /// Also where whoever saw it is not there (any more); nothing of that user is kept.
  @Test(arguments: [false, true]) func neverTwiceThoughItsUserIsGone(wasErased: Bool) {
    var world = World()
    if wasErased {
      world.apply(.deviceSeen("d-1", sync(.denied), nil), at: 0, user: "u-2", source: nil)
      world.apply(.userErased, at: 2, user: "u-2", source: nil)
    }
    let (rows, published) = (world.rows, world.published.count)
    let shown = world.apply(
      .permissionPromptShown("d-1", moment: "order_placed"), at: 1, user: "u-2", source: nil)
    #expect(shown.refusal == (wasErased ? .erased : .unknownUser))
    #expect(world.users["u-2"] == nil && world.devices["d-1"]?.holder == nil)
    #expect(world.rows == rows && world.published.count == published)
    world.apply(.deviceSeen("d-1", sync(.denied), nil), at: 3, source: nil)
    world.apply(.deviceSeen("d-1", sync(.denied), nil), at: 4, source: nil)
    #expect(answer(world) == .inAppPage(.alreadyPrompted))
    // The first of two stays, whoever tells of them.
    world.apply(.permissionPromptShown("d-1", moment: "whim"), at: 0, user: "u-3", source: nil)
    #expect(world.devices["d-1"]?.prompt == PromptShown(atMs: at(0), moment: "whim"))
    #expect(world.devices["d-1"]?.holder == "u-1")
  }
}
