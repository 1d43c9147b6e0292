import Telemetry

/// What the preference service tells of itself. Registered once a process.
public enum StoreMetrics {
  public static func register(
    in registry: MetricRegistry, _ service: PreferenceService, outbox: OutboxPublisher,
    intake: EventIntake
  ) {
    let counters = service.counters
    registry.counter(
      "preferences_commits", help: "Commits of the preference store that were made durable."
    ) { counters.groups.value }
    registry.counter(
      "preferences_requests",
      help: "Requests that were in those commits; over the commits, how many shared one."
    ) { counters.requests.value }
    for topic in OutboxTopic.allCases {
      register(in: registry, service, topic, outbox.statuses[topic]!)
    }
    register(in: registry, intake.counters)
  }

  private static func register(
    in registry: MetricRegistry, _ service: PreferenceService, _ topic: OutboxTopic,
    _ status: OutboxStatus
  ) {
    let labels: Labels = ["topic": topic.rawValue]
    registry.counter(
      "preferences_outbox_published",
      help: "Records that were published, or a newer one in their place; one again counts again.",
      labels: labels
    ) { status.published.value }
    registry.counter(
      "preferences_outbox_failures",
      help: "Times that records were refused, which are published again.", labels: labels
    ) { status.failed.value }
    registry.gauge(
      "preferences_outbox_refused",
      help: "1 where Kafka refuses the topic, or some of its records: see the log and /readyz.",
      labels: labels
    ) { status.refusal == nil ? 0 : 1 }
    registry.gauge(
      "preferences_outbox_waiting", help: "Records that wait to be published.", labels: labels
    ) { (try? service.outboxBacklog())?[topic].map { Double($0.rows) } }
    registry.gauge(
      "preferences_outbox_age", unit: .seconds, help: "How long the first of them has waited.",
      labels: labels
    ) {
      (try? service.outboxBacklog())?[topic].map { backlog in
        backlog.oldestMs.map { Double(max(0, service.nowMs() - $0)) / 1000 } ?? 0
      }
    }
  }

  private static func register(in registry: MetricRegistry, _ counters: IntakeCounters) {
    let read = "Records that were read, by what they were."
    let kinds: [(String, EventCount)] = [
      ("event", counters.events), ("receipt", counters.receipts), ("feedback", counters.feedback),
      ("unreadable", counters.unreadable), ("skipped", counters.skipped),
    ]
    for (kind, count) in kinds {
      registry.counter("preferences_intake_records", help: read, labels: ["kind": kind]) {
        count.value
      }
    }
    let gaps = counters.gaps
    registry.counter(
      "preferences_intake_gaps", help: "Times that records were gone before they were read."
    ) { gaps.value }
    let isCaughtUp = counters.isCaughtUp
    registry.gauge(
      "preferences_intake_caught_up", help: "1 where everything on the topics is applied."
    ) { isCaughtUp.value ? 1 : 0 }
  }
}
