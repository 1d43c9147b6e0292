import Gate

/// What a dispatcher does about one approval, without any I/O: whether it is sent, what the provider
/// is told, and what is reported (docs/dispatcher.md).
struct StubDispatcher: ~Copyable {
  /// What came of approvals, and what was sent.
  struct Counts: Equatable {
    var approvals = 0
    var accepted = 0
    var unregistered = 0
    var rejected = 0
    var observed = 0
    var sms = 0
    /// At or past `send_before`.
    var late = 0
    /// Sent before.
    var repeated = 0
    var unreadable = 0

    mutating func add(_ other: Counts) {
      for path in Self.all { self[keyPath: path.value] += other[keyPath: path.value] }
    }

    static var all: [(name: String, value: WritableKeyPath<Counts, Int>)] {
      [
        ("approvals", \.approvals), ("accepted", \.accepted), ("unregistered", \.unregistered),
        ("rejected", \.rejected), ("observed", \.observed), ("sms", \.sms), ("late", \.late),
        ("repeated", \.repeated), ("unreadable", \.unreadable),
      ]
    }
  }

  /// Lines to print and records to write, in order.
  struct Output: Equatable {
    var userID = ""
    var calls: [String] = []
    var receipts: [String] = []
  }

  let provider: StubProvider
  private var records = DispatchRecords()
  /// What was sent, by partition of the approvals.
  private var sent: [Int32: Set<SendID>] = [:]
  private(set) var counts = Counts()

  init(_ provider: StubProvider) { self.provider = provider }

  /// Takes up a partition, of which nothing is known yet.
  mutating func begin(_ partition: Int32) { sent[partition] = [] }

  mutating func forget() { sent = [:] }

  mutating func takeCounts() -> Counts {
    defer { counts = Counts() }
    return counts
  }

  /// Learns from a receipt that was written before.
  mutating func remember(_ value: UnsafeRawBufferPointer?, of partition: Int32) {
    guard let receipt = records.receipt(value), receipt.isAnswer else { return }
    sent[partition, default: []].insert(receipt.id)
  }

  /// - Parameter nowMs: the wall clock, read right before: what is past its limit then is not sent.
  mutating func dispatch(
    _ value: UnsafeRawBufferPointer?, of partition: Int32, nowMs: Int64
  ) -> Output? {
    counts.approvals += 1
    guard let approval = records.approval(value) else {
      counts.unreadable += 1
      return nil
    }
    // The order of the two matters not at all: neither leaves a trace.
    guard approval.sendBeforeMs.map({ nowMs < $0 }) ?? true else {
      counts.late += 1
      return nil
    }
    guard sent[partition, default: []].insert(approval.id).inserted else {
      counts.repeated += 1
      return nil
    }
    return send(approval, nowMs)
  }

  private mutating func send(_ approval: Approval, _ nowMs: Int64) -> Output {
    let answer = provider.answer(to: approval.id, on: approval.platform)
    var output = Output(userID: approval.userID)
    output.calls.append(ProviderCall.push(approval, answer, nowMs: nowMs))
    output.receipts.append(Receipt.answer(answer, to: approval, nowMs: nowMs))
    switch answer {
    case .accepted:
      counts.accepted += 1
      if let observation = provider.observation(of: approval.id) {
        counts.observed += 1
        output.receipts.append(Receipt.observed(observation, approval, nowMs: nowMs))
      }
      return output
    case .unregistered: counts.unregistered += 1
    case .rejected: counts.rejected += 1
    }
    if approval.allowsSMS {
      counts.sms += 1
      output.calls.append(ProviderCall.sms(approval, after: answer, nowMs: nowMs))
    }
    return output
  }
}
