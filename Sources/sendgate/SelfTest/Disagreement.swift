/// Two sides that say different things, or one that says nothing.
struct Disagreement: Equatable, Sendable {
  /// Of which user; nil: of the run as a whole.
  var state: SelfTestState?
  /// Whose word it is, and of what: `decision.reason`.
  var what: String
  var expected: String
  var found: String
  /// What to look at first.
  var look: String

  var line: String {
    let who = state.map { "\($0.rawValue): " } ?? ""
    return "\(who)\(what): expected \(expected), found \(found)\n      \(look)"
  }
}

/// Where to look, by whose word it is.
enum SelfTestPlace {
  static let service =
    "The preference service does not keep what it was told: its log, and GET /v1/users/{id}/audit."
  static let outbox =
    "The preference service publishes nothing: sendgate_preferences_outbox_waiting, its log, its"
    + " rights on preferences.state."
  static let topic =
    "preferences.state says something else than the service: who else writes there, and under which"
    + " rights?"
  static let gateSilent =
    "The gate has decided nothing: /readyz?verbose of every gate, sendgate_lag_records,"
    + " sendgate_paused."
  static let gateStale =
    "The gate's preference table is behind: /readyz?verbose of the gate that owns the partition, its"
    + " log, its rights on preferences.state."
  static let policy =
    "The gate, the preference service and this configuration do not have the same policy.file: which"
    + " of them was not restarted?"
  static let gate =
    "The gate decides otherwise than the rules ask for: docs/decision.md, row by row, with the values"
    + " of the record."
  static let routing =
    "A dispatcher can see it: end the dispatchers, and ask which release of the gate wrote it."
  static let index =
    "The index does not have the record: evidence.database of the preference service, its log, its"
    + " rights on the output topics."
  static let indexWrong =
    "The index says something else than the record on the topic: rebuild it (docs/evidence.md)."
  static let now =
    "The preference service would decide otherwise than the gate did: its policy.file and release"
    + " against the gate's."
}
