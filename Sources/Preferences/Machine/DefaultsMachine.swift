import Gate

/// What comes of a change of a default. Users' documents are never touched: a default is looked up
/// when a decision is made, and an explicit choice survives it (requirements C3, C4).
public struct DefaultsTransition: Equatable, Sendable {
  public var outcome: EventOutcome
  public var refusal: Refusal?
  /// Nil: as before.
  public var state: DefaultsState?
  /// To publish on `preferences.defaults` under the category; nil: nothing to publish.
  public var record: Record?
  public var rows: [AuditRow] = []

  public struct Record: Equatable, Sendable {
    public var category: Category
    /// Nil: a null value, back to the policy's.
    public var text: String?
  }
}

extension PreferenceMachine {
  /// One change of a default.
  public func apply(
    _ event: DefaultEvent, to state: DefaultsState, nowMs: Int64
  ) -> DefaultsTransition {
    let held = state.entries[event.category]
    var event = event
    if event.isOfNow {
      // As what users say: by this clock, which may have been set back since, and one behind what is
      // held.
      event.atMs = max(min(event.atMs, nowMs), held.map { $0.atMs + 1 } ?? .min)
    }
    var outcome = EventOutcome.applied
    var refusal: Refusal?
    if !event.isOfNow, event.atMs > nowMs + Self.aheadMsMax {
      refusal = .aheadOfTime
    } else if event.category == .security, let value = event.value,
      !value.isOn || !value.isOnWhereRegulated
    {
      refusal = .securityDefaultOff
    }
    let new = DefaultsState.Entry(value: event.value, atMs: event.atMs)
    if refusal != nil {
      outcome = .refused
    } else if let held {
      if held == new {
        outcome = .unchanged
      } else if !new.outranks(held) {
        outcome = .late
      } else if held.value == new.value {
        outcome = .confirmed
      }
    }

    var transition = DefaultsTransition(outcome: outcome, refusal: refusal)
    if outcome == .applied || outcome == .confirmed {
      var changed = state
      changed.entries[event.category] = new
      transition.state = changed
      if outcome == .applied {
        transition.record = DefaultsTransition.Record(
          category: event.category, text: DefaultDocument.text(event.category, event.value))
      }
    }
    if outcome != .unchanged {
      transition.rows = [
        AuditRow(
          userID: nil, scope: .account, kind: .defaultSet, category: event.category,
          before: held.map { AuditText.categoryDefault($0.value) },
          after: AuditText.categoryDefault(event.value), atMs: event.atMs, recordedAtMs: nowMs,
          source: .adminOverride, eventID: event.eventID, outcome: outcome, reason: refusal?.code)
      ]
    }
    return transition
  }
}

extension DefaultsState.Entry {
  /// The later; of the same instant, off where regulated before on, then off before on, then either
  /// before the policy's own.
  fileprivate func outranks(_ other: Self) -> Bool {
    atMs != other.atMs ? atMs > other.atMs : rank < other.rank
  }

  private var rank: Int {
    guard let value else { return 4 }
    return (value.isOnWhereRegulated ? 2 : 0) + (value.isOn ? 1 : 0)
  }
}

extension AuditText {
  static func categoryDefault(_ value: CategoryDefault?) -> String {
    guard let value else { return "policy" }
    return "\(value.isOn ? "on" : "off"), regulated \(value.isOnWhereRegulated ? "on" : "off")"
  }
}
