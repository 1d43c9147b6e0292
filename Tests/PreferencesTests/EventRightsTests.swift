import Gate
import Testing

@testable import Preferences

/// The table of docs/preferences-api.md.
@Suite struct EventRightsTests {
  private static func ofApps(_ device: Identifier) -> [EventBody] {
    [
      .choiceSet(.account, .social, .userOff), .choiceSet(.device(device), .social, .userOff),
      .linkUndone(.social), .subtypeMuteSet(Subtype(.social, "like"), isMuted: true),
      .quietHoursSet(.account, .none), .timezoneSet(ZoneSetting("UTC")), .smsConsentSet(.userOn),
      .deviceSeen(device, sync(), nil), .deviceRemoved(device),
      .permissionPromptShown(device, moment: "m"),
      .userObserved(notificationID: "n", device, .tap),
    ]
  }
  private static func ofSupport(_ device: Identifier) -> [EventBody] {
    [
      .suppressionSet(.account, .legalHold), .suppressionCleared(.account, .legalHold),
      .suppressionSet(.device(device), .legalHold),
    ]
  }
  private static func ofAdmins(_ device: Identifier) -> [EventBody] {
    [.tokenFeedback(device, .apns, code: "Unregistered"), .userErased]
  }

  private func event(_ user: Identifier, _ body: EventBody) -> PreferenceEvent {
    PreferenceEvent(eventID: "e", userID: user, atMs: at(0), source: .inAppSettings, body: body)
  }

  @Test func everyRoleSaysItsOwn() {
    for (bodies, role) in [
      (Self.ofApps("d"), Role.app), (Self.ofSupport("d"), .support), (Self.ofAdmins("d"), .admin),
    ] {
      for body in bodies {
        let event = event("u-1", body)
        for asking in Role.allCases {
          let isAllowed = asking == role || asking == .admin
          let denial = EventRights.denial(asking, event)
          #expect((denial == nil) == isAllowed, "\(asking) \(body)")
          #expect(isAllowed || denial?.member == (asking == .selftest ? "user_id" : "type"))
        }
        var override = event
        override.source = .adminOverride
        #expect(EventRights.denial(.app, override)?.member == "source")
        #expect(EventRights.denial(.support, override)?.member == "source")
        #expect(EventRights.denial(.admin, override) == nil)
      }
    }
  }

  /// Nobody's users and devices go together: a device named is a device that may be taken.
  @Test func theSelfTestsUsersAndDevicesAreItsOwn() {
    let (user, device) = (Identifier("sendgate-selftest.active"), Identifier("sendgate-selftest.d"))
    for ofDevice in [Self.ofApps, Self.ofSupport, Self.ofAdmins] {
      for (own, real) in zip(ofDevice(device), ofDevice("d")) {
        for asking in Role.allCases {
          let isOwn = asking == .selftest || asking == .admin
          let denial = EventRights.denial(asking, event(user, own))
          #expect((denial == nil) == isOwn, "\(asking) \(own)")
          #expect(isOwn || denial?.member == "user_id")
        }
        guard own != real else { continue }
        #expect(EventRights.denial(.selftest, event(user, real))?.member == "device_id", "\(real)")
        #expect(EventRights.denial(.app, event("u-1", own))?.member == "device_id", "\(own)")
        #expect(EventRights.denial(.support, event("u-1", own))?.member == "device_id", "\(own)")
        #expect(EventRights.denial(.admin, event("u-1", own)) == nil)
      }
    }
  }
}
