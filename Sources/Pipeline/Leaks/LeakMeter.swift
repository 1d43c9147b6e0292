import Gate

/// How long a user's category was still approved after the opt-out was on the topic (requirements X3):
/// for each opt-out, and each category of it, the time from the record's timestamp to the last instant at
/// which this lane approved one on a document older than it; zero where it approved none.
///
/// That can only be while the document is on its way to the preference table: what is decided after,
/// a release too, is decided by it. Approvals on a later document, which allows the category again,
/// are none of it. What an abort has undone never was. One thread, the lane's, makes every call.
public final class LeakMeter {
  /// 12 MiB of approvals; less where a lane has made less.
  public static let approvalsMax = 1 << 19

  private let notes: OptOutNotes
  private let objectiveMs: Int64
  private var approvals: ApprovalRing
  /// Since when the lane decides on a partition; what was approved there before is not known.
  private var startedAtMs: [Int32: Int64] = [:]
  private var waiting: [OptOut] = []
  private var lost = 0

  /// - Parameter objectiveMs: what is over it counts as late.
  public init(
    notes: OptOutNotes, objectiveMs: Int64, approvalsMax: Int = LeakMeter.approvalsMax
  ) {
    self.notes = notes
    self.objectiveMs = objectiveMs
    approvals = ApprovalRing(capacity: approvalsMax)
  }

  // MARK: What the lane does

  /// One that the open transaction writes; others than approvals are passed over. Takes no lock and
  /// allocates nothing.
  @inline(__always)
  func note(_ output: OutputRecord, decidedAtMs: Int64) {
    guard output.outcome == .approved, let category = output.category else { return }
    approvals.append(
      ApprovalRing.Approval(
        user: output.user, category: category, decidedAtMs: decidedAtMs,
        offset: output.preferenceOffset))
  }

  /// They are this lane's, and read back; what comes until they start is heard, and not measured.
  func own(_ partitions: [Int32]) { start(partitions, nowMs: .max) }

  func start(_ partitions: [Int32], nowMs: Int64) {
    for partition in partitions { startedAtMs[partition] = nowMs }
  }

  func forget(_ partitions: [Int32]) {
    for partition in partitions { startedAtMs[partition] = nil }
    let before = waiting.count
    waiting.removeAll { partitions.contains($0.partition) }
    lost += before - waiting.count
  }

  /// Hears of opt-outs. Nothing that the lane decides from now on is older than they are, so that with
  /// the end of the open transaction it is known what was.
  func listen() {
    lost += notes.drain(into: &waiting)
    waiting.removeAll { startedAtMs[$0.partition] == nil }
  }

  func commit() { approvals.commit() }
  func rollback() { approvals.rollback() }

  /// With no transaction open: says of each opt-out how long it was late.
  func settle(_ counters: LoopCounters) {
    guard !waiting.isEmpty || lost > 0 else { return }
    counters.add(UInt64(lost), to: .optOutsUnmeasured)
    lost = 0
    for (optOut, leakMs) in measure() {
      counters.add(1, to: .optOuts)
      guard let leakMs = leakMs ?? knownZero(optOut) else {
        counters.add(1, to: .optOutsUnmeasured)
        continue
      }
      counters.optOutLeak.observe(ms: leakMs)
      if leakMs > 0 { counters.add(1, to: .optOutLeaks) }
      if leakMs > objectiveMs { counters.add(1, to: .optOutLeaksLate) }
    }
    waiting = []
  }

  // MARK: Measuring

  /// Of one category.
  private struct Question {
    var optOut: OptOut
    var category: Category
    var leakMs: Int64?
  }

  /// One pass over the approvals for all that wait, as far back as the earliest of them.
  private func measure() -> [(OptOut, leakMs: Int64?)] {
    var questions: [Question] = []
    var byUser: [UInt64: [Int]] = [:]
    for optOut in waiting {
      for category in Category.allCases where optOut.categories.contains(category) {
        byUser[optOut.user, default: []].append(questions.count)
        questions.append(Question(optOut: optOut, category: category))
      }
    }
    let earliestMs = waiting.map(\.committedAtMs).min() ?? .max
    approvals.reversed { approval in
      guard approval.decidedAtMs > earliestMs else { return false }
      for index in byUser[approval.user] ?? [] {
        let question = questions[index]
        // Newest first: the first that fits is the last there was.
        if question.leakMs == nil, question.category == approval.category,
          approval.offset < question.optOut.offset,
          approval.decidedAtMs > question.optOut.committedAtMs
        {
          questions[index].leakMs = approval.decidedAtMs - question.optOut.committedAtMs
        }
      }
      return true
    }
    return questions.map { ($0.optOut, $0.leakMs) }
  }

  /// Zero where all approvals since the opt-out are known, and none was found; else nil.
  private func knownZero(_ optOut: OptOut) -> Int64? {
    guard let startedAtMs = startedAtMs[optOut.partition], startedAtMs <= optOut.committedAtMs
    else { return nil }
    return approvals.knownSinceMs <= optOut.committedAtMs ? 0 : nil
  }
}
