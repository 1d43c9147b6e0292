import Testing

@testable import Pipeline

/// Every failure at every step, alone and in pairs, against the oracle.
@Suite struct LoopFaultTests {
  typealias Step = TransactionMachine.Step

  struct Fault: Sendable, CustomTestStringConvertible {
    var step: Step
    var call: Int
    var kind: Failure.Kind
    var happened: Bool
    var testDescription: String { "\(step) \(call) \(kind)\(happened ? ", happened" : "")" }
  }

  /// What can happen and be reported as failed: only where nobody but the broker knows. A definite
  /// answer (abort, fenced, fatal) says that it did not.
  static let faults: [Fault] = Step.allCases.flatMap { step in
    Failure.Kind.allCases.flatMap { kind in
      [1, 2, 3].flatMap { call in
        var variants = [Fault(step: step, call: call, kind: kind, happened: false)]
        if step == .commit && (kind == .lostTransaction || kind == .retriable) {
          variants.append(Fault(step: step, call: call, kind: kind, happened: true))
        }
        return variants
      }
    }
  }

  static func plan(_ fault: Fault, _ rig: Rig) {
    rig.sink.faults.fail(fault.step, call: fault.call, fault.kind, happened: fault.happened)
    // A commit that happened and was not answered: asked again, the broker says yes.
  }

  @Test(arguments: faults) func alone(_ fault: Fault) {
    let rig = Rig()
    // Nothing but a failed step leads to an abort; without one there is none to fail.
    if fault.step == .abort { rig.sink.faults.fail(.write, call: 2, .abort) }
    if fault.step == .replace && fault.call > 1 {
      for call in 2...3 { rig.sink.faults.fail(.write, call: call, .lostTransaction) }
    }
    Self.plan(fault, rig)
    let end = rig.run()
    #expect(rig.cluster.violations() == [])
    switch end {
    case .drained: #expect(rig.cluster.isFinished)
    case .fenced: #expect(fault.kind == .fenced)
    case .offsetOutOfRange: #expect(fault.kind == .offsetOutOfRange)
    case .fatal:
      #expect(fault.kind == .fatal || (fault.step == .replace && fault.kind == .abort))
    case .abandoned: Issue.record("nobody asked for that")
    }
    #expect(rig.source.isClosed && rig.sink.isClosed)
  }

  @Test func inPairs() {
    for first in Self.faults {
      for second in Self.faults {
        let rig = Rig(partitions: 2, recordsEach: 24)
        if first.step == .abort || second.step == .abort {
          rig.sink.faults.fail(.flush, call: 1, .abort)
        }
        Self.plan(first, rig)
        Self.plan(second, rig)
        let end = rig.run()
        let violations = rig.cluster.violations()
        #expect(violations == [], "\(first.testDescription), then \(second.testDescription)")
        if end == .drained {
          #expect(
            rig.cluster.isFinished, "\(first.testDescription), then \(second.testDescription)")
        }
      }
    }
  }

  /// A commit that was not answered may have happened: the only thing to do is to ask again.
  @Test func aCommitTimeOutIsRetriedAndNeverAnsweredByAbort() {
    let rig = Rig()
    for call in 2...40 {
      rig.sink.faults.fail(.commit, call: call, .retriable, happened: call == 2)
    }
    #expect(rig.run() == .drained)
    let order = rig.sink.faults.order
    #expect(!order.contains(.abort))
    let first = order.indices.filter { order[$0] == .commit }[1]
    #expect(order[first..<(first + 40)].allSatisfy { $0 == .commit })
    #expect(rig.cluster.isFinished)
    #expect(rig.cluster.violations() == [])
  }

  @Test func aFlushThatNeverEndsIsAbortedAfterTheTransactionsTimeOut() {
    let rig = Rig()
    for call in 2...400 { rig.sink.faults.fail(.flush, call: call, .retriable) }
    rig.pollsMax = 4000
    #expect(rig.run() == .drained)
    #expect(rig.sink.faults.order.contains(.abort))
    #expect(rig.cluster.isFinished)
    #expect(rig.cluster.violations() == [])
  }

  @Test func aFencedWorkerWritesNothingMore() {
    let rig = Rig()
    rig.sink.faults.fail(.sendOffsets, call: 3, .fenced)
    guard case .fenced = rig.run() else {
      Issue.record("went on")
      return
    }
    #expect(rig.sink.faults.order.last == .sendOffsets)
    #expect(rig.cluster.violations() == [])
  }

  @Test func newProducersWithoutACommitBetweenThemEndTheLane() {
    let rig = Rig()
    for call in 1...50 { rig.sink.faults.fail(.write, call: call, .lostTransaction) }
    guard case .fatal = rig.run() else {
      Issue.record("went on")
      return
    }
    #expect(rig.counters[.producersReplaced] == UInt64(TransactionMachine.replacedInARowMax))
    #expect(rig.cluster.violations() == [])
  }

  @Test func atLeastOnceMayDoubleAndLosesNothing() {
    for fault in Self.faults where fault.step != .replace {
      let rig = Rig(isTransactional: false)
      Self.plan(fault, rig)
      let end = rig.run()
      #expect(rig.cluster.violations(allowDoubles: true) == [], "\(fault.testDescription)")
      if end == .drained { #expect(rig.cluster.isFinished, "\(fault.testDescription)") }
    }
  }
}
