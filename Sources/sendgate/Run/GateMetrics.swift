import Consumer
import Gate
import Pipeline
import Telemetry

/// Every metric of the gate, by name. The counts are kept where they are counted and read when
/// somebody asks.
enum GateMetrics {
  static func register(
    _ world: SharedWorld, _ findings: Findings, in registry: MetricRegistry
  ) {
    registry.info(
      "build", help: "What this process is.",
      labels: [
        "version": String(describing: GateVersion.text), "policy_version": world.policy.version,
      ])
    registry.gauge("preference_users", help: "Users in the preference table.") {
      Double(world.preferences.users)
    }
    registry.gauge(
      "preference_table", unit: .bytes, help: "Memory of the preference table."
    ) { Double(world.preferences.memoryBytes) }
    registry.gauge(
      "preferences_behind", unit: .seconds,
      help: "How far the preferences may be behind; absent until they have been read once."
    ) {
      guard world.readiness.isReady else { return nil }
      return Double(world.readiness.behindMs(nowMs: SystemClock().monotonicMs())) / 1_000
    }
    registry.gauge(
      "tzdb_refused",
      help:
        "1 while the tz database on disk is refused, as a zone of it is gone or damaged; the one read before stays in use."
    ) { findings.zonesRefusal == nil ? 0 : 1 }
    registry.gauge(
      "optout_leak_objective", unit: .seconds,
      help: "How long after an opt-out the last approval may be (optout.leak.objective.ms)."
    ) { Double(world.configuration.optOutLeakObjectiveMs) / 1_000 }
    for count in PreferenceCounters.Count.allCases {
      registry.counter(
        "preference_records",
        help:
          "Records read from the preference topics, by what became of them and what was passed over in them.",
        labels: ["result": name(count)]
      ) { world.preferenceCounters[count] }
    }
  }

  /// A sample for each version of the tz database seen by this process; 1 for the one in use.
  static func registerZones(_ version: String, _ world: SharedWorld, in registry: MetricRegistry) {
    registry.gauge(
      "tzdb_version", help: "The version of the tz database in use.",
      labels: ["version": version]
    ) { String(decoding: world.zones.current.version, as: UTF8.self) == version ? 1 : nil }
  }

  static func register(_ runner: LaneRunner, in registry: MetricRegistry) {
    let counters = runner.counters
    let labels: Labels = ["lane": runner.name]
    for outcome in Outcome.allCases {
      for reason in Reason.allCases where reason.outcome == outcome {
        for category in Category.allCases.map(Optional.some) + [nil] {
          registry.counter(
            "decisions", help: "Decisions committed.",
            labels: [
              "lane": runner.name, "outcome": "\(outcome.name)",
              "category": category.map { "\($0.name)" } ?? "none", "reason": "\(reason.name)",
            ]
          ) { counters.decided(outcome, category, reason) }
        }
      }
    }
    registry.counter("candidates", help: "Candidates decided and committed.", labels: labels) {
      counters[.records]
    }
    registry.counter(
      "candidates_discarded", help: "Records read that were decided before or are another's.",
      labels: labels
    ) { counters[.discarded] }
    registry.counter("batches", help: "Batches decided.", labels: labels) { counters[.batches] }
    registry.counter("commits", help: "Transactions committed.", labels: labels) {
      counters[.commits]
    }
    registry.counter("aborts", help: "Transactions aborted and redone.", labels: labels) {
      counters[.aborts]
    }
    registry.counter("rebalances", help: "Rebalances answered.", labels: labels) {
      counters[.rebalances]
    }
    registry.counter(
      "producers_replaced", help: "Producers made anew after a transaction was given up.",
      labels: labels
    ) { counters[.producersReplaced] }
    registry.counter(
      "unregistered_names", help: "Candidates whose event or subtype the policy does not know.",
      labels: labels
    ) { counters[.unregisteredNames] }
    registry.counter(
      "duplicates_differing",
      help: "Duplicates that say something else than what was let through under their id.",
      labels: labels
    ) { counters[.differingDuplicates] }
    registry.counter(
      "headers_left_out",
      help: "Records written without their candidate's headers, with which they were too large.",
      labels: labels
    ) { runner.headersLeftOut }
    registry.gauge(
      "lag_records",
      help: "Candidates not yet decided, as last heard; absent where that is not known.",
      labels: labels
    ) {
      // It is read once a second; of a partition that was just assigned nothing is known yet.
      let isKnown =
        counters[.ownedPartitions] > 0 && runner.health.reading.unread == 0 && counters[.lag] >= 0
      return isKnown ? Double(counters[.lag]) : nil
    }
    registry.gauge(
      "unread_partitions",
      help: "Owned partitions of which nothing came yet, or that cannot be read.", labels: labels
    ) { Double(runner.health.reading.unread) }
    registry.gauge(
      "stalled_partitions",
      help: "Owned partitions with candidates to decide and no progress.", labels: labels
    ) { Double(runner.health.reading.stalled) }
    registry.gauge("owned_partitions", help: "Partitions this lane owns.", labels: labels) {
      Double(counters[.ownedPartitions])
    }
    registry.gauge(
      "paused", help: "1 while the lane decides nothing because of the preferences.",
      labels: labels
    ) { Double(counters[.isPaused]) }
    registerState(counters, labels, in: registry)
    if runner.lane == .ordinary {
      HoldMetrics.register(counters, lane: runner.name, in: registry)
      LeakMetrics.register(counters, lane: runner.name, in: registry)
    }
    registerCaps(counters, labels, in: registry)
    let bounds = LatencyHistogram.boundsMs.map { Double($0) / 1_000 }
    for (name, help, histogram) in [
      ("commit", "From the flush to the commit's answer.", counters.commitLatency),
      (
        "end_to_end", "From a candidate's Kafka timestamp to its commit; a sample of them.",
        counters.endToEndLatency
      ),
    ] {
      registry.histogram(
        "\(name)_latency", unit: .seconds, help: help, labels: labels, bounds: bounds
      ) { (histogram.buckets, Double(histogram.sumMs) / 1_000) }
    }
  }

  /// What the lane remembers, and how it got there.
  private static func registerState(
    _ counters: LoopCounters, _ labels: Labels, in registry: MetricRegistry
  ) {
    registry.gauge(
      "duplicates_entries", help: "Ids remembered against duplicates.", labels: labels
    ) { Double(counters[.seenIDs]) }
    registry.gauge(
      "duplicates_memory", unit: .bytes, help: "Memory that they take.", labels: labels
    ) { Double(counters[.seenBytes]) }
    registry.gauge(
      "duplicates_horizon", unit: .seconds,
      help:
        "How far back they reach: the policy's horizon, or less where there was no room for it.",
      labels: labels
    ) { Double(counters[.seenHorizonMs]) / 1_000 }
    registry.gauge(
      "restoring_partitions", help: "Partitions whose state is being read back.", labels: labels
    ) { Double(counters[.restoringPartitions]) }
    registry.gauge(
      "restore_duration", unit: .seconds, help: "How long the newest restore took.",
      labels: labels
    ) { Double(counters[.restoreMs]) / 1_000 }
    registry.counter(
      "state_records_restored", help: "Records read back from the state topic.", labels: labels
    ) { counters[.stateRecordsRestored] }
    registry.counter(
      "state_records_forgotten", help: "Null values written to the state topic.", labels: labels
    ) { counters[.stateRecordsForgotten] }
  }

  /// What is counted against caps, and what receipts did to it.
  private static func registerCaps(
    _ counters: LoopCounters, _ labels: Labels, in registry: MetricRegistry
  ) {
    registry.gauge(
      "caps_entries", help: "Notifications remembered against frequency caps.", labels: labels
    ) { Double(counters[.cappedNotifications]) }
    registry.gauge(
      "caps_memory", unit: .bytes, help: "Memory that they take.", labels: labels
    ) { Double(counters[.capBytes]) }
    registry.gauge(
      "caps_uncounted",
      help:
        "Approvals on the partitions owned now that were not counted: caps_entries_max is too small.",
      labels: labels
    ) { Double(counters[.capsUncounted]) }
    registry.counter(
      "caps_refunded", help: "Notifications rejected on every device, and not counted any more.",
      labels: labels
    ) { counters[.refunds] }
    registry.counter("receipts", help: "Receipts read for refunds.", labels: labels) {
      counters[.receipts]
    }
    for (reason, count) in [
      ("unreadable", LoopCounters.Count.receiptsUnreadable), ("misplaced", .receiptsMisplaced),
    ] {
      registry.counter(
        "receipts_passed_over", help: "Receipts that refund nothing whatever they say.",
        labels: ["lane": labels.first!.value, "reason": reason]
      ) { counters[count] }
    }
  }

  private static func name(_ count: PreferenceCounters.Count) -> String {
    switch count {
    case .stored: "stored"
    case .erased: "erased"
    case .storedOlderVersion: "stored_older_version"
    case .unreadable: "unreadable"
    case .ignored: "ignored"
    case .defaults: "default"
    case .defaultsRefused: "default_refused"
    case .unknownZone: "unknown_zone"
    case .invalidWindow: "invalid_window"
    case .securityOffIgnored: "security_off_ignored"
    }
  }
}
