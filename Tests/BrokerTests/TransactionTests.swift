import Testing

@testable import Broker

@Suite struct TransactionTests {
  @Test func committedRecordsAreSeenAndMarkersTakeOffsets() {
    let sim = Sim()
    sim.topic()
    var p = sim.producer("x")
    #expect(sim.add(p) == .none)
    #expect(sim.write("a", "b", by: &p).baseOffset == 0)
    #expect(sim.read() == [])
    #expect(sim.end(p, commit: true) == .none)
    #expect(sim.read() == ["a", "b"])
    #expect(sim.offset(at: -1).offset == 3)
    // The sequence goes on in the next transaction of the same epoch.
    sim.add(p)
    #expect(sim.write("c", by: &p).baseOffset == 3)
    #expect(sim.end(p, commit: true) == .none)
    #expect(sim.read() == ["a", "b", "c"])
  }

  @Test func abortedRecordsAreListedAndNotRead() {
    let sim = Sim()
    sim.topic()
    var p = sim.producer("x")
    sim.add(p)
    sim.write("bad", by: &p)
    sim.end(p, commit: false)
    sim.add(p)
    sim.write("good", by: &p)
    sim.end(p, commit: true)
    #expect(sim.read() == ["good"])
    #expect(sim.read(committed: false) == ["bad", "good"])
    let list = sim.fetch(committed: true).abortedTransactions
    #expect(list?.map(\.firstOffset) == [0])
    #expect(sim.fetch(from: 2, committed: true).abortedTransactions?.isEmpty == true)
    #expect(sim.fetch(committed: false).abortedTransactions == nil)
  }

  @Test func theEarliestOpenTransactionHoldsReadersBack() {
    let sim = Sim()
    sim.topic()
    sim.produce("0")
    var p = sim.producer("p")
    var q = sim.producer("q")
    sim.add(p)
    sim.add(q)
    sim.write("1", by: &p)
    sim.write("2", by: &q)
    sim.produce("3")
    #expect(sim.read() == ["0"])
    #expect(sim.offset(at: -1, committed: true).offset == 1)
    #expect(sim.offset(at: -1, committed: false).offset == 4)
    sim.end(q, commit: true)
    #expect(sim.read() == ["0"])
    sim.end(p, commit: false)
    #expect(sim.read() == ["0", "2", "3"])
    #expect(sim.fetch(committed: true).lastStableOffset == 6)
  }

  @Test func aWaitingCommittedReaderIsWokenByTheMarker() {
    let sim = Sim()
    sim.topic()
    var p = sim.producer("x")
    sim.add(p)
    let id = sim.send(.fetch(sim.fetchRequest(committed: true, waitMs: 10_000)))
    sim.write("a", by: &p)
    #expect(sim.answer(id) == nil)
    sim.end(p, commit: true)
    #expect(sim.answer(id) != nil)
  }

  @Test func aSuccessorAbortsFencesAndGetsAnotherEpoch() {
    let sim = Sim()
    sim.topic()
    var old = sim.producer("x")
    sim.add(old)
    sim.write("old", by: &old)
    #expect(sim.initProducer("x").error == .concurrentTransactions)
    // Aborted under an epoch that nobody has.
    #expect(sim.fetch(committed: true).lastStableOffset == 2)
    var new = sim.producer("x")
    #expect(new.id == old.id && new.epoch == old.epoch + 2)
    #expect(sim.write("zombie", by: &old).error == .invalidProducerEpoch)
    #expect(sim.end(old, commit: true) == .producerFenced)
    #expect(sim.end(old, commit: true, version: 1) == .invalidProducerEpoch)
    #expect(sim.add(old) == .producerFenced)
    #expect(sim.add(old, version: 0) == .invalidProducerEpoch)
    sim.add(new)
    #expect(sim.write("new", by: &new).error == .none)
    sim.end(new, commit: true)
    #expect(sim.read() == ["new"])
  }

  @Test func aTransactionPastItsTimeIsAbortedAndFenced() {
    let sim = Sim()
    sim.topic()
    var p = sim.producer("x", timeoutMs: 5_000)
    sim.add(p)
    sim.write("late", by: &p)
    sim.pass(5_000)
    #expect(sim.fetch(committed: true).lastStableOffset == 0)
    sim.pass(1)
    #expect(sim.fetch(committed: true).lastStableOffset == 2)
    #expect(sim.end(p, commit: true) == .producerFenced)
    #expect(sim.write("more", by: &p).error == .invalidProducerEpoch)
    #expect(sim.read() == [])
    // The next transaction has its own time: the old timer does not end it.
    var q = sim.producer("x", timeoutMs: 5_000)
    sim.add(q)
    sim.write("fresh", by: &q)
    sim.pass(4_999)
    #expect(sim.end(q, commit: true) == .none)
    #expect(sim.read() == ["fresh"])
  }

  @Test(arguments: [Int64(0), 50])
  func endingTwiceIsTheSameAsOnceAndTheOtherWayIsRefused(delay: Int64) {
    let sim = Sim { $0.transactionMarkerDelayMs = delay }
    sim.topic()
    var p = sim.producer("x")
    #expect(sim.end(p, commit: true) == .invalidTxnState)
    for commit in [true, false] {
      sim.add(p)
      sim.write("a", by: &p)
      #expect(sim.end(p, commit: commit) == .none)
      if delay > 0 {
        // Decided, and the markers not written yet.
        #expect(sim.end(p, commit: commit) == .concurrentTransactions)
        #expect(sim.add(p) == .concurrentTransactions)
        #expect(sim.initProducer("x").error == .concurrentTransactions)
        #expect(sim.end(p, commit: !commit) == .invalidTxnState)
        sim.pass(delay)
      }
      #expect(sim.end(p, commit: commit) == .none)
      #expect(sim.end(p, commit: !commit) == .invalidTxnState)
    }
  }

  @Test func aPartitionThatWasNotAddedTakesNoRecords() {
    let sim = Sim()
    sim.topic(partitions: 2)
    var p = sim.producer("x")
    #expect(sim.write("a", by: &p).error == .invalidTxnState)
    sim.add(p, [0])
    #expect(sim.write("a", by: &p, to: "t", 1).error == .invalidTxnState)
    #expect(sim.write("a", by: &p).error == .none)
    sim.end(p, commit: true)
    // Nor after the end: what would open a transaction there would never be closed.
    #expect(sim.write("b", by: &p).error == .invalidTxnState)
  }

  @Test func wrongIdsAndUnknownTopicsAreToldApart() {
    let sim = Sim()
    sim.topic()
    let p = sim.producer("x")
    var other = p
    other.id += 100
    #expect(sim.add(other) == .invalidProducerIdMapping)
    #expect(sim.end(other, commit: true) == .invalidProducerIdMapping)
    other.txn = "unknown"
    #expect(sim.add(other) == .invalidProducerIdMapping)
    #expect(sim.add(p, topic: "none") == .unknownTopicOrPartition)
    #expect(sim.initProducer("").error == .invalidRequest)
    #expect(sim.initProducer("x", timeoutMs: 900_001).error == .invalidTransactionTimeout)
    #expect(sim.initProducer("x", timeoutMs: 0).error == .invalidTransactionTimeout)
  }

  @Test func aProducerMayBumpItsOwnEpochAndAskAgain() {
    let sim = Sim()
    let p = sim.producer("x")
    let bumped = sim.initProducer("x", as: p)
    #expect(bumped.error == .none && bumped.producerEpoch == p.epoch + 1)
    // The same request once more, its answer lost: the same epoch.
    #expect(sim.initProducer("x", as: p).producerEpoch == p.epoch + 1)
    // Another instance came in between: fenced, by the name its version knows.
    _ = sim.producer("x")
    #expect(sim.initProducer("x", as: p).error == .producerFenced)
    #expect(sim.initProducer("x", as: p, version: 3).error == .invalidProducerEpoch)
  }

  @Test func anExhaustedEpochGetsAnotherProducerId() {
    let sim = Sim()
    let first = sim.producer("x")
    sim.core.transactions["x"]!.epoch = Int16.max - 1
    let next = sim.producer("x")
    #expect(next.id != first.id && next.epoch == 0)
  }
}

@Suite struct TransactionalOffsetTests {
  private func ready() -> (Sim, TestProducer) {
    let sim = Sim()
    sim.topic()
    return (sim, sim.producer("x"))
  }

  @Test func offsetsCountFromTheCommitOnAndAreUnstableBefore() {
    let (sim, p) = ready()
    #expect(sim.commit(3, group: "g") == .none)
    #expect(sim.addOffsets(p, group: "g") == .none)
    #expect(sim.commitOffset(5, by: p, group: "g") == .none)
    #expect(sim.committed("g").error == .unstableOffsetCommit)
    #expect(sim.committed("g", stable: false).offset == 3)
    sim.end(p, commit: true)
    #expect(sim.committed("g").offset == 5)
    sim.addOffsets(p, group: "g")
    #expect(sim.commitOffset(9, by: p, group: "g") == .none)
    sim.end(p, commit: false)
    #expect(sim.committed("g").offset == 5)
  }

  @Test func aLaterPlainCommitIsNotOverwritten() {
    let (sim, p) = ready()
    sim.addOffsets(p, group: "g")
    #expect(sim.commitOffset(5, by: p, group: "g") == .none)
    #expect(sim.commit(7, group: "g") == .none)
    sim.end(p, commit: true)
    #expect(sim.committed("g").offset == 7)
  }

  @Test func offsetsNeedToBeAddedFirst() {
    let (sim, p) = ready()
    #expect(sim.commitOffset(5, by: p, group: "g") == .invalidTxnState)
    sim.addOffsets(p, group: "other")
    #expect(sim.commitOffset(5, by: p, group: "g") == .invalidTxnState)
  }

  @Test func aFencedProducerCommitsNoOffsets() {
    let (sim, p) = ready()
    sim.addOffsets(p, group: "g")
    #expect(sim.commitOffset(5, by: p, group: "g") == .none)
    let q = sim.producer("x")
    #expect(sim.commitOffset(6, by: p, group: "g") == .invalidProducerEpoch)
    #expect(sim.committed("g").offset == -1)
    sim.addOffsets(q, group: "g")
    #expect(sim.commitOffset(7, by: q, group: "g") == .none)
    sim.end(q, commit: true)
    #expect(sim.committed("g").offset == 7)
  }

  @Test func membershipIsChecked() {
    let (sim, p) = ready()
    let member = sim.joinAlone("g")
    sim.addOffsets(p, group: "g")
    let (id, generation) = (member.id, member.generation)
    #expect(
      sim.commitOffset(1, by: p, group: "g", generation: generation - 1, member: id)
        == .illegalGeneration)
    #expect(
      sim.commitOffset(1, by: p, group: "g", generation: generation, member: "nobody")
        == .unknownMemberId)
    #expect(
      sim.commitOffset(1, by: p, group: "g", generation: generation, member: id) == .none)
    // Producers that cannot name a member are let in, as before KIP-447.
    #expect(sim.commitOffset(1, by: p, group: "g") == .none)
  }
}
