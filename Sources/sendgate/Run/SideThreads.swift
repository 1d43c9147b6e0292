import Consumer
import Kafka
import Pipeline
import Telemetry

/// Waits for the topics, then watches their partition counts (requirements T5).
enum TopicThread {
  static func run(_ world: SharedWorld, _ findings: Findings, _ control: LaneControl) {
    do throws(ConfigurationError) {
      let watch = try TopicWatch(
        properties: world.kafka, names: world.topicNames,
        onEvent: world.onKafkaEvent("topic watch"))
      defer { watch.close() }
      follow(watch, world, findings, control)
    } catch {
      findings.mustStop(ExitCode.configuration, ["\(error)"])
    }
  }

  private static func follow(
    _ watch: TopicWatch, _ world: SharedWorld, _ findings: Findings, _ control: LaneControl
  ) {
    let patience = Patience(world.configuration.brokerWaitTimeoutMs)
    let finding = watch.waitForTopics(control) { finding in
      let reason = words(finding)
      findings.isWaiting(reason)
      if case .refused = finding {
        findings.isRefused(.topics, reason)
      } else {
        findings.isRefused(.topics, nil)
      }
      world.log.warning("Waiting for the topics", ["reason": .string(reason)])
      if patience.isOver {
        findings.mustStop(
          ExitCode.unavailable, ["broker.wait.timeout.ms is over, and still: \(reason)"])
        control.ask(.drain)
      }
    }
    switch finding {
    case .right(let counts)?:
      findings.isRefused(.topics, nil)
      findings.found(
        TopicCounts(ordinary: counts[.candidate]!, security: counts[.candidateSecurity]!))
      tellUnfitSettings(watch, world)
      let wrong = watch.watch(
        counts, intervalMs: Int64(world.configuration.partitionsCheckIntervalMs), control
      ) { reason in
        world.log.warning("The topics cannot be looked at", ["reason": .string(reason)])
      }
      if let wrong { findings.mustStop(ExitCode.configuration, wrong) }
    case .wrong(let reasons)?: findings.mustStop(ExitCode.configuration, reasons)
    default: break
    }
  }

  /// Told and not refused: it works until the first record that does not fit.
  private static func tellUnfitSettings(_ watch: TopicWatch, _ world: SharedWorld) {
    do throws(KafkaError) {
      for reason in try watch.unfitSettings(of: world.configuration.topicPlan) {
        world.log.warning(
          "A topic is not as the gate needs it; sendgate topics check tells all",
          ["reason": .string(reason)])
      }
    } catch {
      world.log.info(
        "The topics' settings are not told, and so not checked", ["reason": .string("\(error)")])
    }
  }

  private static func words(_ finding: TopicWatch.Finding) -> String {
    switch finding {
    case .unreachable(let reason): "no broker answers at kafka.bootstrap.servers: \(reason)"
    case .refused(let reason): "Kafka refuses to tell of them: \(reason)"
    case .missing(let topics):
      "topics that do not exist: \(topics.joined(separator: ", ")); sendgate topics create makes them"
    case .right, .wrong: "\(finding)"
    }
  }
}

/// How long to go on waiting; for ever where nothing is set.
private struct Patience {
  private let untilMs: Int64?

  init(_ timeoutMs: Int?) { untilMs = timeoutMs.map { SystemClock().monotonicMs() + Int64($0) } }

  var isOver: Bool { untilMs.map { SystemClock().monotonicMs() >= $0 } ?? false }
}

/// Reads the preferences, and follows them: the one writer of the table.
enum PreferenceThread {
  static func run(_ world: SharedWorld, _ findings: Findings, _ control: LaneControl) {
    do throws(ConfigurationError) {
      let follower = try PreferenceFollower(
        table: world.preferences, readiness: world.readiness, counters: world.preferenceCounters,
        settings: PreferenceFollower.Settings(
          properties: world.kafka, topics: world.topicNames),
        onEvent: world.onKafkaEvent("preferences"),
        onAlarm: { [log = world.log] alarm in
          if case .refused(let reason) = alarm { findings.isRefused(.preferences, reason) }
          write(alarm, to: log)
        },
        onReady: { [log = world.log] documents, tookMs in
          log.info(
            "The preferences are read",
            ["records": .integer(Int(documents)), "took.ms": .integer(Int(tookMs))])
        },
        onChange: { change in
          for changes in world.preferenceChanges { changes.note(change) }
        },
        onOptOut: { optOut in
          for notes in world.optOuts { notes.note(optOut) }
        })
      if let reason = follower.run(control) {
        findings.mustStop(ExitCode.unavailable, [reason])
      }
    } catch {
      findings.mustStop(ExitCode.configuration, ["\(error)"])
    }
  }

  private static func write(_ alarm: PreferenceAlarm, to log: Logger) {
    switch alarm {
    case .unreadable(let partition, let offset, let why):
      log.error(
        "A preference document cannot be read; its user gets nothing until one can",
        ["partition": .integer(partition), "offset": .integer(offset), "document": .string(why)])
    case .olderVersion(let partition, let offset):
      log.error(
        "A preference document has a version below the one it replaces",
        ["partition": .integer(partition), "offset": .integer(offset)])
    case .defaultRefused(let offset):
      log.error(
        "A default is refused: it cannot be read, or it is off for security",
        ["offset": .integer(offset)])
    case .waiting(let reason):
      log.warning("Waiting for the preferences", ["reason": .string(reason)])
    case .refused(let reason):
      log.error("Kafka refuses to let the preferences be read", ["reason": .string(reason)])
    }
  }
}
