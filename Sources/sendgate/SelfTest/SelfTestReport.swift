import Gate
import Telemetry

/// What came of a run, for people, for monitors and for the console.
struct SelfTestReport {
  struct OfState {
    var state: SelfTestState
    var found: SelfTestFindings
    var disagreements: [Disagreement]
  }

  var runID: String
  var atMs: Int64
  var seconds: Double
  var steps: [(step: String, seconds: Double)]
  var category: String
  /// Of the policy that the self-test's configuration names.
  var policyVersion: String
  var states: [OfState]
  /// Of no state, or beside what was asked.
  var others: [Disagreement]

  var disagreements: [Disagreement] { states.flatMap(\.disagreements) + others }
  var passed: Bool { disagreements.isEmpty }

  // MARK: For people

  var text: String {
    var lines = ["self-test of \(RFC3339.text(ms: atMs)), \(Self.number(seconds)) s, \(category)"]
    for each in states {
      let record = each.found.decisions.last?.record
      let came =
        record.map {
          "\($0.at("outcome")?.shown ?? "?") \($0.at("reason")?.shown ?? "?"),"
            + " \(each.found.decisions.last!.place)"
        } ?? "no decision"
      lines.append("  \(each.state.rawValue): \(came)")
    }
    let versions = self.versions.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
    lines.append("  \(versions)")
    if passed {
      lines.append("everything agrees")
    } else {
      lines.append("what does not agree:")
      lines += disagreements.map { "  - \($0.line)" }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Whose is whose, as far as it was told.
  private var versions: [(name: String, value: String)] {
    let record = states.lazy.compactMap { $0.found.decisions.last?.record }.first
    let now = states.lazy.compactMap { $0.found.now }.first
    let all: [(String, String?)] = [
      ("selftest", "\(GateVersion.text)"), ("gate", record?.at("gate_version")?.shown),
      ("policy", policyVersion), ("policy_of_gate", record?.at("policy_version")?.shown),
      ("policy_of_service", now?.at("policy_version")?.shown),
      ("tzdb", record?.at("tzdb_version")?.shown),
    ]
    return all.compactMap { name, value in value.map { (name, $0) } }
  }

  // MARK: For programs

  /// One object; `/v1/evidence/selftests` takes it.
  var json: String {
    JSONLine.make { line in
      line.add("run", runID)
      line.add("at", RFC3339.text(ms: atMs))
      line.add("version", "\(GateVersion.text)")
      line.add("passed", flag: passed)
      line.add("seconds", raw: Self.number(seconds))
      line.add("category", category)
      line.add("versions") { line in
        for (name, value) in versions { line.add(name, value) }
      }
      line.add("steps") { line in
        for (step, seconds) in steps { line.add(step, raw: Self.number(seconds)) }
      }
      line.add("states") { line in
        for each in states { line.add(each.state.rawValue) { Self.write(each, to: &$0) } }
      }
      line.add("disagreements", raw: "[\(disagreements.map(Self.text).joined(separator: ","))]")
    }
  }

  private static func write(_ each: OfState, to line: inout JSONLine) {
    line.add("agrees", flag: each.disagreements.isEmpty)
    line.add("user_id", each.state.userID)
    line.add("device_id", each.state.deviceID)
    line.add("notification_id", each.found.notificationID)
    line.add("expected") { line in
      line.add("outcome", each.state.outcome)
      line.add("reason", each.state.reason)
    }
    guard let decision = each.found.decisions.last else { return line.addNull("found") }
    line.add("found") { line in
      line.add("outcome", decision.record.at("outcome")?.shown)
      line.add("reason", decision.record.at("reason")?.shown)
      line.add("decided_at", decision.record.at("decided_at")?.shown)
      line.add("preference_version", decision.record.at("preference_version")?.shown)
      line.add("topic", decision.topic)
      line.add("partition", number: Int(decision.partition))
      line.add("offset", number: Int(decision.offset))
    }
  }

  private static func text(_ disagreement: Disagreement) -> String {
    JSONLine.make { line in
      line.add("state", disagreement.state?.rawValue)
      line.add("what", disagreement.what)
      line.add("expected", disagreement.expected)
      line.add("found", disagreement.found)
      line.add("look", disagreement.look)
    }
  }

  /// Three digits behind the point.
  private static func number(_ seconds: Double) -> String {
    let ms = Int((seconds * 1_000).rounded())
    let digits = "\(ms % 1_000)"
    return "\(ms / 1_000).\(String(repeating: "0", count: 3 - digits.count))\(digits)"
  }
}
