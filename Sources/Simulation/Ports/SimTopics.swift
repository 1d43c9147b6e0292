import Gate
import Pipeline

/// The topics of the simulated cluster, by the lane that reads and writes them.
struct SimTopics {
  static let approved = "notifications.approved"
  static let deferred = "notifications.deferred"
  static let dropped = "notifications.dropped"
  static let receipts = "notifications.receipts"
  static let preferences = "preferences.state"
  static let defaults = "preferences.defaults"

  static func candidates(_ lane: Lane) -> String {
    lane == .security ? "notifications.candidate.security" : "notifications.candidate"
  }

  static func state(_ lane: Lane) -> String {
    lane == .security ? "notifications.state.security" : "notifications.state"
  }

  static func group(_ lane: Lane) -> String { lane == .security ? "gate.security" : "gate" }
}

/// How long things take and wait, in the proportions of the product's own defaults.
enum SimTimes {
  static let stepMs: Int64 = 700
  static let requestMs: Int64 = 400
  static let transactionMs: Int64 = 2_000
  static let sessionMs: Int32 = 3_000
  static let heartbeatMs: Int64 = 400
  static let rebalanceMs: Int32 = 6_000
  static let pollMsMax: Int64 = 6_000
  static let staleMs: Int64 = 3_000
}
