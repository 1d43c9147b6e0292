import Kafka
import Pipeline

/// Holds the topics against what the gate depends on: that they are there, and that their partition
/// counts go together (requirements T5). A count that was raised on one topic alone sends a user's
/// candidates and preferences to different partitions, and "off" becomes "no preference" without an
/// error anywhere.
public final class TopicWatch {
  public enum Finding: Sendable, Equatable {
    /// As it should be; the counts, by role.
    case right([TopicRole: Int32])
    case unreachable(String)
    /// The broker answers, and refuses.
    case refused(String)
    case missing([String])
    /// Each names both topics and both counts.
    case wrong([String])
  }

  private let admin: KafkaAdmin
  private let names: TopicNames
  private let requestTimeoutMs: Int32
  private let clock = SystemClock()

  /// To be made, used and closed on one thread.
  public init(
    properties: KafkaProperties, names: TopicNames, requestTimeoutMs: Int32 = 5000,
    onEvent: @escaping KafkaEventHandler
  ) throws(ConfigurationError) {
    admin = try KafkaAdmin(properties: properties, onEvent: onEvent)
    self.names = names
    self.requestTimeoutMs = requestTimeoutMs
  }

  public func close() { admin.close() }

  private static let required: [TopicRole] = PartitionCountRules.compared + [.defaults]

  public func look() -> Finding {
    do throws(KafkaError) {
      let found = try admin.metadata(
        of: Self.required.map { names[$0] }, timeoutMs: requestTimeoutMs)
      let missing = found.filter { $0.partitionCount == nil }.map(\.name)
      if !missing.isEmpty { return .missing(missing) }
      var counts: [TopicRole: Int32] = [:]
      for (role, topic) in zip(Self.required, found) { counts[role] = topic.partitionCount }
      let violations = PartitionCountRules.violations(counts, names)
      return violations.isEmpty ? .right(counts) : .wrong(violations)
    } catch {
      return error.isRefusal ? .refused("\(error)") : .unreachable("\(error)")
    }
  }

  /// Settings that will stand in the gate's way sooner or later: an output topic that takes no record of
  /// the size that a candidate may have, a state topic that is not compacted. What a broker does not tell
  /// is not judged.
  public func unfitSettings(of plan: TopicPlan) throws(KafkaError) -> [String] {
    let topics = Self.required.map { names[$0] }
    return plan.findings(settings: try admin.settings(of: topics, timeoutMs: requestTimeoutMs))
      .map(\.description)
  }

  /// Looks until everything is there: a broker that is not up yet, and topics that are not made
  /// yet, are waited for. Returns `right` or `wrong`, or nil where it was asked to end.
  public func waitForTopics(
    _ control: LaneControl, onWaiting: (Finding) -> Void
  ) -> Finding? {
    while control.request == .none {
      let finding = look()
      switch finding {
      case .right, .wrong: return finding
      case .unreachable, .missing, .refused: onWaiting(finding)
      }
      sleep(control, ms: 1000)
    }
    return nil
  }

  /// Looks every `intervalMs` until asked to end. Returns what was found wrong: a count that
  /// differs from `counts` or from its companions, or a topic that is gone.
  public func watch(
    _ counts: [TopicRole: Int32], intervalMs: Int64, _ control: LaneControl,
    onUnreachable: (String) -> Void
  ) -> [String]? {
    var missedBefore: [String] = []
    while control.request == .none {
      sleep(control, ms: intervalMs)
      guard control.request == .none else { return nil }
      switch look() {
      case .right(let now):
        missedBefore = []
        let changed = Self.required.filter { now[$0] != counts[$0] }
        if !changed.isEmpty {
          return changed.map {
            "\(names[$0]) had \(counts[$0]!) partitions at start and has \(now[$0]!) now: keys "
              + "belong to other partitions than before"
          }
        }
      case .wrong(let violations): return violations
      case .missing(let topics):
        // A broker that has just started may not know every topic yet; one look is not enough.
        if topics == missedBefore { return topics.map { "\($0) does not exist any more" } }
        missedBefore = topics
      case .unreachable(let reason), .refused(let reason): onUnreachable(reason)
      }
    }
    return nil
  }

  /// In steps, to hear a request to end.
  private func sleep(_ control: LaneControl, ms: Int64) {
    let until = clock.monotonicMs() + ms
    while control.request == .none && clock.monotonicMs() < until {
      clock.sleep(ms: min(100, max(1, until - clock.monotonicMs())))
    }
  }
}
