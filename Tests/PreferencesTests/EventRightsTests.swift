import Gate
import Testing

@testable import Preferences

/// The table of docs/preferences-api.md.
@Suite struct EventRightsTests {
  private static let ofApps: [EventBody] = [
    .choiceSet(.account, .social, .userOff), .linkUndone(.social),
    .subtypeMuteSet(Subtype(.social, "like"), isMuted: true), .quietHoursSet(.account, .none),
    .timezoneSet(ZoneSetting("UTC")), .smsConsentSet(.userOn), .deviceSeen("d", sync(), nil),
    .deviceRemoved("d"), .permissionPromptShown("d", moment: "m"),
    .userObserved(notificationID: "n", "d", .tap),
  ]
  private static let ofSupport: [EventBody] = [
    .suppressionSet(.account, .legalHold), .suppressionCleared(.account, .legalHold),
  ]
  private static let ofAdmins: [EventBody] = [
    .tokenFeedback("d", .apns, code: "Unregistered"), .userErased,
  ]

  @Test func everyRoleSaysItsOwn() {
    for (bodies, role) in [
      (Self.ofApps, Role.app), (Self.ofSupport, .support), (Self.ofAdmins, .admin),
    ] {
      for body in bodies {
        let event = PreferenceEvent(
          eventID: "e", userID: "u-1", atMs: at(0), source: .inAppSettings, body: body)
        for asking in Role.allCases {
          let isAllowed = asking == role || asking == .admin
          let denial = EventRights.denial(asking, event)
          #expect((denial == nil) == isAllowed, "\(asking) \(body)")
          #expect(isAllowed || denial?.member == (asking == .selftest ? "user_id" : "type"))
          var reserved = event
          reserved.userID = "sendgate-selftest.active"
          let isOwn = asking == .selftest || asking == .admin
          #expect((EventRights.denial(asking, reserved) == nil) == isOwn, "\(asking) \(body)")
          #expect(isOwn || EventRights.denial(asking, reserved)?.member == "user_id")
        }
        var override = event
        override.source = .adminOverride
        #expect(EventRights.denial(.app, override)?.member == "source")
        #expect(EventRights.denial(.support, override)?.member == "source")
        #expect(EventRights.denial(.admin, override) == nil)
      }
    }
  }
}
