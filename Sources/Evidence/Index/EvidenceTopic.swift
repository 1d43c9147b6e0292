import Kafka

/// A topic that is indexed, and what its records are.
struct EvidenceTopic: Sendable, Equatable {
  enum Content: String, Sendable {
    case approved, deferred, dropped
    /// Approvals of synthetic users.
    case selfTest = "selftest"
    case receipts
    /// Documents of users, which are passed by; a null value is an erasure.
    case preferences
  }

  var name: String
  var content: Content

  static func all(_ names: TopicNames) -> [EvidenceTopic] {
    let selfTest = TopicRole(rawValue: "notifications.selftest").map {
      EvidenceTopic(name: names[$0], content: .selfTest)
    }
    return [
      EvidenceTopic(name: names[.preferences], content: .preferences),
      EvidenceTopic(name: names[.approved], content: .approved),
      EvidenceTopic(name: names[.deferred], content: .deferred),
      EvidenceTopic(name: names[.dropped], content: .dropped),
      EvidenceTopic(name: names[.receipts], content: .receipts),
    ] + (selfTest.map { [$0] } ?? [])
  }
}
