import Testing

@testable import Gate
@testable import Pipeline

/// What is remembered, across everything that can happen to a lane; the cluster is the oracle.
@Suite struct LoopStateTests {
  typealias Record = FakeCluster.Decision

  /// Every third record of a partition repeats the id of the one before it, every fifth the first's.
  static func repeatIDs(_ cluster: FakeCluster) {
    for (partition, offsets) in cluster.log {
      for (i, offset) in offsets.enumerated() {
        let id: Int? = i % 3 == 2 ? i - 1 : i % 5 == 4 ? 0 : nil
        guard let id else { continue }
        cluster.sharedIDs[Record(partition: partition, offset: offset)] =
          "shared\(partition)-\(id)"
        cluster.sharedIDs[Record(partition: partition, offset: offsets[id])] =
          "shared\(partition)-\(id)"
      }
    }
  }

  static func ids(_ cluster: FakeCluster) -> Int { Set(cluster.issued.map(cluster.id)).count }

  @Test func repeatsInABatchAndAcrossTransactionsAreLetThroughOnce() {
    let rig = Rig()
    Self.repeatIDs(rig.cluster)
    #expect(rig.run() == .drained)
    #expect(rig.cluster.isFinished)
    #expect(rig.cluster.violations() == [])
    #expect(rig.cluster.approvals.count == Self.ids(rig.cluster))
    #expect(rig.stateSource.isClosed)
    #expect(
      rig.counters.decided(.dropped, .social, .duplicate)
        == UInt64(rig.cluster.issued.count - Self.ids(rig.cluster)))
  }

  /// As after kill -9: another loop, with an empty memory, on what the first left behind.
  @Test func aRestartKnowsWhatWasLetThrough() {
    let first = Rig()
    Self.repeatIDs(first.cluster)
    first.pollsMax = 6
    first.run()
    let done = first.cluster.approvals.count
    #expect(done > 0 && !first.cluster.isFinished)
    let second = Rig(on: first.cluster)
    #expect(second.run() == .drained)
    #expect(first.cluster.isFinished)
    #expect(first.cluster.violations() == [])
    #expect(first.cluster.approvals.count == Self.ids(first.cluster))
    #expect(second.counters[.stateRecordsRestored] == UInt64(done))
  }

  /// The last owner's transaction is open when the partition comes: what it let through is in no
  /// committed record yet, and commits later. Read before that, it would be let through again.
  @Test(arguments: [true, false]) func anOpenTransactionOfTheLastOwnerIsWaitedFor(commits: Bool) {
    let rig = Rig(partitions: 2, recordsEach: 30)
    for (partition, offsets) in rig.cluster.log {
      // All of one id, so that whoever forgets it shows.
      for offset in offsets {
        rig.cluster.sharedIDs[Record(partition: partition, offset: offset)] = "only\(partition)"
      }
    }
    rig.cluster.beginElsewhere(1, records: 4)
    var decidedBefore = 0
    rig.source.onPoll = { [cluster = rig.cluster] poll in
      guard poll == 12 else { return }
      decidedBefore = cluster.decisions.filter { $0.partition == 1 }.count
      // The offsets came with it: a real group would not have told them before. See below.
      cluster.endElsewhere(committing: commits)
    }
    rig.source.holdsOffsetsOfOpen = true
    rig.run()
    #expect(decidedBefore == 0)
    #expect(rig.cluster.violations() == [])
    #expect(rig.cluster.isFinished)
    #expect(rig.cluster.approvals.count == 2)
    #expect(rig.stateSource.log.contains("settled [0] of [0, 1]") || rig.source.polls > 12)
  }

  /// The offsets are stable already and the marker in the state topic is still to come: only the
  /// question whether it is settled stands between that and a second approval.
  @Test func stableOffsetsAloneAreNotEnough() {
    let rig = Rig(partitions: 2, recordsEach: 30)
    for offset in rig.cluster.log[1]! {
      rig.cluster.sharedIDs[Record(partition: 1, offset: offset)] = "only"
    }
    rig.cluster.beginElsewhere(1, records: 4)
    rig.cluster.committed[1] = rig.cluster.log[1]![4]
    var waited = false
    rig.source.onPoll = { [cluster = rig.cluster, counters = rig.counters] poll in
      guard poll == 15 else { return }
      waited =
        counters[.restoringPartitions] == 1
        && !cluster.decisions.contains { $0.partition == 1 }
      cluster.endElsewhere(committing: true)
    }
    rig.run()
    #expect(waited)
    // The other partition does not wait with it.
    #expect(rig.stateSource.log.contains("settled [0] of [0, 1]"))
    #expect(rig.cluster.isFinished)
    #expect(rig.cluster.violations() == [])
    #expect(rig.cluster.approvals.filter { $0.partition == 1 }.count == 1)
  }

  @Test func aPartitionIsForgottenWhenItGoesAndReadAnewWhenItComesBack() {
    let rig = Rig(partitions: 2, recordsEach: 60)
    Self.repeatIDs(rig.cluster)
    rig.source.onPoll = { [source = rig.source, cluster = rig.cluster] poll in
      switch poll {
      case 5: source.note(.revoked([1]), losing: 2)
      case 9:
        // Meanwhile another lets ids through that this one never heard of.
        cluster.decideElsewhere(1, records: 13)
        source.note(.assigned([1]))
      case 14:
        cluster.decideElsewhere(0, records: 5)
        cluster.member = GroupClaim(generation: 7, memberID: "m-7")
        source.believes = cluster.member
        source.note(.lost([0, 1]), losing: 1)
        source.note(.assigned([0, 1]))
      default: break
      }
    }
    #expect(rig.run() == .drained)
    #expect(rig.cluster.isFinished)
    #expect(rig.cluster.violations() == [])
    #expect(rig.cluster.approvals.count == Self.ids(rig.cluster))
  }

  /// Every failure at every step with ids that repeat: an abort takes back what it let through, and a
  /// commit in doubt is read back from the topic.
  @Test func everyFaultWithRepeats() {
    for fault in LoopFaultTests.faults {
      let rig = Rig(partitions: 2, recordsEach: 30)
      Self.repeatIDs(rig.cluster)
      if fault.step == .abort { rig.sink.faults.fail(.write, call: 2, .abort) }
      LoopFaultTests.plan(fault, rig)
      let end = rig.run()
      #expect(rig.cluster.violations() == [], "\(fault.testDescription)")
      if end == .drained {
        #expect(rig.cluster.isFinished, "\(fault.testDescription)")
        #expect(
          rig.cluster.approvals.count == Self.ids(rig.cluster), "\(fault.testDescription)")
      }
    }
  }

  @Test func aNewProducerReadsTheMemoryBack() {
    let rig = Rig(partitions: 1, recordsEach: 60)
    Self.repeatIDs(rig.cluster)
    rig.sink.faults.fail(.commit, call: 3, .lostTransaction, happened: true)
    #expect(rig.run() == .drained)
    let restores = rig.events.filter { if case .restored = $0 { true } else { false } }
    #expect(restores.count == 2)
    #expect(rig.cluster.violations() == [])
  }

  @Test func aStateTopicThatDoesNotAnswerIsWaitedForWhilePolling() {
    let rig = Rig(partitions: 2, recordsEach: 20)
    rig.stateSource.failures = 9
    #expect(rig.run() == .drained)
    #expect(rig.source.polls > 9)
    #expect(rig.cluster.isFinished)
    #expect(rig.has { $0 == .waiting("the state topic does not answer") })
  }

  @Test func aStateTopicThatLostItsBeginningIsReadAnew() {
    let first = Rig(partitions: 2, recordsEach: 60)
    Self.repeatIDs(first.cluster)
    first.pollsMax = 6
    first.run()
    let second = Rig(on: first.cluster)
    second.stateSource.outOfRange = [1]
    #expect(second.run() == .drained)
    #expect(first.cluster.isFinished)
    #expect(first.cluster.violations() == [])
    #expect(second.stateSource.outOfRange.isEmpty)
  }

  /// A lane that is paused for its preferences restores all the same, and starts when they are fresh.
  @Test func aPausedLaneRestores() {
    let rig = Rig(partitions: 2, recordsEach: 20)
    rig.staleMsMax = 10_000
    rig.clock.nowMs += 20_000
    var restored = false
    rig.source.onPoll = {
      [
        counters = rig.counters, readiness = rig.readiness, clock = rig.clock,
        cluster = rig.cluster
      ] poll in
      guard poll == 10 else { return }
      restored = counters[.restoringPartitions] == 0 && cluster.decisions.isEmpty
      readiness.setFresh(atMs: clock.nowMs)
    }
    #expect(rig.run() == .drained)
    #expect(restored)
    #expect(rig.cluster.isFinished)
    #expect(rig.cluster.violations() == [])
  }

  /// Others go on while one is read back, and what they abort is theirs alone.
  @Test func anAbortBesideARestoreTakesNothingFromIt() {
    let rig = Rig(partitions: 2, recordsEach: 60)
    Self.repeatIDs(rig.cluster)
    rig.cluster.decideElsewhere(1, records: 30)
    rig.stateSource.recordsPerPoll = 1
    rig.source.recordsPerPoll = 2
    // With a commit between them: more in a row would be a new producer's affair.
    for call in stride(from: 2, to: 40, by: 2) {
      rig.sink.faults.fail(.write, call: call, .abort)
    }
    rig.source.onPoll = { [source = rig.source] poll in
      if poll == 4 { source.note(.revoked([1])) }
      if poll == 6 { source.note(.assigned([1])) }
    }
    #expect(rig.run() == .drained)
    let told = rig.events.compactMap { event in
      switch event {
      case .assigned, .restored, .aborted, .producerReplaced: "\(event)".prefix(8)
      default: nil
      }
    }
    let again = told.lastIndex(of: "Assigned")!
    #expect(told[again...].prefix { $0 != "Restored" }.contains("Aborted "), "\(told)")
    #expect(rig.cluster.isFinished)
    #expect(rig.cluster.violations() == [])
  }

  @Test func aDrainInTheMiddleOfARestoreEnds() {
    let rig = Rig()
    rig.cluster.beginElsewhere(1, records: 4)
    rig.source.onPoll = { [control = rig.control] poll in if poll == 8 { control.ask(.drain) } }
    #expect(rig.run() == .drained)
    #expect(rig.stateSource.isClosed)
  }

  // MARK: Sweeping

  static func entry(_ partition: Int32, _ id: String, daysAgo: Int64) -> FakeCluster.StateEntry {
    let clock = FakeClock()
    var text = [UInt8](repeating: 0, count: 24)
    text.withUnsafeMutableBufferPointer {
      Instant.write(clock.wallMs() - daysAgo * 86_400_000, to: $0.baseAddress!)
    }
    return FakeCluster.StateEntry(
      partition: partition, key: FakeCluster.stateKey(id),
      value: Array(#"{"at":"\#(String(decoding: text, as: UTF8.self))","outcome":"approved"}"#.utf8)
    )
  }

  /// What is over is answered with null values, once, and what is not stays.
  @Test(arguments: [false, true]) func whatIsOverIsSwept(withAborts: Bool) {
    let rig = Rig(partitions: 2, recordsEach: 100)
    rig.source.recordsPerPoll = 2
    let old = (0..<20).map { Self.entry(0, "old\($0)", daysAgo: 5) }
    let young = (0..<5).map { Self.entry(0, "young\($0)", daysAgo: 3) }
    let other = FakeCluster.StateEntry(
      partition: 0, key: Array("u\0c\0social\0daily".utf8), value: Array("{}".utf8))
    rig.cluster.commit([], approved: [], old + [other] + young, [])
    if withAborts {
      for call in [1, 2, 4, 9] { rig.sink.faults.fail(.flush, call: call, .abort) }
    }
    #expect(rig.run() == .drained)
    #expect(rig.cluster.violations() == [])
    let nulls = rig.cluster.state[0]!.filter { $0.value == nil }
    #expect(nulls.map(\.key) == old.map(\.key))
    #expect(rig.counters[.stateRecordsForgotten] == 20)
    #expect(rig.cluster.state[1]!.allSatisfy { $0.value != nil })
  }

  /// An id that comes again after its horizon is let through, and its old record sweeps nothing away.
  @Test func anOldIDThatComesAgainIsKept() {
    let rig = Rig(partitions: 1, recordsEach: 60)
    rig.source.recordsPerPoll = 2
    let again = Record(partition: 0, offset: rig.cluster.log[0]![0])
    rig.cluster.sharedIDs[again] = "again"
    rig.cluster.commit([], approved: [], [Self.entry(0, "again", daysAgo: 5)], [])
    #expect(rig.run() == .drained)
    #expect(rig.cluster.approvals.contains(again))
    let last = rig.cluster.state[0]!.last { $0.key == FakeCluster.stateKey("again") }
    #expect(last?.value != nil)
  }

  /// Rebalances, losses, other members and failures at random, over ids that repeat.
  @Test(arguments: UInt64(1)...300) func atRandom(seed: UInt64) {
    var random = Xorshift(seed: seed)
    let rig = Rig(partitions: 3, recordsEach: 50)
    rig.pollsMax = 3000
    rig.sweepIntervalMs = 30
    rig.source.recordsPerPoll = Int.random(in: 1...12, using: &random)
    rig.stateSource.recordsPerPoll = Int.random(in: 1...9, using: &random)
    for (partition, offsets) in rig.cluster.log.sorted(by: { $0.key < $1.key }) {
      let ids = Int.random(in: 1...40, using: &random)
      for offset in offsets {
        rig.cluster.sharedIDs[Record(partition: partition, offset: offset)] =
          "r\(partition)-\(Int.random(in: 0..<ids, using: &random))"
      }
    }
    var ours = Set(rig.cluster.partitions)
    rig.source.onPoll = {
      [source = rig.source, cluster = rig.cluster, states = rig.stateSource] poll in
      if poll % 7 == 0 { cluster.endElsewhere(committing: Bool.random(using: &random)) }
      guard poll > 2, Set(source.assigned) == ours, Int.random(in: 0..<8, using: &random) == 0
      else { return }
      states.failures = Int.random(in: 0...1, using: &random)
      let some = ours.sorted().filter { _ in Bool.random(using: &random) }
      let others = Set(cluster.partitions).subtracting(ours)
      switch Int.random(in: 0..<4, using: &random) {
      case 0 where !some.isEmpty:
        ours.subtract(some)
        source.note(.revoked(some), losing: 1)
      case 1:
        cluster.member = GroupClaim(
          generation: cluster.member.generation + 2, memberID: "m-\(poll)")
        source.believes = cluster.member
        source.note(.lost(ours.sorted()), losing: 1)
        if let partition = ours.sorted().randomElement(using: &random) {
          cluster.endElsewhere(committing: true)
          cluster.beginElsewhere(partition, records: Int.random(in: 1...6, using: &random))
        }
        ours = []
      case 2: source.note(.assigned([]), losing: 2)
      default:
        if let partition = others.sorted().randomElement(using: &random) {
          cluster.decideElsewhere(partition, records: Int.random(in: 0...6, using: &random))
        }
        ours.formUnion(others)
        source.note(.assigned(others.sorted()), losing: 1)
      }
    }
    rig.source.holdsOffsetsOfOpen = true
    let kinds: [Failure.Kind] = [.retriable, .abort, .lostTransaction]
    for step in [TransactionMachine.Step.write, .flush, .sendOffsets, .commit, .abort] {
      for call in 1...40 where Int.random(in: 0..<12, using: &random) == 0 {
        rig.sink.faults.fail(step, call: call, kinds.randomElement(using: &random)!)
      }
    }
    let end = rig.run()
    #expect(rig.cluster.violations() == [], "seed \(seed), \(end)")
  }
}
