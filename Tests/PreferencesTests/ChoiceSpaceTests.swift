import Gate
import Testing

@testable import Preferences

/// The whole space of one choice meeting another: what is held (nothing, or each state at an earlier,
/// the same or a later instant, from each source, or muted by a link), the event's state and source,
/// scope and category. The expectation is a table of words, written without the machine.
@Suite struct ChoiceSpaceTests {
  struct Held {
    var state: Choice
    var source: ChoiceSource
    var step: Int
  }

  @Test func everyChoiceMeetsEveryOther() {
    var cases = 0
    let scopes: [PreferenceScope] = [.account, .device("d-1")]
    for scope in scopes {
      for category in Category.allCases {
        for held in Self.held(scope, category) {
          for state in Choice.allCases {
            for source in ChoiceSource.allCases {
              check(held, state, source, scope, category)
              cases += 1
            }
          }
        }
      }
    }
    // 3 states x 3 sources x 3 instants and nothing; security without user-off but an administrator's;
    // links only on the account's marketing and social.
    let ordinary = 28 * 12
    let security = 22 * 12
    #expect(cases == 6 * ordinary + 2 * security + 2 * 3 * 12)
  }

  private static func held(_ scope: PreferenceScope, _ category: Category) -> [Held?] {
    var all: [Held?] = [nil]
    for state in Choice.allCases {
      for source in ChoiceSource.allCases {
        if source == .unsubscribeLink {
          guard state == .userOff, scope == .account, category.carriesLink else { continue }
        } else if category == .security, state == .userOff, source != .adminOverride {
          continue
        }
        for step in [1, 2, 3] { all.append(Held(state: state, source: source, step: step)) }
      }
    }
    return all
  }

  private func check(
    _ held: Held?, _ state: Choice, _ source: ChoiceSource, _ scope: PreferenceScope,
    _ category: Category
  ) {
    var world = World()
    world.apply(.deviceSeen("d-1", sync(), .active), at: 0)
    if let held {
      world.apply(.choiceSet(scope, category, held.state), at: held.step, source: held.source)
    }
    let before = inForce(world, scope, category)
    let rowsBefore = world.rows.count
    let transition = world.apply(.choiceSet(scope, category, state), at: 2, source: source)
    let after = inForce(world, scope, category)
    let words: Testing.Comment =
      "\(held.map { "\($0)" } ?? "nothing"), then \(state) by \(source) at \(scope) \(category)"

    let expected = Self.expected(held, state, source, scope, category)
    #expect(transition.outcome == expected, words)
    let rows = world.rows[rowsBefore...]
    #expect(rows.count == (expected == .unchanged ? 0 : 1), words)
    for row in rows {
      #expect(row.outcome == expected, words)
      #expect(row.category == category && row.scope == scope && row.atMs == at(2), words)
      #expect(row.source == source, words)
    }
    switch expected {
    case .applied, .confirmed:
      #expect(after == Stamped(state, atMs: at(2), source: source), words)
    case .late, .unchanged: #expect(after == before, words)
    case .refused:
      #expect(after == before, words)
      #expect(transition.refusal != nil && rows.first?.reason == transition.refusal?.code, words)
    }
    if let after, category == .security, after.value == .userOff {
      #expect(after.source == .adminOverride, words)
    }
  }

  private func inForce(
    _ world: World, _ scope: PreferenceScope, _ category: Category
  ) -> Stamped<Choice>? {
    let user = world.users["u-1"]!
    let choices = scope == .account ? user.account.choices : user.devices["d-1"]!.choices
    return choices[category]?.inForce
  }

  private static func expected(
    _ held: Held?, _ state: Choice, _ source: ChoiceSource, _ scope: PreferenceScope,
    _ category: Category
  ) -> EventOutcome {
    if category == .security, state == .userOff, source != .adminOverride { return .refused }
    if source == .unsubscribeLink {
      let isMute = state == .userOff && scope == .account
      guard isMute, category == .marketing || category == .social else { return .refused }
    }
    guard let held else { return .applied }
    if held.step == 1 { return held.state == state ? .confirmed : .applied }
    if held.step == 3 { return .late }
    // The same instant: off beats default beats on; then a fixed order of sources.
    if held.state != state {
      let isStricter = state == .userOff || (state == .unset && held.state == .userOn)
      return isStricter ? .applied : .late
    }
    if held.source == source { return .unchanged }
    let order: [ChoiceSource] = [
      .inAppSettings, .osSettingsSync, .unsubscribeLink, .adminOverride,
    ]
    return order.firstIndex(of: source)! < order.firstIndex(of: held.source)! ? .confirmed : .late
  }
}
