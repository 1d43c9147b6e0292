/// A policy as it was written, checked; `Policy` packs it for the hot path.
struct PolicyDocument {
  struct CategoryRules {
    var quietHours = Policy.QuietHoursRule.drop
    var dropsOnInvalidWindow = true
    var consentBasis = true
    var defaultOn = false
    var regulatedDefaultOn = false
    var registry: [String] = []
    var mutableSubtypes: [String] = []
    var caps: [CapRule] = []
  }

  struct CapRule {
    var name: String
    var count: Int
    var style: Cap.Style
    var windowMs: Int64

    var memoryMs: Int64 { style == .sliding ? windowMs : Cap.dayMsMax }
  }

  var version = ""
  /// By category.
  var categories: [CategoryRules] = []
  var names: [(name: String, facts: NameTable.Facts)] = []
  /// Per suppression, the mask of the categories it blocks.
  var suppressionBlocks: [UInt8] = []
  var regulatedRegions: [Region] = []
  var fallbackTimezone = ""
  var payloadBytesMax = 0
  var recordBytesMax = 0
  var holdHoursMax: Int64 = 0
  var duplicatesHorizonHours: Int64 = 0
  var duplicatesEntriesMax = 0
  var capsEntriesMax = 0
  /// By lane.
  var staleSecondsMax: [Int64?] = []
  var promptMoments: [String] = []
}

/// Reads `policy.json`. Every key that the decision table leaves to the operator is there, none has
/// a silent default, and what the table forbids is refused.
enum PolicyParser {
  private static let keys = [
    "version", "categories", "bypass_events", "critical_allow_list", "suppressions",
    "regions_regulated_additional", "fallback_timezone", "payload_bytes_max", "record_bytes_max",
    "hold_hours_max", "duplicates_horizon_hours", "duplicates_entries_max", "caps_entries_max",
    "preferences_stale_seconds_max", "permission_prompt_moments",
  ]

  static func parse(_ text: Bytes) throws(PolicyError) -> PolicyDocument {
    let tree: JSONValue
    do throws(JSONFault) {
      tree = try JSONValue(text)
    } catch {
      throw PolicyError(description: "the policy \(error.words)")
    }
    let root = try PolicyNode(path: "", value: tree).members(keys)
    var document = PolicyDocument()
    document.version = try root["version"]!.name(
      "write the version, such as a date, in at most 64 bytes without control characters")
    document.categories = try categories(root["categories"]!)
    document.names = try names(
      document.categories, bypass: root["bypass_events"]!, critical: root["critical_allow_list"]!)
    document.suppressionBlocks = try suppressions(root["suppressions"]!)
    document.regulatedRegions = try regions(root["regions_regulated_additional"]!)
    document.fallbackTimezone = try root["fallback_timezone"]!.string(
      "write an id of the tz database, such as UTC")
    document.payloadBytesMax = Int(try root["payload_bytes_max"]!.integer(1...60_000))
    document.recordBytesMax = Int(
      try root["record_bytes_max"]!.integer(1_024...Int64(CandidateDecoder.recordBytesMax)))
    document.holdHoursMax = try root["hold_hours_max"]!.integer(1...720)
    document.duplicatesHorizonHours = try root["duplicates_horizon_hours"]!.integer(1...8_760)
    guard document.duplicatesHorizonHours >= document.holdHoursMax else {
      throw root["duplicates_horizon_hours"]!.refuse(
        "a held notification must stay known: write at least hold_hours_max, "
          + "\(document.holdHoursMax)")
    }
    document.duplicatesEntriesMax = Int(
      try root["duplicates_entries_max"]!.integer(1_000...1_000_000_000))
    document.capsEntriesMax = Int(try root["caps_entries_max"]!.integer(1_000...1_000_000_000))
    try CapParser.checkWork(document)
    document.staleSecondsMax = try staleness(root["preferences_stale_seconds_max"]!)
    document.promptMoments = try root["permission_prompt_moments"]!.nameList()
    return document
  }

  private static func categories(
    _ node: PolicyNode
  ) throws(PolicyError) -> [PolicyDocument.CategoryRules] {
    let members = try node.members(Category.allCases.map { "\($0.name)" })
    var rules: [PolicyDocument.CategoryRules] = []
    for category in Category.allCases {
      let own = try self.rules(members["\(category.name)"]!, of: category)
      // Under two categories a name would be registered "under another" in both: never to be sent.
      for (earlier, other) in zip(Category.allCases, rules) {
        guard let twice = own.registry.first(where: other.registry.contains) else { continue }
        throw PolicyError(
          description: "policy key categories.\(category.name).registry: \"\(twice)\" is refused; "
            + "it is registered under \(earlier.name) too, write it under one of them")
      }
      rules.append(own)
    }
    return rules
  }

  private static func rules(
    _ node: PolicyNode, of category: Category
  ) throws(PolicyError) -> PolicyDocument.CategoryRules {
    let members = try node.members([
      "quiet_hours_rule", "on_invalid_window", "default", "regulated_default", "lawful_basis",
      "caps", "registry", "mutable_subtypes",
    ])
    var rules = PolicyDocument.CategoryRules()
    rules.quietHours = try members["quiet_hours_rule"]!.oneOf([
      "drop": .drop, "defer": .defer, "bypass": .bypass,
    ])
    rules.dropsOnInvalidWindow = try members["on_invalid_window"]!.oneOf([
      "drop": true, "outside": false,
    ])
    rules.defaultOn = try onOff(members["default"]!)
    rules.regulatedDefaultOn = try onOff(members["regulated_default"]!)
    rules.consentBasis = try lawfulBasis(members["lawful_basis"]!)
    rules.registry = try members["registry"]!.nameList()
    for subtype in try members["mutable_subtypes"]!.elements() {
      let name = try subtype.string("write a name of the registry")
      guard !rules.mutableSubtypes.contains(name) else { throw subtype.refuseTwice("a subtype") }
      rules.mutableSubtypes.append(name)
      guard rules.registry.contains(name) else {
        throw subtype.refuse("write a name of this category's registry, or register it")
      }
      if category == .security { throw subtype.refuse("mutes never touch security; write []") }
    }
    rules.caps = try CapParser.caps(members["caps"]!, of: category)
    if category == .security { try checkSecurity(rules, members) }
    return rules
  }

  /// Security cannot be silenced by a policy (requirements C6, Q2).
  private static func checkSecurity(
    _ rules: PolicyDocument.CategoryRules, _ members: [String: PolicyNode]
  ) throws(PolicyError) {
    if rules.quietHours != .bypass {
      throw members["quiet_hours_rule"]!.refuse("security never waits: write \"bypass\"")
    }
    if rules.dropsOnInvalidWindow {
      throw members["on_invalid_window"]!.refuse("security never waits: write \"outside\"")
    }
    if !rules.defaultOn {
      throw members["default"]!.refuse(
        "security is on unless an administrator decides: write \"on\"")
    }
    if !rules.regulatedDefaultOn {
      throw members["regulated_default"]!.refuse(
        "security is on unless an administrator decides: write \"on\"")
    }
  }

  private static func onOff(_ node: PolicyNode) throws(PolicyError) -> Bool {
    try node.oneOf(["on": true, "off": false])
  }

  /// True where the basis is consent. The words are for people; they must be there.
  private static func lawfulBasis(_ node: PolicyNode) throws(PolicyError) -> Bool {
    let members = try node.members(["basis", "words"])
    _ = try members["words"]!.string("say in words what it rests on")
    return try members["basis"]!.oneOf([
      "consent": true, "contract": false, "legitimate_interest": false,
    ])
  }

  private static func names(
    _ categories: [PolicyDocument.CategoryRules], bypass: PolicyNode, critical: PolicyNode
  ) throws(PolicyError) -> [(name: String, facts: NameTable.Facts)] {
    var names: [(name: String, facts: NameTable.Facts)] = []
    func position(_ name: String) -> Int {
      if let found = names.firstIndex(where: { $0.name == name }) { return found }
      names.append((name, NameTable.Facts()))
      return names.count - 1
    }
    for (category, rules) in categories.enumerated() {
      for name in rules.registry { names[position(name)].facts.registered |= 1 << UInt8(category) }
    }
    var bypassing: [String] = []
    for node in try bypass.elements() {
      let members = try node.members(["event", "category", "passes", "lawful_basis"])
      let event = try members["event"]!.string("write the event's name")
      let category = try members["category"]!.category()
      guard categories[Int(category.rawValue)].registry.contains(event) else {
        throw members["event"]!.refuse("register it under \(category.name) first")
      }
      // A name is registered under one category, so twice is twice the same.
      guard !bypassing.contains(event) else { throw members["event"]!.refuseTwice("an event") }
      bypassing.append(event)
      _ = try lawfulBasis(members["lawful_basis"]!)
      let passes = try members["passes"]!.elements()
      guard !passes.isEmpty else {
        throw members["passes"]!.refuse("write \"choice\", \"quiet_hours\" or both")
      }
      var listed: [Bool] = []
      for pass in passes {
        let bit: UInt8 = 1 << category.rawValue
        let isChoice = try pass.oneOf(["choice": true, "quiet_hours": false])
        guard !listed.contains(isChoice) else { throw pass.refuseTwice("each") }
        listed.append(isChoice)
        if isChoice {
          // Where the basis is consent, the user's no is the law's: row 8 leaves a `user-off` to row
          // 9, and an event that passed row 9 would go to somebody who refused it (requirements L1).
          guard !categories[Int(category.rawValue)].consentBasis else {
            throw pass.refuse(
              "\(category.name) rests on consent, and nothing passes a user's no there: write "
                + "\"quiet_hours\" alone, or register the event under a category with another "
                + "lawful basis")
          }
          names[position(event)].facts.passesChoice |= bit
        } else {
          names[position(event)].facts.passesQuietHours |= bit
        }
      }
    }
    for node in try critical.elements() {
      let event = try node.string("write the event's name")
      guard categories[Int(Category.security.rawValue)].registry.contains(event) else {
        throw node.refuse("only security events may be critical: register it under security first")
      }
      guard !names[position(event)].facts.critical else { throw node.refuseTwice("an event") }
      names[position(event)].facts.critical = true
    }
    return names
  }

  private static func suppressions(_ node: PolicyNode) throws(PolicyError) -> [UInt8] {
    let order = Suppression.allCases.map { "\($0.name)" }
    let members = try node.members(order)
    var masks: [UInt8] = []
    for name in order {
      var mask: UInt8 = 0
      for category in try members[name]!.elements() {
        let bit: UInt8 = 1 << (try category.category().rawValue)
        guard mask & bit == 0 else { throw category.refuseTwice("a category") }
        mask |= bit
      }
      masks.append(mask)
    }
    return masks
  }

  private static func regions(_ node: PolicyNode) throws(PolicyError) -> [Region] {
    var regions: [Region] = []
    let law = Region.regulatedByLaw
    let text = Bytes(start: law.utf8Start, count: law.utf8CodeUnitCount)
    for at in stride(from: 0, to: text.count, by: 3) {
      regions.append(Region(Bytes(rebasing: text[at..<(at + 2)])))
    }
    let fixed = regions.count
    for element in try node.elements() {
      let members = try element.members(["region", "reason"])
      _ = try members["reason"]!.string("say why it is treated as regulated")
      let instead = "write an ISO 3166-1 alpha-2 code in upper case"
      var code = try members["region"]!.string(instead)
      let region = code.withUTF8 { Region(Bytes($0)) }
      guard region != .unknown else { throw members["region"]!.refuse(instead) }
      guard !regions[fixed...].contains(region) else {
        throw members["region"]!.refuseTwice("a region")
      }
      regions.append(region)
    }
    return regions
  }

  private static func staleness(_ node: PolicyNode) throws(PolicyError) -> [Int64?] {
    let members = try node.members(["ordinary", "security"])
    var seconds: [Int64?] = []
    for lane in ["ordinary", "security"] {
      if case .null = members[lane]!.value {
        seconds.append(nil)
      } else {
        seconds.append(try members[lane]!.integer(1...86_400))
      }
    }
    return seconds
  }
}
