import Testing

@testable import Gate

/// Reports from the field that concern the decision, each by its id. Windows in zones are the zone
/// suites'.
@Suite struct FieldReportDecisionTests {
  private static let noon = "2026-03-09T15:00:00Z"
  private static let berlinNight = "2026-03-09T23:30:00Z"

  private func verdicts(
    _ document: String, _ candidate: String, at now: String = noon, lane: Lane = .ordinary,
    defaults: [String] = []
  ) -> [String] {
    TestGate(lane: lane, documents: [document], defaults: defaults).decide(candidate, at: now)
      .map(\.verdict)
  }

  private func category(_ name: String, _ more: KeyValuePairs<String, String> = [:]) -> String {
    var members = candidateJSON(more)
    members.removeLast()
    return members.replacing(#""category":"social""#, with: #""category":"\#(name)""#) + "}"
  }

  /// One side of a window missing, or no window at all: one decision, no retry.
  @Test func c008_unreadableWindow() {
    for (name, verdict) in [
      ("transactional", "approved ok"), ("marketing", "dropped quiet_hours_dropped"),
      ("social", "dropped quiet_hours_dropped"),
    ] {
      let document = documentJSON(
        account: ["quiet_hours": #"{"start":"","end":"25:99"}"#], device: ["region": #""US""#])
      let decided = TestGate(documents: [document]).decide(category(name), at: Self.noon)
      #expect(decided.map(\.verdict) == [verdict], "\(name)")
      #expect(decided[0]["evidence.quiet_hours.invalid"] == .bool(true))
    }
    let document = documentJSON(account: ["quiet_hours": "7"])
    #expect(verdicts(document, category("security"), lane: .security) == ["approved ok"])
  }

  /// SMS follows the account's own opt-in, and the window like everything else.
  @Test func c012_smsPassesTheSameGate() {
    for (sms, wanted) in [
      (#"{"state":"user-on","at":"2025-10-01T09:00:00Z","source":"in_app_settings"}"#, "allowed"),
      (#"{"state":"user-on","at":"2027-10-01T09:00:00Z","source":"in_app_settings"}"#, "forbidden"),
      (#"{"state":"user-on","source":"in_app_settings"}"#, "forbidden"),
      (#"{"state":"user-on","at":"2025-10-01T09:00:00Z"}"#, "forbidden"),
      (
        #"{"state":"user-off","at":"2025-10-01T09:00:00Z","source":"in_app_settings"}"#, "forbidden"
      ),
      ("null", "forbidden"),
    ] {
      let document = documentJSON(account: ["sms": sms], device: ["region": #""US""#])
      for (asks, value) in [("true", wanted), ("false", "forbidden"), ("null", "forbidden")] {
        let decided = TestGate(documents: [document]).decide(
          category("marketing", ["sms_fallback": asks]), at: Self.noon)
        #expect(decided[0]["sms_fallback"] == .text(value), "\(sms) \(asks)")
      }
    }
    let night = documentJSON(
      account: [
        "quiet_hours": #"{"start":"22:00","end":"08:00"}"#, "timezone": #""Europe/Berlin""#,
      ],
      device: ["region": #""US""#])
    #expect(
      verdicts(night, category("marketing", ["sms_fallback": "true"]), at: Self.berlinNight)
        == ["dropped quiet_hours_dropped"])
  }

  /// An id that is no zone counts as absent: the account's, else the policy's, and the record says
  /// which. Never guessed, never a window in UTC that was meant for another zone's user alone.
  @Test func c028_c047_c048_c049_c050_c051_c052_unknownZones() {
    for zone in [
      "", "EDT", "CEST", "AEST", "CST", "China Standard Time", "America/Los Angeles", "Berlin",
      "Pacific/Vancouver", "Asia/Beijing", "america/new_york", "utc", "UTC+8", "+08:00", "Z",
      "localtime", "posixrules", "right/Europe/Paris", "posix/UTC", "Factory", "America",
      "../../etc/passwd", "/etc/localtime", "tzdata.zi", "\u{FFFD}\u{FFFD}",
    ] {
      for (account, source, name) in [
        (#""Asia/Tokyo""#, "account", "Asia/Tokyo"), ("null", "fallback", "UTC"),
        ("\"\(zone)\"", "fallback", "UTC"),
      ] {
        let document = documentJSON(
          account: ["timezone": account, "quiet_hours": #"{"start":"22:00","end":"07:00"}"#],
          device: ["timezone": "\"\(zone)\"", "region": #""US""#])
        let decided = TestGate(documents: [document]).decide(category("social"), at: Self.noon)
        #expect(decided[0]["evidence.quiet_hours.timezone_source"] == .text(source), "\(zone)")
        #expect(decided[0]["evidence.quiet_hours.timezone"] == .text(name), "\(zone)")
        // 15:00 in UTC, midnight in Tokyo.
        let isQuiet = source == "account"
        #expect(decided[0].reason == (isQuiet ? .quietHoursDropped : .ok), "\(zone)")
      }
    }
  }

  /// C053: the device's newest zone counts.
  @Test func c053_theUserMoved() {
    let document = { (zone: String) in
      documentJSON(
        account: [
          "quiet_hours": #"{"start":"22:00","end":"07:00"}"#, "timezone": #""Asia/Tokyo""#,
        ],
        device: ["timezone": "\"\(zone)\""])
    }
    let gate = TestGate(documents: [document("Europe/London")])
    let value = category("transactional")
    let first = gate.decide(value, at: "2026-02-26T02:00:00Z")[0]
    #expect(first["deliver_after"] == .text("2026-02-26T07:00:00.000Z"))
    gate.apply(document("America/Chicago"), offset: 9)
    #expect(gate.decide(value, at: "2026-02-26T02:00:00Z")[0].verdict == "approved ok")
    let later = gate.decide(value, at: "2026-02-26T07:30:00Z")[0]
    #expect(later["deliver_after"] == .text("2026-02-26T13:00:00.000Z"))
    #expect(later["preference_offset"] == .number("9"))
  }

  /// C058, C059: half-open, like windows.
  @Test func c058_c059_expiry() {
    let document = documentJSON(
      account: [
        "quiet_hours": #"{"start":"22:00","end":"07:00"}"#, "timezone": #""Europe/Berlin""#,
      ])
    let now = instant("2026-01-15T03:00:00Z") * 1000
    let ends = instant("2026-01-15T06:00:00Z") * 1000
    for (expires, verdict) in [
      (now - 1, "dropped expired"), (now, "dropped expired"),
      (now + 1, "dropped expires_in_quiet_hours"), (ends - 1, "dropped expires_in_quiet_hours"),
      (ends, "dropped expires_in_quiet_hours"), (ends + 1, "deferred quiet_hours_deferred"),
    ] {
      let value = category("transactional", ["expires_at": "\(expires)"])
      let decided = TestGate(documents: [document]).decide(Array(value.utf8), nowMs: now)
      #expect(decided.map(\.verdict) == [verdict], "\(expires - now)")
    }
  }

  /// C069: absent, null and "default" are one thing; four categories, three states, both laws.
  @Test func c069_threeStates() {
    let states = [
      nil, "null", "{}", #"{"state":null}"#, #"{"state":"default"}"#,
      #"{"state":"user-on","at":"2025-10-01T09:00:00Z","source":"in_app_settings"}"#,
      #"{"state":"user-off","at":"2025-10-01T09:00:00Z","source":"admin_override"}"#,
    ]
    for name in Category.allCases.map({ "\($0.name)" }) {
      for region in ["DE", "US"] {
        for (index, state) in states.enumerated() {
          let choices = state.map { "{\"\(name)\":\($0)}" } ?? "{}"
          for scope in ["account", "device"] {
            let document = documentJSON(
              account: ["categories": scope == "account" ? choices : "null"],
              device: [
                "categories": scope == "device" ? choices : "null", "region": "\"\(region)\"",
              ])
            let wanted =
              index == 6
              ? "dropped \(scope)_opted_out"
              : index < 5 && name == "marketing" && region == "DE"
                ? "dropped no_gdpr_consent" : "approved ok"
            let lane: Lane = name == "security" ? .security : .ordinary
            #expect(
              verdicts(document, category(name), lane: lane) == [wanted],
              "\(name) \(region) \(state ?? "absent") \(scope)")
          }
        }
      }
    }
    for broken in ["", "on", "off", "false"] {
      let document = documentJSON(account: ["categories": #"{"social":{"state":"\#(broken)"}}"#])
      #expect(verdicts(document, category("social")) == ["dropped preferences_unreadable"])
    }
  }

  /// C070, C071: a default touches only what is still default.
  @Test func c070_c071_defaultsNeverOverwriteChoices() {
    let choice = { (state: String) in
      #"{"marketing":{"state":"\#(state)","at":"2025-10-01T09:00:00Z","source":"in_app_settings"}}"#
    }
    for (categories, region, before, after) in [
      (choice("user-off"), "US", "dropped account_opted_out", "dropped account_opted_out"),
      (choice("user-on"), "US", "approved ok", "approved ok"),
      (choice("user-on"), "DE", "approved ok", "approved ok"),
      ("{}", "US", "approved ok", "dropped category_default_off"),
      ("{}", "DE", "dropped no_gdpr_consent", "dropped no_gdpr_consent"),
    ] {
      let document = documentJSON(
        account: ["categories": categories], device: ["region": "\"\(region)\""])
      #expect(verdicts(document, category("marketing")) == [before])
      let record = #"{"category":"marketing","default":"off","regulated_default":"on"}"#
      #expect(verdicts(document, category("marketing"), defaults: [record]) == [after], "\(region)")
    }
  }

  @Test func c079_optOutOfOneCategory() {
    let document = documentJSON(
      account: ["categories": #"{"marketing":{"state":"user-off","source":"unsubscribe_link"}}"#])
    #expect(verdicts(document, category("marketing")) == ["dropped account_opted_out"])
    #expect(verdicts(document, category("transactional")) == ["approved ok"])
    let reset = category("security", ["event": #""password_reset""#])
    #expect(verdicts(document, reset, lane: .security) == ["approved ok"])
  }

  /// C085: a zone is no residence.
  @Test func c085_whichLaw() {
    for (region, zone, verdict) in [
      ("null", "America/New_York", "dropped no_gdpr_consent"),
      (#""""#, "UTC", "dropped no_gdpr_consent"),
      (#""us""#, "UTC", "dropped no_gdpr_consent"), (#""US""#, "Europe/Berlin", "approved ok"),
      (#""CH""#, "Europe/Zurich", "approved ok"), (#""UK""#, "UTC", "dropped no_gdpr_consent"),
      (#""EL""#, "UTC", "dropped no_gdpr_consent"),
      (#""RE""#, "Indian/Reunion", "dropped no_gdpr_consent"),
    ] {
      let document = documentJSON(device: ["region": region, "timezone": "\"\(zone)\""])
      #expect(verdicts(document, category("marketing")) == [verdict], "\(region)")
    }
  }

  @Test func c086_promotionLabelledTransactional() {
    let document = documentJSON(device: ["region": #""US""#])
    for (name, member, value, verdict) in [
      ("transactional", "event", "promotion", "dropped category_mismatch"),
      ("transactional", "subtype", "winback", "dropped category_mismatch"),
      ("social", "event", "2fa_code", "dropped category_mismatch"),
      ("marketing", "subtype", "promotion", "approved ok"),
      ("transactional", "event", "promo.spring_sale", "approved ok"),
      ("transactional", "subtype", "Promotion", "approved ok"),
    ] {
      #expect(verdicts(document, category(name, [member: "\"\(value)\""])) == [verdict], "\(value)")
    }
    let gate = TestGate(documents: [document])
    _ = gate.decide(category("social", ["event": #""unheard_of""#]), at: Self.noon)
    _ = gate.decide(category("social", ["event": #""like""#]), at: Self.noon)
    #expect(gate.engine.unregisteredNames == 1)
  }

  /// C087: the match is exact, and critical overrides nothing that blocks.
  @Test func c087_criticalNeedsThreeYeses() {
    let night = #"{"start":"00:00","end":"24:00"}"#
    let document = documentJSON(account: ["quiet_hours": night], device: ["region": #""US""#])
    func decide(_ event: String, lane: Lane = .security, flag: String = "true", _ document: String)
      -> Decided
    {
      TestGate(lane: lane, documents: [document]).decide(
        category("security", ["event": "\"\(event)\"", "critical": flag]), at: Self.noon)[0]
    }
    for event in ["suspicious_login", "account_takeover_blocked", "2fa_code"] {
      for flag in ["true", "false", "null"] {
        let decided = decide(event, flag: flag, document)
        #expect(decided.verdict == "approved quiet_hours_bypassed")
        #expect(decided["critical"] == .bool(true) && decided["interruption"] == .text("critical"))
      }
      #expect(decide(event, lane: .ordinary, document).reason == .criticalNotAllowed)
      let plain = decide(event, lane: .ordinary, flag: "false", document)
      #expect(plain["interruption"] == .text("time-sensitive") && plain["critical"] == .bool(false))
    }
    for event in [
      "suspicious_logi", "suspicious_login2", "2FA_CODE", "", "password_reset", "login_alert",
    ] {
      #expect(decide(event, document).reason == .criticalNotAllowed, "\(event)")
    }
    #expect(
      verdicts(document, category("marketing", ["critical": "true"])) == [
        "dropped critical_not_allowed"
      ])
    let off = #"{"security":{"state":"user-off","source":"admin_override"}}"#
    for (changed, reason) in [
      (documentJSON(account: ["suppressions": #"["legal_hold"]"#]), Reason.suppressedLegalHold),
      (documentJSON(device: ["token_status": #""revoked""#]), .tokenRevoked),
      (documentJSON(account: ["categories": off]), .accountOptedOut),
      (documentJSON(device: ["os_permission": #""denied""#]), .osPermissionDenied),
    ] {
      #expect(decide("2fa_code", changed).reason == reason)
    }
    let quiet = decide("2fa_code", documentJSON(device: ["os_permission": #""provisional""#]))
    #expect(quiet["interruption"] == .text("passive") && quiet["critical"] == .bool(false))
  }

  /// C135: an unreadable document is never passed over, and a readable one mends it.
  @Test func c135_unreadableDocumentFailsClosed() {
    let gate = TestGate(documents: [documentJSON(device: ["region": #""US""#])])
    let value = category("social")
    #expect(gate.decide(value, at: Self.noon)[0].verdict == "approved ok")
    gate.apply(
      documentJSON(account: ["categories": #"{"social":{"state":"withdrawn "}}"#]), offset: 5)
    let decided = gate.decide(value, at: Self.noon)[0]
    #expect(decided.verdict == "dropped preferences_unreadable")
    #expect(decided["preference_version"] == .null && decided["preference_offset"] == .number("5"))
    gate.apply(documentJSON(device: ["region": #""US""#]), offset: 6)
    #expect(gate.decide(value, at: Self.noon)[0].verdict == "approved ok")
  }
}
