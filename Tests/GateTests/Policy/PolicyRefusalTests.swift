import Testing

@testable import Gate

/// Everything a policy may not say: each refusal names the key, the value, and what to write instead.
@Suite struct PolicyRefusalTests {
  /// The built-in policy with the value at a path replaced (nil: left out).
  private static func policy(_ path: String, _ value: String?) -> [UInt8] {
    let text = BuiltInPolicy.json
    let bytes = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    return replacing(Array(bytes), path, value)
  }

  private static func replacing(_ policy: [UInt8], _ path: String, _ value: String?) -> [UInt8] {
    let tree = try! StrictParser.parse(policy)
    let replacement = value.map { try! StrictParser.parse($0) }
    return replace(tree, path.split(separator: ".").map { Array($0.utf8) }[...], replacement).json
  }

  private static func replace(_ tree: Tree, _ path: ArraySlice<[UInt8]>, _ value: Tree?) -> Tree {
    guard case .object(var members) = tree, let name = path.first else { return value ?? .null }
    let at = members.firstIndex { $0.name == name }
    let inner = path.dropFirst()
    if inner.isEmpty {
      members.removeAll { $0.name == name }
      if let value {
        members.insert(Tree.Member(name: name, value: value), at: at ?? members.count)
      }
    } else {
      members[at!].value = replace(members[at!].value, inner, value)
    }
    return .object(members)
  }

  private static func refusal(_ bytes: [UInt8]) -> String? {
    bytes.withUnsafeBytes { bytes in
      do throws(PolicyError) {
        _ = try Policy(json: bytes)
        return nil
      } catch {
        return error.description
      }
    }
  }

  /// Path, value, and what must stand in the message beside both.
  static let refused: [(path: String, value: String, instead: String)] = [
    ("version", #""""#, "write the version"), ("version", "7", "write the version"),
    ("version", "\"\(String(repeating: "v", count: 65))\"", "at most 64 bytes"),
    ("categories", "[]", "transactional, security, social, marketing"),
    ("categories.social", "null", "quiet_hours_rule"),
    ("categories.social.quiet_hours_rule", #""hold""#, "drop, defer, bypass"),
    ("categories.social.quiet_hours_rule", "null", "drop, defer, bypass"),
    ("categories.security.quiet_hours_rule", #""drop""#, #"write "bypass""#),
    ("categories.security.quiet_hours_rule", #""defer""#, #"write "bypass""#),
    ("categories.security.on_invalid_window", #""drop""#, #"write "outside""#),
    ("categories.social.on_invalid_window", #""inside""#, "drop, outside"),
    ("categories.security.default", #""off""#, #"write "on""#),
    ("categories.security.regulated_default", #""off""#, #"write "on""#),
    ("categories.marketing.default", "true", "on, off"),
    ("categories.marketing.regulated_default", #""ask""#, "on, off"),
    ("categories.marketing.lawful_basis", #""consent""#, "basis, words"),
    (
      "categories.marketing.lawful_basis.basis", #""wish""#,
      "consent, contract, legitimate_interest"
    ),
    ("categories.marketing.lawful_basis.words", #""""#, "in words"),
    ("categories.security.caps", #"[{"count":1}]"#, "write []"),
    ("categories.security.caps", "[\(capOf("5"))]", "never capped: write []"),
    ("categories.marketing.caps", #"[{"count":1}]"#, "calendar_day"),
    ("categories.marketing.caps", "[7]", "window_seconds"),
    ("categories.marketing.caps", "[\(capOf("0"))]", #"write "default": "off" for marketing"#),
    ("categories.marketing.caps", "[\(capOf("-1"))]", "1 to 1000"),
    ("categories.marketing.caps", "[\(capOf("1001"))]", "1 to 1000"),
    ("categories.marketing.caps", "[\(capOf("1.5"))]", "1 to 1000"),
    ("categories.marketing.caps", "[\(capOf(#""3""#))]", "1 to 1000"),
    ("categories.marketing.caps", "[\(capOf("1")),\(capOf("2"))]", #"a cap "c" already"#),
    ("categories.marketing.caps", "[\(capOf("1", name: ""))]", "1 to 64 bytes"),
    (
      "categories.marketing.caps", "[\(capOf("1", name: String(repeating: "n", count: 65)))]",
      "1 to 64 bytes"
    ),
    ("categories.marketing.caps", "[\(capOf("1", name: "a\\nb"))]", "without control characters"),
    (
      "categories.marketing.caps", "[\(capOf("1", name: "\\u009b2J"))]",
      "without control characters"
    ),
    ("categories.social.registry", #"["like\u0000"]"#, "without control characters"),
    ("version", #""1\u001b[2J""#, "without control characters"),
    ("categories.marketing.caps", "[\(capOf("1", more: #","window_seconds":60"#))]", "the day"),
    ("categories.marketing.caps", "[\(capOf("1", more: #","per":1"#))]", "no such key"),
    ("categories.marketing.caps", "[\(capOf("1", style: "hourly"))]", "calendar_day, sliding"),
    ("categories.marketing.caps", "[\(capOf("1", style: "sliding"))]", "window_seconds is missing"),
    ("categories.marketing.caps", sliding("0"), "1 to 2678400"),
    ("categories.marketing.caps", sliding("-60"), "1 to 2678400"),
    ("categories.marketing.caps", sliding("2678401"), "1 to 2678400"),
    (
      "categories.marketing.caps",
      "[\((0..<9).map { capOf("1", name: "c\($0)") }.joined(separator: ","))]", "at most 8 caps"
    ),
    ("categories.marketing.caps", sliding("1"), "a longer window"),
    ("categories.marketing.caps", "{}", "write a list"),
    ("categories.social.registry", #"["like","like"]"#, "once"),
    ("categories.social.registry", #"[""]"#, "1 to 64 bytes"),
    ("categories.social.registry", "[\"\(String(repeating: "n", count: 65))\"]", "1 to 64 bytes"),
    ("categories.social.registry", #""like""#, "write a list"),
    (
      "categories.marketing.registry", #"["promotion","like"]"#,
      "registered under social too, write it under one of them"
    ),
    ("categories.social.mutable_subtypes", #"["poke"]"#, "registry"),
    ("categories.security.mutable_subtypes", #"["2fa_code"]"#, "write []"),
    ("bypass_events", "{}", "write a list"), ("bypass_events", "[1]", "event, category"),
    (
      "bypass_events", bypass("poke", "transactional", #"["choice"]"#),
      "register it under transactional"
    ),
    (
      "bypass_events", bypass("payment_failed", "social", #"["choice"]"#),
      "register it under social"
    ),
    ("bypass_events", bypass("payment_failed", "games", #"["choice"]"#), "transactional, security"),
    (
      "bypass_events", bypass("payment_failed", "transactional", "[]"),
      #""choice", "quiet_hours" or both"#
    ),
    (
      "bypass_events", bypass("payment_failed", "transactional", #"["all"]"#), "choice, quiet_hours"
    ),
    (
      "bypass_events", bypass("promotion", "marketing", #"["choice"]"#),
      #"marketing rests on consent, and nothing passes a user's no there: write "quiet_hours""#
    ),
    (
      "bypass_events", bypass("promotion", "marketing", #"["quiet_hours","choice"]"#),
      "register the event under a category with another lawful basis"
    ),
    // Blank words are none, and what stands there twice was meant otherwise the second time.
    ("version", #"" ""#, "write the version"),
    ("categories.marketing.lawful_basis.words", #""  ""#, "in words"),
    ("categories.social.registry", #"[" "]"#, "1 to 64 bytes"),
    ("regions_regulated_additional", #"[{"region":"CH","reason":" "}]"#, "say why"),
    ("categories.social.mutable_subtypes", #"["like","like"]"#, "write a subtype once"),
    (
      "bypass_events", bypass("like", "social", #"["choice","choice"]"#), "write each once"
    ),
    ("critical_allow_list", #"["2fa_code","2fa_code"]"#, "write an event once"),
    ("suppressions.bounced", #"["social","social"]"#, "write a category once"),
    (
      "regions_regulated_additional",
      #"[{"region":"CH","reason":"a"},{"region":"CH","reason":"b"}]"#, "write a region once"
    ),
    (
      "bypass_events",
      bypass("like", "social", #"["choice"]"#).dropLast() + ","
        + bypass("like", "social", #"["quiet_hours"]"#).dropFirst(), "write an event once"
    ),
    ("critical_allow_list", #"["like"]"#, "register it under security"),
    ("critical_allow_list", #"["unheard_of"]"#, "register it under security"),
    ("critical_allow_list", "[7]", "write the event's name"),
    ("suppressions.bounced", #"["email"]"#, "transactional, security"),
    ("suppressions.bounced", "null", "write a list"),
    ("regions_regulated_additional", #"[{"region":"uk ","reason":"x"}]"#, "ISO 3166-1"),
    ("regions_regulated_additional", #"[{"region":"ZZ","reason":"x"}]"#, "ISO 3166-1"),
    ("regions_regulated_additional", #"[{"region":"CH","reason":""}]"#, "say why"),
    ("regions_regulated_additional", #"["CH"]"#, "region, reason"),
    ("fallback_timezone", "null", "tz database"), ("fallback_timezone", #""""#, "tz database"),
    ("payload_bytes_max", "0", "1 to 60000"), ("payload_bytes_max", "60001", "1 to 60000"),
    ("payload_bytes_max", "4096.0", "1 to 60000"), ("payload_bytes_max", #""4096""#, "1 to 60000"),
    ("payload_bytes_max", "4e3", "1 to 60000"),
    ("record_bytes_max", "1023", "1024 to 65536"), ("record_bytes_max", "65537", "1024 to 65536"),
    ("hold_hours_max", "0", "1 to 720"), ("hold_hours_max", "721", "1 to 720"),
    ("duplicates_horizon_hours", "71", "at least hold_hours_max, 72"),
    ("duplicates_horizon_hours", "0", "1 to 8760"),
    ("duplicates_entries_max", "999", "1000 to"), ("caps_entries_max", "999", "1000 to"),
    ("preferences_stale_seconds_max.ordinary", "0", "1 to 86400"),
    ("preferences_stale_seconds_max.security", #""never""#, "1 to 86400"),
    ("preferences_stale_seconds_max", "300", "ordinary, security"),
    ("permission_prompt_moments", #"["a","a"]"#, "once"),
  ]

  private static func bypass(_ event: String, _ category: String, _ passes: String) -> String {
    """
    [{"event":"\(event)","category":"\(category)","passes":\(passes),\
    "lawful_basis":{"basis":"contract","words":"w"}}]
    """
  }

  private static func capOf(
    _ count: String, name: String = "c", style: String = "calendar_day", more: String = ""
  ) -> String {
    #"{"name":"\#(name)","count":\#(count),"style":"\#(style)"\#(more)}"#
  }

  private static func sliding(_ seconds: String) -> String {
    "[\(capOf("1", style: "sliding", more: #","window_seconds":\#(seconds)"#))]"
  }

  @Test func everyRefusal() {
    for (path, value, instead) in Self.refused {
      let message = Self.refusal(Self.policy(path, value))
      #expect(message != nil, "\(path) \(value)")
      // The key, or one inside the value that was put there.
      #expect(message?.contains("policy key \(path)") == true, "\(path) \(value): \(message ?? "")")
      #expect(message?.contains(instead) == true, "\(path) \(value): \(message ?? "")")
      #expect(message.map { $0.utf8.count < 400 } == true)
      if value.utf8.count < 12, !value.hasPrefix("[") {
        #expect(message?.contains(value) == true, "\(message ?? "")")
      }
    }
  }

  /// Every key, at every level: missing is refused by its path, and so is one that nobody knows.
  @Test func missingAndUnknownKeys() {
    let text = BuiltInPolicy.json
    let bytes = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    let tree = try! StrictParser.parse(Array(bytes))
    var paths: [String] = []
    func collect(_ tree: Tree, _ prefix: String) {
      guard case .object(let members) = tree else { return }
      for member in members {
        let path = prefix + String(decoding: member.name, as: UTF8.self)
        paths.append(path)
        collect(member.value, path + ".")
      }
    }
    collect(tree, "")
    #expect(paths.count > 50)
    for path in paths {
      let missing = Self.refusal(Self.policy(path, nil))
      #expect(
        missing?.contains("policy key \(path) is missing") == true, "\(path): \(missing ?? "")")
      let parent = path.split(separator: ".").dropLast().joined(separator: ".")
      let unknown = parent.isEmpty ? "colour" : "\(parent).colour"
      let message = Self.refusal(Self.policy(unknown, "1"))
      #expect(message?.contains("policy key \(unknown)") == true, "\(message ?? "")")
      #expect(message?.contains("there is no such key") == true, "\(message ?? "")")
    }
  }

  @Test func texts() {
    for text in ["", "{", "[]", "null", #"{"version":1,"version":2}"#, "{} x", "\u{FEFF}{}"] {
      let message = Self.refusal(Array(text.utf8))
      #expect(message != nil, "\(text)")
      // For people: no name of the program's own.
      for name in ["malformedJSON", "repeatedMember", "JSONFault"] {
        #expect(message?.contains(name) == false, "\(message ?? "")")
      }
    }
  }

  /// What the operator may change.
  @Test func allowed() throws {
    for (path, value) in [
      ("categories.social.quiet_hours_rule", #""bypass""#),
      ("categories.marketing.quiet_hours_rule", #""defer""#),
      ("categories.transactional.on_invalid_window", #""drop""#),
      ("categories.social.default", #""off""#),
      ("categories.marketing.lawful_basis.basis", #""legitimate_interest""#),
      ("regions_regulated_additional", #"[{"region":"CH","reason":"FADP"}]"#),
      ("fallback_timezone", #""Europe/Berlin""#), ("payload_bytes_max", "60000"),
      ("hold_hours_max", "1"),
      ("duplicates_horizon_hours", "72"), ("preferences_stale_seconds_max.ordinary", "null"),
      ("bypass_events", "[]"),
      ("bypass_events", Self.bypass("promotion", "marketing", #"["quiet_hours"]"#)),
      ("bypass_events", Self.bypass("like", "social", #"["choice"]"#)),
      ("critical_allow_list", "[]"), ("suppressions.bounced", "[]"),
      ("categories.marketing.caps", "[\(Self.capOf("1000"))]"),
      ("categories.transactional.caps", Self.sliding("60")),
      (
        "categories.social.caps",
        "[\(Self.capOf("1000", name: "day")),\(Self.sliding("1").dropFirst())"
      ),
      ("categories.marketing.caps", Self.sliding("2678400")),
    ] {
      #expect(Self.refusal(Self.policy(path, value)) == nil, "\(path) \(value)")
    }
    // What decides is the category's basis, not its name.
    let contract = Self.policy("categories.marketing.lawful_basis.basis", #""contract""#)
    let both = Self.replacing(
      contract, "bypass_events", Self.bypass("promotion", "marketing", #"["choice"]"#))
    #expect(Self.refusal(both) == nil)
    let consent = Self.policy("categories.transactional.lawful_basis.basis", #""consent""#)
    #expect(
      Self.refusal(consent)?.contains("policy key bypass_events[0].passes[0]: \"choice\"") == true,
      "the built-in policy's own bypass event, once its category rests on consent")
    let swiss = try Self.policy(
      "regions_regulated_additional", #"[{"region":"CH","reason":"FADP"}]"#
    )
    .withUnsafeBytes { bytes throws(PolicyError) in try Policy(json: bytes) }
    #expect(swiss.rules.isRegulated(withBytes("CH") { Region($0) }))
    #expect(swiss.rules.isRegulated(withBytes("FR") { Region($0) }))
    #expect(!swiss.rules.isRegulated(withBytes("US") { Region($0) }))
  }
}
