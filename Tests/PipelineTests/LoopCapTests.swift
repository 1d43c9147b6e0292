import Testing

@testable import Gate
@testable import Pipeline

/// Caps and refunds across everything that can happen to a lane; what reached the cluster is counted,
/// not what the loop says.
@Suite struct LoopCapTests {
  /// Of the first half of a partition, every second user's are rejected.
  static func rejectFirstHalf(_ rig: CapRig) {
    rig.rejects = { [cluster = rig.cluster] approval in
      let index = cluster.log[approval.partition]!.firstIndex(of: approval.offset)!
      return index < cluster.log[approval.partition]!.count / 2 && index % CapRig.usersEach == 0
    }
  }

  static func rig() -> CapRig {
    let rig = CapRig()
    rejectFirstHalf(rig)
    return rig
  }

  @Test func countsAndRefunds() {
    let rig = Self.rig()
    #expect(rig.run() == .drained)
    #expect(rig.cluster.isFinished)
    #expect(rig.faults() == [])
    #expect(rig.counters[.refunds] == rig.rejected)
    #expect(rig.rejected >= 6)
    #expect(
      rig.counters[.receipts] == UInt64(rig.cluster.receipts.values.reduce(0) { $0 + $1.count }))
    #expect(rig.receiptSource.isClosed)
  }

  @Test func withoutTransactions() {
    let rig = CapRig(on: FakeCluster(partitions: 2, recordsEach: 60), isTransactional: false)
    Self.rejectFirstHalf(rig)
    #expect(rig.run() == .drained)
    #expect(rig.cluster.isFinished)
    #expect(rig.faults() == [])
  }

  /// As after kill -9, at every poll: another loop, with an empty memory, on what the first left.
  @Test func aRestartKnowsWhatWasCountedAndRefunded() {
    for polls in 2..<60 {
      let first = Self.rig()
      first.pollsMax = polls
      first.run()
      let second = CapRig(on: first.cluster)
      Self.rejectFirstHalf(second)
      #expect(second.run() == .drained)
      #expect(second.cluster.isFinished)
      #expect(second.faults() == [], "after \(polls) polls")
    }
  }

  /// Every failure at every step: what an abort takes back is not counted, and not refunded.
  @Test func everyFault() {
    for fault in LoopFaultTests.faults {
      for call in [fault.call, fault.call + 6, fault.call + 12] {
        let rig = Self.rig()
        if fault.step == .abort { rig.sink.faults.fail(.write, call: 2, .abort) }
        rig.sink.faults.fail(fault.step, call: call, fault.kind, happened: fault.happened)
        let end = rig.run()
        guard end == .drained else { continue }
        #expect(rig.cluster.isFinished, "\(fault.testDescription) at \(call)")
        #expect(rig.faults() == [], "\(fault.testDescription) at \(call)")
      }
    }
  }

  @Test func aPartitionThatGoesAndComesBack() {
    for poll in [3, 9, 15, 21, 27, 33] {
      let rig = Self.rig()
      rig.source.onPoll = { [source = rig.source] now in
        if now == poll { source.note(.revoked([1]), losing: 1) }
        if now == poll + 5 { source.note(.assigned([1])) }
      }
      #expect(rig.run() == .drained)
      #expect(rig.cluster.isFinished)
      #expect(rig.faults() == [], "at \(poll)")
    }
  }

  @Test func partitionsThatAreLost() {
    for poll in [3, 9, 15, 21, 27, 33] {
      let rig = Self.rig()
      rig.source.onPoll = { [source = rig.source, cluster = rig.cluster] now in
        guard now == poll else { return }
        cluster.member = GroupClaim(generation: 7, memberID: "m-7")
        source.believes = cluster.member
        source.note(.lost([0, 1]), losing: 1)
        source.note(.assigned([0, 1]))
      }
      #expect(rig.run() == .drained)
      #expect(rig.cluster.isFinished)
      #expect(rig.faults() == [], "at \(poll)")
    }
  }

  /// Whatever the receipts' topic does, candidates go on.
  @Test func receiptsThatFailStopNothing() {
    let rig = Self.rig()
    rig.receiptSource.failures = 9
    #expect(rig.run() == .drained)
    #expect(rig.cluster.isFinished)
    #expect(rig.faults() == [])
  }

  /// Receipts deleted before they were read refund nothing; those behind them do.
  @Test func receiptsThatAreGone() {
    let rig = Self.rig()
    let junk = FakeReceipt(key: [1], value: [2])
    rig.cluster.receipts = [0: [junk, junk, junk], 1: [junk]]
    rig.cluster.committedReceipts = [0: 0, 1: 0]
    rig.receiptSource.logStarts = [0: 2]
    #expect(rig.run() == .drained)
    #expect(rig.faults() == [])
    #expect(rig.counters[.receiptsUnreadable] == 2)
    #expect(rig.counters[.refunds] == rig.rejected)
  }
}
