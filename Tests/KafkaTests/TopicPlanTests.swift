import Pipeline
import Testing

@testable import Consumer
@testable import Kafka

@Suite struct TopicPlanTests {
  static let plan = TopicPlan(
    names: TopicNames(), partitionCount: 8, securityPartitionCount: 4, replicationFactor: 1)

  static var rightCounts: [TopicRole: Int32] {
    Dictionary(uniqueKeysWithValues: plan.topics.map { ($0.role, $0.partitionCount) })
  }

  static var rightSettings: [String: [String: String]] {
    Dictionary(
      uniqueKeysWithValues: plan.topics.map { topic in
        (topic.name, Dictionary(uniqueKeysWithValues: topic.settings.map { ($0.key, $0.value) }))
      })
  }

  @Test func whatIsMadeAsPlannedHasNoFindings() {
    #expect(Self.plan.findings(counts: Self.rightCounts, settings: Self.rightSettings) == [])
    #expect(Self.plan.topics.count == TopicRole.allCases.count)
  }

  @Test func everySettingThatDiffersIsNamed() {
    for topic in Self.plan.topics {
      for (key, wanted) in topic.settings {
        var settings = Self.rightSettings
        settings[topic.name]![key] = "77"
        let findings = Self.plan.findings(counts: Self.rightCounts, settings: settings)
        #expect(
          findings.map(\.description) == ["\(topic.name): \(key) is 77, it must be \(wanted)"])
      }
    }
  }

  @Test func numbersAreComparedAsNumbers() {
    var settings = Self.rightSettings
    settings["preferences.state"]!["min.cleanable.dirty.ratio"] = "0.10"
    #expect(Self.plan.findings(counts: Self.rightCounts, settings: settings) == [])
  }

  @Test func everyMissingTopicIsNamed() {
    for topic in Self.plan.topics {
      var counts = Self.rightCounts
      counts[topic.role] = nil
      let findings = Self.plan.findings(counts: counts, settings: Self.rightSettings)
      #expect(findings.first?.description == "\(topic.name) does not exist")
      #expect(findings.count == 1)
    }
  }

  @Test func theCompactedTopicsAreCleanedEarly() {
    for role in [TopicRole.deferred, .state, .stateSecurity, .preferences, .defaults] {
      let settings = Dictionary(
        uniqueKeysWithValues: Self.plan.topics.first { $0.role == role }!.settings.map {
          ($0.key, $0.value)
        })
      #expect(settings["cleanup.policy"] == "compact")
      #expect(settings["segment.bytes"] == "\(64 << 20)")
      #expect(settings["segment.ms"] == "\(3600 * 1000)")
      #expect(settings["min.cleanable.dirty.ratio"] == "0.1")
    }
    // What an erased user's documents said goes in a stated time.
    let preferences = Self.plan.topics.first { $0.role == .preferences }!
    #expect(
      preferences.settings.contains { $0.key == "max.compaction.lag.ms" && $0.value == "604800000" }
    )
    let audit = Self.plan.topics.first { $0.role == .audit }!
    #expect(audit.settings.contains { $0.key == "retention.ms" && $0.value == "-1" })
  }

  /// A decision carries its candidate's headers: an output must take what the candidates' topic takes.
  @Test func outputsTakeAsLargeRecordsAsCandidates() {
    for role in [TopicRole.approved, .deferred, .dropped, .selfTest] {
      for (value, isGood) in [
        ("1000", false), ("1048587", false), ("1048588", true), ("9000000", true),
      ] {
        var settings = Self.rightSettings
        settings[role.rawValue]!["max.message.bytes"] = value
        let findings = Self.plan.findings(counts: Self.rightCounts, settings: settings)
        #expect(findings.isEmpty == isGood, "\(role) \(value)")
        guard !isGood else { continue }
        #expect(
          findings.map(\.description) == [
            "\(role.rawValue): max.message.bytes is \(value), it must be at least 1048588"
          ])
      }
    }
  }
}

/// A gate that is down for less sees an erasure also where the user is back.
@Test func erasuresAreNotCompactedAwayAtOnce() {
  for (value, isGood) in [("0", false), ("86399999", false), ("86400000", true)] {
    var settings = TopicPlanTests.rightSettings
    settings["preferences.state"]!["min.compaction.lag.ms"] = value
    let findings = TopicPlanTests.plan.findings(
      counts: TopicPlanTests.rightCounts, settings: settings)
    #expect(
      findings.map(\.description)
        == (isGood
          ? []
          : ["preferences.state: min.compaction.lag.ms is \(value), it must be at least 86400000"]))
  }
}

@Suite struct PartitionCountTests {
  static func violations(_ change: (inout [TopicRole: Int32]) -> Void) -> [String] {
    var counts = Dictionary(
      uniqueKeysWithValues: PartitionCountRules.compared.map { ($0, Int32(6)) })
    counts[.candidateSecurity] = 3
    counts[.stateSecurity] = 3
    change(&counts)
    return PartitionCountRules.violations(counts, TopicNames())
  }

  @Test func equalCountsAndFewerForSecurityAreRight() {
    #expect(Self.violations { _ in } == [])
    #expect(
      Self.violations {
        $0[.candidateSecurity] = 6
        $0[.stateSecurity] = 6
      } == [])
  }

  @Test(arguments: [
    TopicRole.approved, .deferred, .dropped, .selfTest, .receipts, .state, .preferences,
  ])
  func anUnequalOneIsNamedWithBothCounts(role: TopicRole) {
    for count: Int32 in [5, 12] {
      let found = Self.violations { $0[role] = count }
      #expect(found.count == 1)
      #expect(found[0].contains("\(role.defaultName) has \(count) partitions"))
      #expect(found[0].contains("notifications.candidate has 6"))
    }
  }

  @Test func candidatesRaisedAloneAreUnequalToAll() {
    #expect(Self.violations { $0[.candidate] = 12 }.count == 7)
  }

  @Test func securityMayNotHaveMoreAndItsStateHasTheSame() {
    let more = Self.violations {
      $0[.candidateSecurity] = 7
      $0[.stateSecurity] = 7
    }
    #expect(more.count == 1 && more[0].contains("has 7") && more[0].contains("has 6"))
    let state = Self.violations { $0[.stateSecurity] = 6 }
    #expect(state.count == 1 && state[0].contains("has 6") && state[0].contains("has 3"))
  }
}

@Suite struct FollowedEndsTests {
  @Test func isFreshOnlyWhenEveryPartitionWasReadToItsEnd() {
    var ends = FollowedEnds(partitionCount: 2)
    ends.asked(atMs: 100, partition: 0, end: 10)
    ends.asked(atMs: 100, partition: 1, end: 5)
    ends.reached(partition: 0, offset: 10)
    ends.reached(partition: 1, offset: 4)
    #expect(ends.freshAtMs == nil)
    // The last record has offset 3, a control marker 4: only the event counts it.
    ends.reached(partition: 1, offset: 5)
    #expect(ends.freshAtMs == 100)
  }

  @Test func anEmptyPartitionIsReadAtOnce() {
    var ends = FollowedEnds(partitionCount: 2)
    ends.asked(atMs: 7, partition: 0, end: 0)
    ends.asked(atMs: 7, partition: 1, end: 0)
    #expect(ends.freshAtMs == 7)
  }

  @Test func freshnessIsTheOldestPartitions() {
    var ends = FollowedEnds(partitionCount: 2)
    for partition: Int32 in 0...1 { ends.asked(atMs: 1, partition: partition, end: 0) }
    ends.asked(atMs: 50, partition: 0, end: 0)
    #expect(ends.freshAtMs == 1)
    ends.asked(atMs: 60, partition: 1, end: 3)
    #expect(ends.freshAtMs == 1)
    ends.reached(partition: 1, offset: 3)
    #expect(ends.freshAtMs == 50)
  }

  /// A topic that is always written to is never read to the end it has now, and is still fresh.
  @Test func steadyWritingIsNotStaleness() {
    var ends = FollowedEnds(partitionCount: 1)
    var atMs: Int64 = 0
    var end: Int64 = 100
    for _ in 0..<50 {
      atMs += 2000
      end += 1000
      ends.asked(atMs: atMs, partition: 0, end: end)
      ends.reached(partition: 0, offset: end - 400)
    }
    #expect(ends.freshAtMs != nil)
    #expect(atMs - ends.freshAtMs! <= 6000)
  }

  @Test func anOldAnswerIsNotForgottenForANewOne() {
    var ends = FollowedEnds(partitionCount: 1)
    ends.asked(atMs: 1, partition: 0, end: 10)
    ends.asked(atMs: 2, partition: 0, end: 99)
    ends.reached(partition: 0, offset: 10)
    #expect(ends.freshAtMs == 1)
  }
}
