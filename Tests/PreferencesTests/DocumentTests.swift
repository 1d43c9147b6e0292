import Testing

@testable import Gate
@testable import Preferences

/// Documents, read back by who reads them: the gate's own decoder, and the store.
@Suite struct DocumentTests {
  @Test func theGateReadsTheSameFacts() {
    var made = RandomEvents(SeededGenerator())
    let seed = made.random.seed
    let gate = GateSide()
    for round in 0..<80 {
      for user in RandomEvents.users { gate.publish(user, nil) }
      var world = World.withUsers
      for event in made.events(60) { world.apply(event) }
      for (id, user) in world.users {
        let words: Testing.Comment = "seed \(seed) round \(round) \(id)"
        let applied = gate.publish(id, PreferenceDocument.text(user))
        guard case .stored(let notes) = applied else {
          Issue.record("\(applied) seed \(seed) round \(round)")
          continue
        }
        #expect(notes == [], words)
        check(gate.block(id)!, user, words)
      }
    }
  }

  private func check(_ block: PackedBlock, _ user: UserPreferences, _ words: Testing.Comment) {
    #expect(block.version == user.version, words)
    let account = user.account
    check(block.accountChoices, account.choices, words)
    #expect(block.accountSuppressions == mask(account.suppressions), words)
    if case .window(let start, let end, let days)? = account.quietHours?.value {
      let window = QuietWindow(startMinute: start, endMinute: end, days: days)
      #expect(block.accountPlace.windowKind == .set && block.accountPlace.window == window, words)
    } else {
      #expect(block.accountPlace.windowKind == .absent, words)
    }
    let hasSMS = account.sms?.value == .userOn
    #expect(block.hasSMSConsent(nowMs: testNow) == hasSMS, words)

    let present = user.devices.filter(\.value.isPresent).keys.sorted()
    #expect(block.deviceCount == present.count, words)
    for (index, id) in present.enumerated() {
      let device = user.devices[id]!
      let packed = block.device(index)
      let sync = device.sync!.value
      #expect(block.deviceID(packed).elementsEqual(id.text.utf8), words)
      check(packed.choices, device.choices, words)
      #expect(packed.suppressions == mask(device.suppressions), words)
      #expect(packed.osPermission == sync.osPermission && packed.platform == sync.platform, words)
      #expect(packed.tokenStatus == device.tokenStatus, words)
      #expect(Region(packed: packed.region) == withBytes(sync.region?.text ?? "") { Region($0) })
      let zone = withBytes(sync.timezone?.text ?? "") { TestZones.publisher.intern($0) }
      #expect(packed.place.zone == zone, words)
      switch device.quietHours?.value {
      case nil, .inherited: #expect(packed.place.windowKind == .absent, words)
      case .some(.none): #expect(packed.place.windowKind == .null, words)
      case .window(let start, let end, let days):
        let window = QuietWindow(startMinute: start, endMinute: end, days: days)
        #expect(packed.place.windowKind == .set && packed.place.window == window, words)
      }
      for category in Category.allCases {
        let choices = [account.choices[category]?.inForce, device.choices[category]?.inForce]
        for nowMs in [at(0), at(2), testNow] {
          #expect(
            block.hasConsent(category, device: index, nowMs: nowMs)
              == choices.contains { $0?.value == .userOn && $0!.atMs <= nowMs }, words)
        }
      }
      for subtype in ["like", "mention"] {
        let isMuted = account.mutes[Subtype(.social, Identifier(subtype))]?.value == true
        #expect(withBytes(subtype) { block.isMuted($0, .social, device: index) } == isMuted, words)
      }
    }
  }

  private func check(
    _ packed: PackedChoices, _ choices: [Category: CategoryChoice], _ words: Testing.Comment
  ) {
    for category in Category.allCases {
      #expect(packed[category] == choices[category]?.inForce?.value ?? .unset, words)
    }
  }

  private func mask(_ suppressions: [Suppression: Stamped<Bool>]) -> UInt8 {
    suppressions.reduce(0) { $0 | ($1.value.value ? 1 << $1.key.rawValue : 0) }
  }

  /// Every escape, and ids that Swift's strings would count as equal.
  @Test func idsOfEveryKind() throws {
    for id in ["a\"b\\c", "é", "e\u{301}", "用户-1", "a/b", "\u{2028}", "🙂", "d.1"] as [Identifier] {
      var world = World()
      world.apply(.deviceSeen(id, sync(), .active), at: 0, user: id, source: nil)
      world.apply(.subtypeMuteSet(Subtype(.social, "like"), isMuted: true), at: 0, user: id)
      let user = world.users[id]!
      let gate = GateSide()
      guard case .stored = gate.publish(id, world.document(id)) else {
        Issue.record("\(id) is not read")
        continue
      }
      #expect(gate.block(id)!.deviceID(gate.block(id)!.device(0)).elementsEqual(id.text.utf8))
      #expect(try UserPreferences(storedText: user.storedText) == user)
    }
    #expect(Identifier("é") != Identifier("e\u{301}"))
    #expect(Set(["é", "e\u{301}"] as [Identifier]).count == 2)
  }

  @Test func whatTheStoreSavesIsReadBackWhole() throws {
    var made = RandomEvents(SeededGenerator())
    for _ in 0..<80 {
      var world = World.withUsers
      for event in made.events(60) { world.apply(event) }
      for user in world.users.values {
        let words: Testing.Comment = "seed \(made.random.seed)"
        #expect(try UserPreferences(storedText: user.storedText) == user, words)
      }
    }
  }

  /// Cut anywhere, or with a member less, it is refused and not read as something less.
  @Test func aDamagedTextIsRefused() {
    var world = World()
    world.apply(.deviceSeen("d-1", sync(), .active), at: 0, source: nil)
    world.apply(.choiceSet(.account, .social, .userOff), at: 1)
    let text = world.users["u-1"]!.storedText
    for length in 0..<text.utf8.count {
      #expect(throws: EventFault.self) {
        try UserPreferences(storedText: String(decoding: text.utf8.prefix(length), as: UTF8.self))
      }
    }
    for member in ["\"at\":", "\"state\":", "\"held\":", "\"devices\":", "\"status\":"] {
      let parts = text.split(separator: member, omittingEmptySubsequences: false)
      #expect(parts.count > 1)
      #expect(throws: EventFault.self) {
        try UserPreferences(storedText: parts.joined(separator: "\"x\(member.dropFirst())"))
      }
    }
  }

  @Test func anExportHasEverything() throws {
    var world = World()
    world.apply(.deviceSeen("d-1", sync(), .active), at: 0, source: nil)
    world.apply(.choiceSet(.account, .security, .userOff), at: 1)
    world.apply(.permissionPromptShown("d-1", moment: "order_placed"), at: 2, source: nil)
    let text = ExportDocument.text(
      world.users["u-1"]!, prompts: ["d-1": world.devices["d-1"]!.prompt!], audit: world.rows,
      exportedAtMs: at(3))
    guard case .object(let members)? = withBytes(text, { try? JSONValue($0) }) else {
      Issue.record("no JSON: \(text)")
      return
    }
    #expect(
      members.map(\.name) == ["exported_at", "preferences", "permission_prompts", "audit"])
    #expect(text.contains(world.users["u-1"]!.storedText))
    #expect(text.components("\"sequence\":") == world.rows.count)
    #expect(text.contains(#""reason":"security_needs_admin""#))
    #expect(text.contains(#""moment":"order_placed""#))
  }

  /// No id stands in a record of the audit topic.
  @Test func theAuditTopicHasPseudonymsOnly() {
    var world = World()
    world.apply(.deviceSeen("device-id", sync(), .active), at: 0, user: "user-id", source: nil)
    world.apply(.deviceSeen("device-id", sync(), .active), at: 1, user: "other-id", source: nil)
    world.apply(.choiceSet(.device("device-id"), .social, .userOff), at: 2, user: "user-id")
    #expect(world.rows.count >= 5)
    for row in world.rows {
      let text = AuditDocument.text(row) { "<\($0.text.utf8.count)>" }
      #expect(!text.contains("-id\"") && !text.contains("e-"), "\(text)")
      #expect(withBytes(text) { (try? JSONValue($0)) != nil })
    }
  }
}
