/// The topics the gate has to do with.
public enum TopicRole: String, CaseIterable, Sendable {
  case candidate = "notifications.candidate"
  case candidateSecurity = "notifications.candidate.security"
  case approved = "notifications.approved"
  case deferred = "notifications.deferred"
  case dropped = "notifications.dropped"
  case selfTest = "notifications.selftest"
  case receipts = "notifications.receipts"
  case state = "notifications.state"
  case stateSecurity = "notifications.state.security"
  case preferences = "preferences.state"
  case defaults = "preferences.defaults"
  case preferenceEvents = "preferences.events"
  case audit = "preferences.audit"

  /// What it is called where nothing else is configured; also its key in the configuration.
  public var defaultName: String { rawValue }
}

/// What each topic is called.
public struct TopicNames: Sendable {
  private var names: [TopicRole: String] = [:]

  public init() {}

  public subscript(role: TopicRole) -> String {
    get { names[role] ?? role.defaultName }
    set { names[role] = newValue }
  }
}

/// Which partition counts belong together (requirements T5): what comes of candidate partition p goes
/// to partition p, and is decided on what is in partition p.
public enum PartitionCountRules {
  /// Topics whose counts are compared, besides the candidates themselves.
  public static let compared: [TopicRole] = [
    .candidate, .candidateSecurity, .approved, .deferred, .dropped, .selfTest, .receipts, .state,
    .stateSecurity, .preferences,
  ]

  /// What is wrong, each naming both topics and both counts; empty where all is well. A topic
  /// without a count is not compared.
  public static func violations(
    _ counts: [TopicRole: Int32], _ names: TopicNames
  ) -> [String] {
    guard let candidates = counts[.candidate] else { return [] }
    var found: [String] = []
    for role in [
      TopicRole.approved, .deferred, .dropped, .selfTest, .receipts, .state, .preferences,
    ] {
      guard let count = counts[role], count != candidates else { continue }
      found.append(
        "\(names[role]) has \(count) partitions, \(names[.candidate]) has \(candidates); "
          + "they must have the same number")
    }
    guard let security = counts[.candidateSecurity] else { return found }
    if security > candidates {
      found.append(
        "\(names[.candidateSecurity]) has \(security) partitions, \(names[.candidate]) has "
          + "\(candidates); it may have fewer, not more")
    }
    if let state = counts[.stateSecurity], state != security {
      found.append(
        "\(names[.stateSecurity]) has \(state) partitions, \(names[.candidateSecurity]) has "
          + "\(security); they must have the same number")
    }
    return found
  }
}
