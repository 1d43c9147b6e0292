import Testing

@testable import Gate

/// Every situation of the small space, held against the table in `DecisionTable`.
@Suite struct DecisionSpaceTests {
  /// One user's packed document, decided under any policy.
  struct Subject {
    private let table: PreferenceTable
    private let block: PackedBlock
    private let zones = SystemZones.publisher

    init(_ situation: Situation, user: String, in table: PreferenceTable) {
      let document = situation.document(of: user)
      let applied = withBytes(document) { table.apply(document: $0, offset: 0) }
      guard case .stored = applied else { fatalError("\(applied): \(document)") }
      self.table = table
      block = table.find(withBytes(user) { table.hash($0) })!
    }

    func decide(_ s: Situation) -> Decision {
      decide(s, heldSinceMs: nil, expiresAtMs: s.expiresAtMs)
    }

    func decide(_ s: Situation, heldSinceMs: Int64?, expiresAtMs: Int64?) -> Decision {
      var rules = DecisionSpaceTests.rules
      let bit: UInt8 = 1 << s.category.rawValue
      rules.quietHours[Int(s.category.rawValue)] = s.rule.rawValue
      rules.dropsOnInvalidWindow = s.dropsOnInvalidWindow ? bit : 0
      rules.defaultOn = s.isDefaultOn != s.isRegulated ? bit : 0
      rules.regulatedDefaultOn = s.isDefaultOn && s.isRegulated ? bit : 0
      let decider = Decider(
        rules: rules, lane: s.category == .security ? .security : .ordinary, fallbackZone: 0)
      var candidate = Candidate()
      candidate.expiresAtMs = expiresAtMs
      candidate.event =
        DecisionSpaceTests.events[Situation.Bypass.allCases.firstIndex(of: s.bypass)!]
      if s.isMuted { candidate.subtype = DecisionSpaceTests.muted }
      return decider.decide(
        candidate, s.category, block: block, deviceIndex: 0, isDuplicate: s.isDuplicate,
        defaults: CategoryDefaults(), zones: zones.current, nowMs: Situation.nowMs,
        heldSinceMs: heldSinceMs)
    }
  }

  nonisolated(unsafe) static let rules: Policy.Rules = {
    var rules = Policy.builtIn.rules
    rules.names = NameTable(
      Situation.Bypass.allCases.map { bypass in
        var facts = NameTable.Facts(registered: 15)
        if bypass == .choice || bypass == .both { facts.passesChoice = 15 }
        if bypass == .quiet || bypass == .both { facts.passesQuietHours = 15 }
        return (bypass.rawValue, facts)
      })
    return rules
  }()
  nonisolated(unsafe) static let events = Situation.Bypass.allCases.map { bytes($0.rawValue) }
  nonisolated(unsafe) static let muted = bytes("muted")

  /// Never freed: the candidates of all tests borrow them.
  private static func bytes(_ text: String) -> Bytes {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
    copy.copyBytes(from: text.utf8)
    return Bytes(copy)
  }

  static func answer(_ decision: Decision) -> DecisionTable.Answer {
    DecisionTable.Answer(
      outcome: decision.outcome, reason: decision.reason,
      blockedBy: Reason.allCases.filter { decision.blockedBy >> $0.rawValue & 1 != 0 },
      deliverAfterMs: decision.deliverAfterMs, sendBeforeMs: decision.sendBeforeMs,
      interruption: decision.outcome == .approved ? decision.interruption : nil)
  }

  static func check(_ situation: Situation, _ subject: Subject) -> Bool {
    let decision = subject.decide(situation)
    let wanted = DecisionTable.answer(situation)
    let got = Self.answer(decision)
    let evidence = decision.device!
    let isSame =
      wanted == got && evidence.effective == DecisionTable.isEffective(situation)
      && evidence.accountChoice == situation.account && evidence.deviceChoice == situation.device
      && evidence.osPermission == situation.permission && evidence.tokenStatus == situation.token
      && evidence.suppression == situation.suppression
      && evidence.quietHours.isInside == DecisionTable.isInside(situation)
      && evidence.quietHours.isInvalid == (situation.window == .invalid)
      && evidence.quietHours.endsAtMs
        == (situation.window == .inside ? Situation.insideEndsMs : nil)
    if !isSame { Issue.record("\(situation)\nwant \(wanted)\ngot  \(got)\n\(evidence)") }
    return isSame
  }

  /// Documents of the space; `body` goes through what is the policy's and the candidate's.
  static func forEachDocument(
    muted: [Bool], permissions: [OSPermission], tokens: [TokenStatus],
    suppressions: [Suppression?], _ body: (Situation, Subject) -> Bool
  ) -> Int {
    let table = PreferenceTable(hashKey: (5, 6), zones: SystemZones.publisher, epochs: Epochs())
    var count = 0
    var s = Situation()
    for account in Choice.allCases {
      s.account = account
      for device in Choice.allCases {
        s.device = device
        for consent in Situation.Consent.allCases
        where consent == .dated || account == .userOn || device == .userOn {
          s.consent = consent
          for isRegulated in [false, true] {
            s.isRegulated = isRegulated
            for window in Situation.Window.allCases {
              s.window = window
              for permission in permissions {
                s.permission = permission
                for token in tokens {
                  s.token = token
                  for suppression in suppressions {
                    s.suppression = suppression
                    for isMuted in muted {
                      s.isMuted = isMuted
                      count += 1
                      guard body(s, Subject(s, user: "u\(count)", in: table)) else { return count }
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
    return count
  }

  static func forEachPolicy(_ situation: Situation, _ body: (Situation) -> Bool) -> Bool {
    var s = situation
    for category in Category.allCases {
      s.category = category
      for isDefaultOn in [false, true] {
        s.isDefaultOn = isDefaultOn
        for rule in [Policy.QuietHoursRule.drop, .defer, .bypass] {
          s.rule = rule
          s.dropsOnInvalidWindow = isDefaultOn
          // No policy lets an event pass the choice in a category that rests on consent.
          for bypass in Situation.Bypass.allCases
          where category != .marketing || bypass == .nothing || bypass == .quiet {
            s.bypass = bypass
            guard body(s) else { return false }
          }
        }
      }
    }
    return true
  }

  /// What the device carries and what the user chose, under every policy, seen before or not.
  @Test func everyDeviceState() {
    let documents = Self.forEachDocument(
      muted: [false], permissions: OSPermission.allCases, tokens: TokenStatus.allCases,
      suppressions: [nil] + Suppression.allCases
    ) { situation, subject in
      Self.forEachPolicy(situation) { situation in
        var repeated = situation
        repeated.isDuplicate = true
        return Self.check(situation, subject) && Self.check(repeated, subject)
      }
    }
    #expect(documents == (4 + 5 * 4) * 2 * 5 * 3 * 3 * 4)
  }

  /// What the candidate brings: a muted subtype and an expiry, on either side of every edge.
  @Test func everyCandidate() {
    _ = Self.forEachDocument(
      muted: [false, true], permissions: [.granted, .provisional], tokens: [.active],
      suppressions: [nil]
    ) { situation, subject in
      Self.forEachPolicy(situation) { situation in
        var s = situation
        for expiry in Situation.Expiry.allCases {
          s.expiry = expiry
          for drops in [false, true] {
            s.dropsOnInvalidWindow = drops
            guard Self.check(s, subject) else { return false }
          }
        }
        return true
      }
    }
  }

  /// The same answer whatever was decided in between.
  @Test func pure() {
    var generator = SeededGenerator(seed: 7)
    var first: [(Situation, Subject, DecisionTable.Answer)] = []
    _ = Self.forEachDocument(
      muted: [false], permissions: [.granted], tokens: [.active], suppressions: [nil, .bounced]
    ) { situation, subject in
      var s = situation
      s.category = .marketing
      s.rule = .drop
      first.append((s, subject, Self.answer(subject.decide(s))))
      return true
    }
    for (situation, subject, answer) in first.shuffled(using: &generator) {
      #expect(Self.answer(subject.decide(situation)) == answer)
    }
  }
}
