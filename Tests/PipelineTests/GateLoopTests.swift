import Gate
import Testing

@testable import Pipeline

@Suite struct GateLoopTests {
  @Test func decidesEveryRecordOnce() {
    let rig = Rig(gap: 3)
    #expect(rig.run() == .drained)
    #expect(rig.cluster.isFinished)
    #expect(rig.cluster.violations() == [])
    #expect(rig.source.isClosed && rig.sink.isClosed)
    #expect(rig.counters[.records] == UInt64(rig.cluster.issued.count))
    #expect(rig.counters.decided(.approved, .social, .ok) == UInt64(rig.cluster.issued.count))
    #expect(rig.counters[.commits] == rig.counters.commitLatency.count)
    #expect(rig.counters.endToEndLatency.count > 0)
  }

  /// A transaction in which only one partition moved still carries the others' offsets: the group's
  /// generation, which comes with them, is what fences a worker that lost one.
  @Test func everyTransactionCarriesEveryOwnedPartition() {
    let rig = Rig()
    rig.source.recordsPerPoll = 2
    rig.run()
    #expect(!rig.sink.offsetsSent.isEmpty)
    for sent in rig.sink.offsetsSent {
      #expect(sent.map(\.partition).sorted() == rig.cluster.partitions)
      #expect(sent.allSatisfy { $0.offset >= 0 })
    }
  }

  @Test func stepsComeInOrder() {
    let rig = Rig()
    rig.run()
    var order = rig.sink.faults.order[...]
    #expect(order.popFirst() == .replace)
    while !order.isEmpty {
      #expect(order.popFirst() == .begin)
      while order.first == .write { order.removeFirst() }
      #expect(Array(order.prefix(3)) == [.flush, .sendOffsets, .commit])
      order = order.dropFirst(3)
    }
  }

  @Test func firstStartBeginsAtTheLogsStartAndALaterOneAtTheCommitted() {
    let rig = Rig(partitions: 2, recordsEach: 10)
    rig.cluster.committed[1] = rig.cluster.log[1]![4]
    var starts: [LoopEvent] = []
    rig.source.onPoll = { _ in }
    rig.run()
    starts = rig.events.filter { if case .assigned = $0 { true } else { false } }
    #expect(
      starts == [
        .assigned([
          PartitionOffset(partition: 0, offset: rig.cluster.log[0]![0]),
          PartitionOffset(partition: 1, offset: rig.cluster.log[1]![4]),
        ])
      ])
  }

  @Test func offsetsThatAreNotStableYetAreWaitedForWhilePolling() {
    let rig = Rig()
    rig.source.startOffsetFailures = 6
    var pollsBeforeAssign = 0
    rig.source.onPoll = { [source = rig.source] _ in
      if source.assigned.isEmpty { pollsBeforeAssign += 1 }
    }
    #expect(rig.run() == .drained)
    #expect(pollsBeforeAssign > 5)
    #expect(rig.cluster.isFinished)
    #expect(rig.cluster.violations() == [])
  }

  @Test func anOffsetOutOfRangeStopsAndSkipsNothing() {
    let rig = Rig()
    rig.source.onPoll = { [source = rig.source] poll in
      if poll == 6 { source.pollFailure = Failure(.offsetOutOfRange, "partition 1") }
    }
    #expect(rig.run() == .offsetOutOfRange("partition 1"))
    #expect(!rig.cluster.isFinished)
    #expect(rig.cluster.violations() == [])
  }

  @Test func aPollThatFailsForNowIsOnlyReported() {
    let rig = Rig()
    rig.source.onPoll = { [source = rig.source] poll in
      if poll % 3 == 0 { source.pollFailure = Failure(.retriable, "away") }
    }
    #expect(rig.run() == .drained)
    #expect(rig.cluster.isFinished)
    #expect(rig.has { $0 == .waiting("away") })
  }

  @Test func drainCommitsWhatIsDecided() {
    let rig = Rig()
    rig.commitIntervalMs = 10_000
    rig.source.onPoll = { [control = rig.control] poll in
      if poll == 4 { control.ask(.drain) }
    }
    #expect(rig.run() == .drained)
    #expect(rig.cluster.violations() == [])
    #expect(rig.cluster.decisions.count == rig.decider.decided)
    #expect(rig.cluster.decisions.count > 0)
  }

  @Test func discardCommitsNothingMore() {
    let rig = Rig()
    rig.commitIntervalMs = 10_000
    rig.source.onPoll = { [control = rig.control] poll in
      if poll == 4 { control.ask(.discard) }
    }
    #expect(rig.run() == .drained)
    #expect(rig.sink.faults.order.last == .abort)
    #expect(rig.cluster.violations() == [])
    #expect(rig.cluster.decisions.count < rig.decider.decided)
  }

  @Test func drainWhileTheBrokerIsAwayAtStartEnds() {
    let rig = Rig()
    for call in 1...1000 { rig.sink.faults.fail(.replace, call: call, .retriable) }
    rig.control.ask(.drain)
    #expect(rig.run() == .drained)
    #expect(rig.source.isClosed && rig.sink.isClosed)
  }

  @Test func aBrokerThatComesLateIsWaitedFor() {
    let rig = Rig()
    for call in 1...30 { rig.sink.faults.fail(.replace, call: call, .retriable) }
    #expect(rig.run() == .drained)
    #expect(rig.cluster.isFinished)
  }

  @Test func abandonEndsARetryThatNeverSucceeds() {
    let rig = Rig()
    for call in 1...100_000 { rig.sink.faults.fail(.commit, call: call, .retriable) }
    let started = rig.clock.nowMs
    rig.source.onPoll = { _ in }
    // The first retry is heard while nothing else runs, so ask from the event.
    let loop = GateLoop(
      source: rig.source, sink: rig.sink, clock: rig.clock, decider: rig.decider,
      state: rig.state, stateSource: rig.stateSource,
      settings: LoopSettings(commitIntervalMs: 20, staleMsMax: nil), counters: rig.counters,
      control: rig.control, readiness: rig.readiness, epochs: Epochs(),
      onEvent: { [control = rig.control] in
        if case .retrying(.commit, _) = $0 { control.ask(.abandon) }
      })
    #expect(loop.run() == .abandoned)
    #expect(rig.clock.nowMs - started < 60_000)
  }

  @Test func recordsBroughtTwiceOrNotOursAreDropped() {
    let rig = Rig(partitions: 2, recordsEach: 30)
    rig.source.recordsPerPoll = 3
    rig.source.onPoll = { [source = rig.source, cluster = rig.cluster] poll in
      // A fetch that overlaps: the source goes back, nobody asked it to.
      if poll % 4 == 0, !source.assigned.isEmpty {
        let offset = cluster.start(0) - 4
        try! source.seek([PartitionOffset(partition: 0, offset: offset)])
      }
    }
    #expect(rig.run() == .drained)
    #expect(rig.cluster.isFinished)
    #expect(rig.cluster.violations() == [])
    #expect(rig.counters[.discarded] > 0)
  }
}
