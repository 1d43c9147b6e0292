import Gate
import Testing

@testable import Preferences

/// Every type of event, and every member that can be wrong.
@Suite struct DecoderTests {
  private static let head = #""event_id":"e-1","user_id":"u-1","at":"2026-03-09T12:00:00Z""#
  private static let atMs = instantMs("2026-03-09T12:00:00Z")

  static let good: [(String, ChoiceSource?, EventBody)] = [
    (
      #""type":"choice_set","source":"in_app_settings","scope":"account","category":"marketing","state":"user-on""#,
      .inAppSettings, .choiceSet(.account, .marketing, .userOn)
    ),
    (
      #""type":"choice_set","source":"admin_override","scope":"device","device_id":"d-1","category":"security","state":"user-off""#,
      .adminOverride, .choiceSet(.device("d-1"), .security, .userOff)
    ),
    (
      #""type":"choice_set","source":"os_settings_sync","scope":"account","device_id":null,"category":"social","state":"default""#,
      .osSettingsSync, .choiceSet(.account, .social, .unset)
    ),
    (
      #""type":"unsubscribe_undone","source":"unsubscribe_link","category":"social""#,
      .unsubscribeLink, .linkUndone(.social)
    ),
    (
      #""type":"subtype_mute_set","source":"in_app_settings","category":"social","subtype":"like","muted":true"#,
      .inAppSettings, .subtypeMuteSet(Subtype(.social, "like"), isMuted: true)
    ),
    (
      #""type":"quiet_hours_set","source":"in_app_settings","scope":"account","quiet_hours":{"start":"22:00","end":"08:00"}"#,
      .inAppSettings,
      .quietHoursSet(.account, .window(startMinute: 1320, endMinute: 480, days: 0x7F))
    ),
    (
      #""type":"quiet_hours_set","source":"in_app_settings","scope":"account","quiet_hours":{"start":"00:00","end":"24:00","days":["mon","sun"]}"#,
      .inAppSettings,
      .quietHoursSet(.account, .window(startMinute: 0, endMinute: 1440, days: 0x41))
    ),
    (
      #""type":"quiet_hours_set","source":"in_app_settings","scope":"device","device_id":"d-1","quiet_hours":null"#,
      .inAppSettings, .quietHoursSet(.device("d-1"), .none)
    ),
    (
      #""type":"quiet_hours_set","source":"in_app_settings","scope":"device","device_id":"d-1","quiet_hours":"inherit""#,
      .inAppSettings, .quietHoursSet(.device("d-1"), .inherited)
    ),
    (
      #""type":"timezone_set","source":"in_app_settings","timezone":"Asia/Shanghai""#,
      .inAppSettings, .timezoneSet(ZoneSetting("Asia/Shanghai"))
    ),
    (
      #""type":"timezone_set","source":"in_app_settings","timezone":null"#, .inAppSettings,
      .timezoneSet(ZoneSetting(nil))
    ),
    (
      #""type":"sms_consent_set","source":"in_app_settings","state":"user-off""#, .inAppSettings,
      .smsConsentSet(.userOff)
    ),
    (
      #""type":"device_seen","device_id":"d-1","platform":"android","os_permission":"denied""#, nil,
      .deviceSeen(
        "d-1", DeviceSync(platform: .android, osPermission: .denied, timezone: nil, region: nil),
        nil)
    ),
    (
      #""type":"device_seen","device_id":"d-1","platform":"ios","os_permission":"provisional","token_status":"revoked","timezone":"Europe/Berlin","region":"XK""#,
      nil,
      .deviceSeen(
        "d-1",
        DeviceSync(
          platform: .ios, osPermission: .provisional, timezone: "Europe/Berlin", region: "XK"),
        .revoked)
    ),
    (#""type":"device_removed","device_id":"d-1""#, nil, .deviceRemoved("d-1")),
    (
      #""type":"suppression_set","scope":"account","suppression":"legal_hold""#, nil,
      .suppressionSet(.account, .legalHold)
    ),
    (
      #""type":"suppression_cleared","scope":"device","device_id":"d-1","suppression":"bounced""#,
      nil, .suppressionCleared(.device("d-1"), .bounced)
    ),
    (
      #""type":"permission_prompt_shown","device_id":"d-1","moment":"order_placed""#, nil,
      .permissionPromptShown("d-1", moment: "order_placed")
    ),
    (
      #""type":"token_feedback","device_id":"d-1","provider":"apns","code":"Unregistered""#, nil,
      .tokenFeedback("d-1", .apns, code: "Unregistered")
    ),
    (#""type":"user_erased""#, nil, .userErased),
    (
      #""type":"user_observed","notification_id":"n-1","device_id":"d-1","via":"badge_clear""#, nil,
      .userObserved(notificationID: "n-1", "d-1", .badgeClear)
    ),
  ]

  @Test(arguments: good.indices)
  func reads(_ index: Int) throws {
    let (members, source, body) = Self.good[index]
    let event = try EventDecoder.decode("{\(Self.head),\(members),\"x_other\":[1]}")
    #expect(
      event
        == .user(
          PreferenceEvent(
            eventID: "e-1", userID: "u-1", atMs: Self.atMs, source: source, body: body)))
  }

  @Test func readsDefaults() throws {
    let head = #""event_id":"e-1","type":"default_set","at":1773057600000,"category":"marketing""#
    #expect(
      try EventDecoder.decode(#"{\#(head),"default":"on","regulated_default":"off"}"#)
        == .defaults(
          DefaultEvent(
            eventID: "e-1", atMs: Self.atMs, category: .marketing,
            value: CategoryDefault(isOn: true, isOnWhereRegulated: false))))
    #expect(
      try EventDecoder.decode(#"{\#(head),"default":null}"#)
        == .defaults(
          DefaultEvent(eventID: "e-1", atMs: Self.atMs, category: .marketing, value: nil)))
    expectFault(#"{\#(head),"default":"on"}"#, .missing, "regulated_default")
    expectFault(#"{\#(head),"default":true,"regulated_default":"on"}"#, .wrongType, "default")
  }

  static let choice =
    #"{"event_id":"e-1","user_id":"u-1","at":"2026-03-09T12:00:00Z","type":"choice_set","source":"in_app_settings","scope":"account","category":"marketing","state":"user-on"}"#

  /// Replaces a member's text, takes it out, or puts one in.
  static let faults: [(change: (String, String), EventFault.Code, String)] = [
    ((#""event_id":"e-1","#, ""), .missing, "event_id"),
    ((#""e-1""#, #""""#), .malformedID, "event_id"),
    ((#""u-1""#, "7"), .wrongType, "user_id"),
    ((#""u-1""#, "null"), .missing, "user_id"),
    ((#""u-1""#, #""a\u0000b""#), .malformedID, "user_id"),
    ((#""u-1""#, "\"\(String(repeating: "é", count: 65))\""), .malformedID, "user_id"),
    ((#""choice_set""#, #""choice_sets""#), .unknownType, "type"),
    ((#""choice_set""#, "null"), .missing, "type"),
    ((#""2026-03-09T12:00:00Z""#, #""2026-03-09T12:00:00""#), .malformedInstant, "at"),
    ((#""2026-03-09T12:00:00Z""#, #""1999-12-31T23:59:59Z""#), .malformedInstant, "at"),
    // C099: seconds, microseconds, and milliseconds as text.
    ((#""2026-03-09T12:00:00Z""#, "1773057600"), .malformedInstant, "at"),
    ((#""2026-03-09T12:00:00Z""#, "1773057600000000"), .malformedInstant, "at"),
    ((#""2026-03-09T12:00:00Z""#, #""1773057600000""#), .malformedInstant, "at"),
    ((#""2026-03-09T12:00:00Z""#, "1.7730576e12"), .malformedInstant, "at"),
    ((#""source":"in_app_settings","#, ""), .missing, "source"),
    // C078: a link that was merely fetched is no way to choose.
    ((#""in_app_settings""#, #""link_get""#), .unknownValue, "source"),
    ((#""in_app_settings""#, #""In_App_Settings""#), .unknownValue, "source"),
    ((#""account""#, #""accounts""#), .unknownValue, "scope"),
    ((#""account""#, #""device""#), .missing, "device_id"),
    ((#""scope":"account""#, #""scope":"account","device_id":"d-1""#), .contradictory, "device_id"),
    ((#""marketing""#, #""promo""#), .unknownValue, "category"),
    ((#""marketing""#, #""Marketing""#), .unknownValue, "category"),
    // C135: a trailing blank.
    ((#""user-on""#, #""user-off ""#), .unknownValue, "state"),
    ((#""user-on""#, "true"), .wrongType, "state"),
    ((#""user-on""#, "null"), .missing, "state"),
    ((#""state":"user-on"}"#, #""state":"user-on","state":"user-off"}"#), .malformedJSON, ""),
    ((#""state":"user-on"}"#, #""state":"user-on"}{}"#), .malformedJSON, ""),
    ((#""state":"user-on"}"#, #""state":"user-on""#), .malformedJSON, ""),
  ]

  @Test(arguments: faults.indices)
  func refuses(_ index: Int) {
    let (change, code, member) = Self.faults[index]
    let parts = Self.choice.split(separator: change.0, omittingEmptySubsequences: false)
    #expect(parts.count == 2, "\(change.0) does not stand there once")
    expectFault(parts.joined(separator: change.1), code, member)
  }

  static let otherFaults: [(String, EventFault.Code, String)] = [
    (
      #""type":"quiet_hours_set","source":"in_app_settings","scope":"account""#, .missing,
      "quiet_hours"
    ),
    (
      #""type":"quiet_hours_set","source":"in_app_settings","scope":"account","quiet_hours":"inherit""#,
      .wrongType, "quiet_hours"
    ),
    (
      #""type":"quiet_hours_set","source":"in_app_settings","scope":"account","quiet_hours":{"end":"08:00"}"#,
      .missing, "quiet_hours.start"
    ),
    (
      #""type":"quiet_hours_set","source":"in_app_settings","scope":"account","quiet_hours":{"start":"24:00","end":"08:00"}"#,
      .malformedWindow, "quiet_hours.start"
    ),
    (
      #""type":"quiet_hours_set","source":"in_app_settings","scope":"account","quiet_hours":{"start":"22:00","end":"8:00"}"#,
      .malformedWindow, "quiet_hours.end"
    ),
    (
      #""type":"quiet_hours_set","source":"in_app_settings","scope":"account","quiet_hours":{"start":"22:00","end":"08:00","days":["Mon"]}"#,
      .malformedWindow, "quiet_hours.days"
    ),
    (
      #""type":"quiet_hours_set","source":"in_app_settings","scope":"account","quiet_hours":{"start":"22:00","end":"08:00","days":"mon"}"#,
      .wrongType, "quiet_hours.days"
    ),
    (#""type":"timezone_set","source":"in_app_settings""#, .missing, "timezone"),
    (
      #""type":"subtype_mute_set","source":"in_app_settings","category":"social","subtype":"like","muted":"true""#,
      .wrongType, "muted"
    ),
    (
      #""type":"subtype_mute_set","source":"in_app_settings","category":"social","subtype":"","muted":true"#,
      .malformedID, "subtype"
    ),
    // No control characters: PostgreSQL cannot keep U+0000.
    (
      #""type":"subtype_mute_set","source":"in_app_settings","category":"social","subtype":"a\u0000b","muted":true"#,
      .malformedID, "subtype"
    ),
    (
      #""type":"permission_prompt_shown","device_id":"d-1","moment":"a\u0085b""#, .malformedID,
      "moment"
    ),
    (
      #""type":"timezone_set","source":"in_app_settings","timezone":"UTC\u0000""#, .malformedID,
      "timezone"
    ),
    (
      #""type":"device_seen","device_id":"d-1","platform":"ios","os_permission":"granted","timezone":"\u001f""#,
      .malformedID, "timezone"
    ),
    (
      #""type":"token_feedback","device_id":"d-1","provider":"apns","code":"a\u007f""#,
      .malformedID, "code"
    ),
    (#""type":"device_seen","platform":"ios","os_permission":"granted""#, .missing, "device_id"),
    (
      #""type":"device_seen","device_id":"d-1","platform":"web","os_permission":"granted""#,
      .unknownValue, "platform"
    ),
    (
      #""type":"device_seen","device_id":"d-1","platform":"ios","os_permission":"undetermined""#,
      .unknownValue, "os_permission"
    ),
    (
      #""type":"device_seen","device_id":"d-1","platform":"ios","os_permission":"granted","region":"us""#,
      .unknownValue, "region"
    ),
    (
      #""type":"device_seen","device_id":"d-1","platform":"ios","os_permission":"granted","token_status":"dead""#,
      .unknownValue, "token_status"
    ),
    (
      #""type":"suppression_set","scope":"account","suppression":"spam""#, .unknownValue,
      "suppression"
    ),
    (
      #""type":"token_feedback","device_id":"d-1","provider":"wns","code":"x""#, .unknownValue,
      "provider"
    ),
    (
      #""type":"user_observed","notification_id":"n-1","device_id":"d-1","via":"sight""#,
      .unknownValue, "via"
    ),
    (
      #""type":"unsubscribe_undone","source":"in_app_settings","category":"social""#, .unknownValue,
      "source"
    ),
  ]

  @Test(arguments: otherFaults.indices)
  func refusesInOtherTypes(_ index: Int) {
    let (members, code, member) = Self.otherFaults[index]
    expectFault("{\(Self.head),\(members)}", code, member)
  }

  @Test func namesWhatIsNoEventAtAll() {
    expectFault("[]", .malformedJSON, "")
    expectFault("", .malformedJSON, "")
    expectFault(String(repeating: " ", count: EventDecoder.bytesMax + 1), .tooLarge, "")
    let deep = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
    expectFault("{\(Self.head),\"x\":\(deep)}", .malformedJSON, "")
  }

  /// What cannot be read can still be put on record where its user can.
  @Test func faultsCarryTheIds() {
    do {
      _ = try EventDecoder.decode(#"{\#(Self.head),"type":"x"}"#)
      Issue.record("was read")
    } catch {
      #expect(error.userID == "u-1")
      #expect(error.eventID == "e-1")
      #expect(error.description.contains("choice_set"))
    }
  }

  private func expectFault(
    _ text: String, _ code: EventFault.Code, _ member: String,
    _ location: SourceLocation = #_sourceLocation
  ) {
    do {
      _ = try EventDecoder.decode(text)
      Issue.record("was read: \(text)", sourceLocation: location)
    } catch {
      #expect(error.code == code, "\(text)", sourceLocation: location)
      #expect(error.member == member, "\(text)", sourceLocation: location)
    }
  }
}

/// Receipts of dispatchers (requirements R3), by the providers' own names.
@Suite struct ReceiptReaderTests {
  static let table: [(String, Bool)] = [
    (#""provider":"apns","status":"rejected","code":"Unregistered""#, true),
    (#""provider":"apns","status":"rejected","code":"BadDeviceToken""#, true),
    (#""provider":"apns","status":"rejected","code":"DeviceTokenNotForTopic""#, true),
    (#""provider":"fcm","status":"rejected","code":"UNREGISTERED""#, true),
    (#""provider":"fcm","status":"rejected","code":"SENDER_ID_MISMATCH""#, true),
    (#""provider":"fcm","status":"rejected","code":"INVALID_ARGUMENT""#, true),
    (#""provider":"fcm","status":"rejected","code":"Unregistered""#, false),
    (#""provider":"apns","status":"rejected","code":"UNREGISTERED""#, false),
    (#""provider":"apns","status":"rejected","code":"TooManyRequests""#, false),
    (#""provider":"apns","status":"accepted","code":"Unregistered""#, false),
    (#""provider":"apns","status":"rejected","code":null"#, false),
    (#""event":"user_observed","via":"tap""#, false),
    (
      #""provider":"apns","status":"rejected","code":"Unregistered","event":"user_observed""#, false
    ),
  ]

  @Test(arguments: table.indices)
  func reads(_ index: Int) {
    let (members, isFeedback) = Self.table[index]
    let receipt =
      #"{"notification_id":"n-1","device_id":"d-1","user_id":"u-1","at":1773057600000,\#(members)}"#
    let event = withBytes(receipt) { ReceiptReader.event($0, eventID: "receipts/0/1") }
    #expect((event != nil) == isFeedback)
    if let event {
      #expect(event.userID == "u-1")
      #expect(event.deviceID == "d-1")
      #expect(event.atMs == 1_773_057_600_000)
    }
  }

  @Test func whatIsNoReceiptSaysNothing() {
    for text in ["", "[]", "{}", #"{"status":"rejected"}"#] {
      #expect(withBytes(text) { ReceiptReader.event($0, eventID: "r") } == nil)
    }
  }
}
