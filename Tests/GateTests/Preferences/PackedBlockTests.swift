import Testing

@testable import Gate

/// Random documents, packed and read back through the accessors against the model they came from.
@Suite struct PackedBlockTests {
  struct Model {
    struct Scope {
      var choices: [Gate.Category: (Choice, Int64?)] = [:]
      var mutes: [Gate.Category: [String]] = [:]
      var suppressions: Set<String> = []
      var zone: String?
      /// Nil: not there. Start == end: null.
      var window: (start: Int, end: Int, days: UInt8)?
    }
    var version: Int64?
    var offset: Int64 = 0
    var account = Scope()
    var devices: [(id: String, region: String, permission: Int, token: Int, scope: Scope)] = []
    var smsMs: Int64?
  }

  struct Maker {
    var generator: SeededGenerator
    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
    mutating func one<T>(_ choices: [T]) -> T { choices[below(choices.count)] }

    mutating func scope() -> Model.Scope {
      var scope = Model.Scope()
      for category in Category.allCases where below(3) == 0 {
        let at = below(2) == 0 ? nil : Int64(1_700_000_000_000 + below(1_000_000))
        scope.choices[category] = (one(Choice.allCases), at)
      }
      for category in Category.allCases where below(5) == 0 {
        scope.mutes[category] = (0...below(3)).map { _ in
          String(repeating: one(["a", "é", "x"]), count: 1 + below(32))
        }
      }
      for suppression in Suppression.allCases where below(4) == 0 {
        scope.suppressions.insert("\(suppression.name)")
      }
      if below(2) == 0 { scope.zone = one(["UTC", "Europe/Berlin", "Asia/Tokyo", "US/Eastern"]) }
      if below(2) == 0 {
        let start = below(1_440)
        let end = (start + 1 + below(1_439)) % 1_440
        scope.window = (start, below(4) == 0 ? 1_440 : end, UInt8(1 + below(127)))
      }
      return scope
    }

    mutating func model() -> Model {
      var model = Model()
      model.version = one([nil, 0, 1, 17, (1 << 24) - 1, 1 << 24, 1 << 53])
      model.offset = one([0, 90_210, (1 << 40) - 1, 1 << 40, .max])
      model.account = scope()
      if below(3) == 0 { model.smsMs = Int64(1_700_000_000_000 + below(1_000_000)) }
      for index in 0..<one([0, 1, 1, 2, 3, 64]) {
        let id = "d\(index)" + String(repeating: one(["z", "é"]), count: below(60))
        model.devices.append(
          (id, one(["DE", "US", "EL", "UK", "ZZ", ""]), below(3), below(3), scope()))
      }
      return model
    }
  }

  private static func json(_ scope: Model.Scope) -> String {
    let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    let clock = { (minute: Int) -> String in
      let two = { (n: Int) in n < 10 ? "0\(n)" : "\(n)" }
      return "\(two(minute / 60)):\(two(minute % 60))"
    }
    var members = [
      "\"categories\":{"
        + scope.choices.map { category, choice in
          let at =
            choice.1.map { #","at":\#($0),"source":"admin_override""# }
            ?? #","source":"admin_override""#
          return "\"\(category.name)\":{\"state\":\"\(choice.0.name)\"\(at)}"
        }.joined(separator: ",") + "}",
      "\"muted_subtypes\":{"
        + scope.mutes.map { category, names in
          "\"\(category.name)\":[\(names.map { "\"\($0)\"" }.joined(separator: ","))]"
        }.joined(separator: ",") + "}",
      "\"suppressions\":[\(scope.suppressions.map { "\"\($0)\"" }.joined(separator: ","))]",
    ]
    if let zone = scope.zone { members.append("\"timezone\":\"\(zone)\"") }
    if let window = scope.window {
      let names = (0..<7).filter { window.days >> UInt8($0) & 1 != 0 }.map { "\"\(days[$0])\"" }
      members.append(
        """
        "quiet_hours":{"start":"\(clock(window.start))","end":"\(clock(window.end))",\
        "days":[\(names.joined(separator: ","))]}
        """)
    }
    return members.joined(separator: ",")
  }

  private static func json(_ model: Model) -> String {
    let sms = model.smsMs.map {
      #","sms":{"state":"user-on","at":\#($0),"source":"in_app_settings"}"#
    }
    let devices = model.devices.map { device in
      """
      {"device_id":"\(device.id)","platform":"\(device.id.utf8.count % 2 == 0 ? "ios" : "android")",\
      "os_permission":"\(OSPermission.allCases[device.permission].name)","region":"\(device.region)",\
      "token_status":"\(TokenStatus.allCases[device.token].name)",\(json(device.scope))}
      """
    }
    return """
      {"user_id":"u-1",\(model.version.map { "\"version\":\($0)," } ?? "")\
      "account":{\(json(model.account))\(sms ?? "")},"devices":[\(devices.joined(separator: ","))]}
      """
  }

  private func check(_ model: Model, _ block: PackedBlock, _ hint: String) {
    #expect(block.version == model.version, "\(hint)")
    #expect(block.offset == model.offset, "\(hint)")
    #expect(block.deviceCount == model.devices.count, "\(hint)")
    var account = model.account
    // Left out where every device names the same, or there is none to ask for it.
    if model.devices.allSatisfy({ $0.scope.zone == account.zone }) { account.zone = nil }
    check(
      account, block.accountPlace, block.accountChoices, block.accountSuppressions, hint)
    for (index, device) in model.devices.enumerated() {
      let packed = block.device(index)
      #expect(Array(block.deviceID(packed)) == Array(device.id.utf8), "\(hint)")
      #expect(withBytes(device.id) { block.find($0) } == index, "\(hint)")
      #expect(packed.osPermission.rawValue == UInt8(device.permission), "\(hint)")
      #expect(packed.tokenStatus.rawValue == UInt8(device.token), "\(hint)")
      #expect(packed.platform == (device.id.utf8.count % 2 == 0 ? .ios : .android), "\(hint)")
      let region = ["EL": "GR", "UK": "GB", "ZZ": "", "": ""][device.region] ?? device.region
      #expect(packed.region == withBytes(region) { Region($0).code }, "\(hint)")
      check(device.scope, packed.place, packed.choices, packed.suppressions, hint)
    }
    for index in model.devices.indices { checkSide(model, block, index, hint) }
    let sms = model.smsMs ?? .max
    #expect(block.hasSMSConsent(nowMs: sms) == (model.smsMs != nil), "\(hint)")
    #expect(!block.hasSMSConsent(nowMs: sms - 1), "\(hint)")
  }

  private func check(
    _ scope: Model.Scope, _ place: PackedPlace, _ choices: PackedChoices, _ suppressions: UInt8,
    _ hint: String
  ) {
    for category in Category.allCases {
      #expect(choices[category] == scope.choices[category]?.0 ?? .unset, "\(hint)")
    }
    for suppression in Suppression.allCases {
      let isCarried = suppressions >> suppression.rawValue & 1 != 0
      #expect(isCarried == scope.suppressions.contains("\(suppression.name)"), "\(hint)")
    }
    #expect(place.zone == scope.zone.map { SystemZones.zone($0) } ?? 0, "\(hint)")
    if let window = scope.window {
      #expect(place.windowKind == .set, "\(hint)")
      let wanted = QuietWindow(
        startMinute: UInt16(window.start), endMinute: UInt16(window.end), days: window.days)
      #expect(place.window == wanted, "\(hint)")
    } else {
      #expect(place.windowKind == .absent, "\(hint)")
    }
  }

  private func checkSide(_ model: Model, _ block: PackedBlock, _ index: Int, _ hint: String) {
    let scopes = [model.account, model.devices[index].scope]
    for category in Category.allCases {
      let consents = scopes.compactMap { scope -> Int64? in
        guard let (choice, at) = scope.choices[category], choice == .userOn else { return nil }
        return at
      }
      let first = consents.min() ?? .max
      #expect(
        block.hasConsent(category, device: index, nowMs: first) == !consents.isEmpty, "\(hint)")
      #expect(!block.hasConsent(category, device: index, nowMs: first - 1), "\(hint)")
      let muted = Set(scopes.flatMap { $0.mutes[category] ?? [] })
      for name in muted.union(["a", "x", "", "aé", String(repeating: "x", count: 32)]) {
        // Mutes never touch security.
        let wanted = category != .security && muted.contains(name)
        #expect(
          withBytes(name) { block.isMuted($0, category, device: index) } == wanted,
          "\(name) \(hint)")
      }
    }
  }

  @Test func randomDocuments() {
    var maker = Maker(generator: SeededGenerator())
    let table = newTable()
    for round in 0..<1_500 {
      let model = maker.model()
      let json = Self.json(model)
      let hint = "seed \(maker.generator.seed), round \(round): \(json.prefix(2_000))"
      let applied = table.apply(key: "u-1", json, offset: model.offset)
      switch applied {
      case .stored([]), .storedOlderVersion([]): check(model, table.block("u-1")!, hint)
      default:
        Issue.record("\(applied) \(hint)")
        return
      }
    }
  }

  /// What the table's size per device rests on: a user with one device and nothing unusual takes
  /// three words and the id.
  @Test func sizes() {
    let table = newTable()
    func words(_ document: String) -> Int {
      _ = table.apply(document)
      return BlockArena.classWords[table.block("u-1")!.sizeClass]
    }
    let window = #"{"start":"22:00","end":"07:00"}"#
    #expect(words(documentJSON()) == 4)
    #expect(
      words(documentJSON(device: ["timezone": #""Europe/Berlin""#, "region": #""DE""#])) == 4)
    #expect(words(documentJSON(account: ["timezone": #""UTC""#])) == 5)
    #expect(
      words(
        documentJSON(account: ["timezone": #""UTC""#], device: ["timezone": #""UTC""#])) == 4)
    #expect(words(documentJSON(account: ["quiet_hours": window])) == 5)
    #expect(words(documentJSON(device: ["quiet_hours": window])) == 5)
    #expect(words(documentJSON(account: ["suppressions": #"["bounced"]"#])) == 4)
    #expect(words(documentJSON(["devices": "[]"])) == 2)
  }

  /// From seven side words on, their count has a word of its own.
  @Test(arguments: [0, 1, 6, 7, 8, 64]) func manyWindows(_ count: Int) {
    let devices = (0..<64).map {
      let start = "\($0 % 60 / 10)\($0 % 10)"
      let window = $0 < count ? #","quiet_hours":{"start":"01:\#(start)","end":"02:00"}"# : ""
      return """
        {"device_id":"d-\($0)","platform":"ios","os_permission":"granted",\
        "token_status":"active"\(window)}
        """
    }
    let table = newTable()
    let applied = table.apply(
      documentJSON(["devices": "[\(devices.joined(separator: ","))]"]))
    #expect(applied == .stored([]))
    let block = table.block("u-1")!
    for index in 0..<64 {
      let device = block.device(index)
      #expect(withBytes("d-\(index)") { block.find($0) } == index)
      #expect(Array(block.deviceID(device)) == Array("d-\(index)".utf8))
      #expect(device.place.windowKind == (index < count ? .set : .absent))
      if index < count { #expect(Int(device.place.window.startMinute) == 60 + index % 60) }
    }
  }
}
