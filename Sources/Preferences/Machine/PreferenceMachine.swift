import Gate

/// What the machine asks of the tz database.
public protocol ZoneNames: Sendable {
  func isKnown(_ zone: Identifier) -> Bool
  /// At most three that may have been meant.
  func closeMatches(_ zone: Identifier) -> [String]
}

/// The rules of the preference service as total functions: the state before and an event give the
/// state after, audit rows and documents, or a refusal. No clock, no I/O; the same events in any
/// order, each once or many times, lead to the same state.
public struct PreferenceMachine: Sendable {
  /// How far ahead of this clock an event may be dated.
  public static let aheadMsMax: Int64 = 5 * 60_000
  /// Kept of one user, with those that went to others or were removed; the document has at most 64.
  public static let devicesMax = 256

  let policy: Policy
  let zones: any ZoneNames

  public init(policy: Policy, zones: any ZoneNames) {
    self.policy = policy
    self.zones = zones
  }

  /// One event of a user.
  public func apply(_ event: PreferenceEvent, to known: KnownState, nowMs: Int64) -> Transition {
    var step = MachineStep(event: event, known: known, nowMs: nowMs, machine: self)
    return step.run()
  }
}
