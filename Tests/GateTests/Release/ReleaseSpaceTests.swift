import Testing

@testable import Gate

/// The table at a release, gone through whole: every choice, window, rule and bypass of the small
/// space, at each distance from the hold's bound, with an expiry on either side of every edge. The
/// answer is put together from the words of the rules, not from the gate's code.
@Suite struct ReleaseSpaceTests {
  /// When the bound is reached, seen from now.
  enum Age: Int64, CaseIterable {
    case fresh = 3_600_000
    case shortBeforeBound = 1
    case atBound = 0
    case pastBound = -1

    var boundMs: Int64 { Situation.nowMs + rawValue }
    var heldSinceMs: Int64 { boundMs - Situation.holdHours * 3_600_000 }
    var isReached: Bool { rawValue <= 0 }
  }

  struct Case {
    var situation: Situation
    var age: Age
    /// From the instant until which it would be held on; nil: never expires.
    var expiryMs: Int64?

    var untilMs: Int64 {
      situation.window == .inside ? min(Situation.insideEndsMs, age.boundMs) : age.boundMs
    }
    var expiresAtMs: Int64? { expiryMs.map { untilMs + $0 } }
    var isHeldOn: Bool { !age.isReached && DecisionTable.isDeferrable(situation) }
  }

  static func blockers(_ c: Case) -> [Reason] {
    DecisionTable.dropping.filter { row in
      switch row.reason {
      case .quietHoursDropped: !c.age.isReached && row.holds(c.situation)
      case .expiresInQuietHours: c.isHeldOn && (c.expiryMs ?? 1) <= 0
      default: row.holds(c.situation)
      }
    }.map(\.reason)
  }

  static func answer(_ c: Case) -> DecisionTable.Answer {
    let blockers = blockers(c)
    if let first = blockers.first {
      return DecisionTable.Answer(outcome: .dropped, reason: first, blockedBy: blockers)
    }
    if c.isHeldOn {
      return DecisionTable.Answer(
        outcome: .deferred, reason: .quietHoursDeferred, blockedBy: [],
        deliverAfterMs: c.untilMs)
    }
    let s = c.situation
    // The next start of the device's window: where it is inside one, the first after leaving it.
    let tomorrowMs: Int64 = 23 * 3_600_000
    let start: Int64? =
      s.rule == .bypass || DecisionTable.passesQuiet(s)
      ? nil
      : s.window == .outside
        ? Situation.outsideStartsMs : s.window == .inside ? Situation.nowMs + tomorrowMs : nil
    return DecisionTable.Answer(
      outcome: .approved, reason: .released, blockedBy: [],
      sendBeforeMs: [start, c.expiresAtMs].compactMap { $0 }.min(),
      interruption: s.category == .security ? .timeSensitive : .active)
  }

  @Test func everyHoldAtEveryAge() {
    var seen: [Reason: Int] = [:]
    let documents = DecisionSpaceTests.forEachDocument(
      muted: [false], permissions: [.granted], tokens: [.active, .expired], suppressions: [nil]
    ) { situation, subject in
      DecisionSpaceTests.forEachPolicy(situation) { situation in
        for age in Age.allCases {
          for expiryMs in [nil, -1, 0, 1] as [Int64?] {
            let c = Case(situation: situation, age: age, expiryMs: expiryMs)
            let decision = subject.decide(
              situation, heldSinceMs: age.heldSinceMs, expiresAtMs: c.expiresAtMs)
            let got = DecisionSpaceTests.answer(decision)
            seen[got.reason, default: 0] += 1
            guard got == Self.answer(c) else {
              Issue.record("\(c)\nwant \(Self.answer(c))\ngot  \(got)")
              return false
            }
          }
        }
        return true
      }
    }
    #expect(documents == 24 * 2 * 5 * 2)
    for reason in [Reason.released, .quietHoursDeferred, .expiresInQuietHours, .quietHoursDropped] {
      #expect(seen[reason, default: 0] > 1000, "\(reason)")
    }
    // A release is never anything else that approves.
    #expect(seen[.ok] == nil && seen[.quietHoursBypassed] == nil)
  }
}
