import Gate
import Testing

@testable import Pipeline

@Suite struct TransactionMachineTests {
  typealias Step = TransactionMachine.Step

  /// What each failure asks for at each step, written out: r retry, a abort, p new producer, F fatal,
  /// X fenced, O out of range.
  static let table: [(Step, String)] = [
    // retriable, abort, lostTransaction, fenced, offsetOutOfRange, fatal
    (.replace, "rFpXOF"),
    (.begin, "rppXOF"),
    (.write, "aapXOF"),
    (.flush, "rapXOF"),
    (.sendOffsets, "rapXOF"),
    (.commit, "rapXOF"),
    (.abort, "rppXOF"),
  ]

  @Test func everyFailureAtEveryStep() {
    var seen = 0
    for (step, row) in Self.table {
      for (kind, letter) in zip(Failure.Kind.allCases, row) {
        var machine = TransactionMachine(intervalMs: 100, timeoutMs: 10_000)
        machine.opened(nowMs: 0)
        let action = machine.action(after: step, failed: Failure(kind, "x"), nowMs: 50)
        let expected: TransactionMachine.Action =
          switch letter {
          case "r": .retry
          case "a": .abort
          case "p": .replaceProducer
          case "F": .leave(.fatal("x"))
          case "X": .leave(.fenced("x"))
          default: .leave(.offsetOutOfRange("x"))
          }
        #expect(action == expected, "\(step) \(kind)")
        seen += 1
      }
    }
    #expect(seen == Step.allCases.count * Failure.Kind.allCases.count)
  }

  @Test func onlyACommitIsRetriedPastTheTimeOut() {
    for step in Step.allCases {
      var machine = TransactionMachine(intervalMs: 100, timeoutMs: 10_000)
      machine.opened(nowMs: 0)
      let action = machine.action(
        after: step, failed: Failure(.retriable, "x"), nowMs: 10_000)
      switch step {
      case .flush, .sendOffsets, .write: #expect(action == .abort, "\(step)")
      case .commit, .abort, .replace, .begin: #expect(action == .retry, "\(step)")
      }
    }
  }

  @Test func fencedPastTheTimeOutIsTheBrokersDoingUnlessTheProcessWasStopped() {
    let fenced = Failure(.fenced, "x")
    for step in Step.allCases {
      var machine = TransactionMachine(intervalMs: 100, timeoutMs: 10_000)
      machine.opened(nowMs: 1_000)
      let leave = TransactionMachine.Action.leave(.fenced("x"))
      let held = step == .replace ? leave : .replaceProducer
      #expect(machine.action(after: step, failed: fenced, nowMs: 10_999) == leave, "\(step)")
      #expect(machine.action(after: step, failed: fenced, nowMs: 11_000) == held, "\(step)")
      let before = machine.action(after: step, failed: fenced, nowMs: 11_000, stoppedAtMs: 1_000)
      #expect(before == held, "\(step): stopped before the transaction")
      let within = machine.action(after: step, failed: fenced, nowMs: 11_000, stoppedAtMs: 1_001)
      #expect(within == leave, "\(step): stopped within it")
    }
    let machine = TransactionMachine(intervalMs: 100, timeoutMs: 10_000)
    #expect(
      machine.action(after: .begin, failed: fenced, nowMs: 99_999) == .leave(.fenced("x")),
      "with nothing open there is nothing to time out")
  }

  @Test func isDueWhenItsIntervalHasPassed() {
    var machine = TransactionMachine(intervalMs: 100, timeoutMs: 10_000)
    #expect(!machine.isDue(nowMs: 1_000_000))
    machine.opened(nowMs: 1000)
    #expect(!machine.isDue(nowMs: 1099))
    #expect(machine.dueInMs(nowMs: 1040) == 60)
    #expect(machine.isDue(nowMs: 1100))
    machine.commitStarted()
    machine.committed()
    #expect(!machine.isOpen)
  }

  @Test func abortsWithoutACommitBetweenThemAskForANewProducer() {
    let failed = Failure(.abort, "x")
    for step in [Step.write, .flush, .sendOffsets, .commit] {
      var machine = TransactionMachine(intervalMs: 100, timeoutMs: 10_000)
      for _ in 0..<TransactionMachine.abortedInARowMax {
        #expect(machine.action(after: step, failed: failed, nowMs: 0) == .abort)
        machine.opened(nowMs: 0)
        machine.aborted()
      }
      #expect(machine.action(after: step, failed: failed, nowMs: 0) == .replaceProducer)
      machine.replaced()
      #expect(machine.action(after: step, failed: failed, nowMs: 0) == .abort)
      machine.opened(nowMs: 0)
      machine.aborted()
      machine.opened(nowMs: 0)
      machine.commitStarted()
      machine.committed()
      machine.opened(nowMs: 0)
      machine.aborted()
      #expect(machine.action(after: step, failed: failed, nowMs: 0) == .abort)
    }
  }

  @Test func aCommitResetsTheCountOfNewProducers() {
    var machine = TransactionMachine(intervalMs: 100, timeoutMs: 10_000)
    let lost = Failure(.lostTransaction, "x")
    for _ in 0..<TransactionMachine.replacedInARowMax {
      #expect(machine.action(after: .write, failed: lost, nowMs: 0) == .replaceProducer)
      machine.replaced()
    }
    guard case .leave(.fatal) = machine.action(after: .write, failed: lost, nowMs: 0) else {
      Issue.record("a sixth one")
      return
    }
    machine.opened(nowMs: 0)
    machine.commitStarted()
    machine.committed()
    #expect(machine.action(after: .write, failed: lost, nowMs: 0) == .replaceProducer)
  }
}

@Suite struct OwnedPartitionsTests {
  static func take(
    _ owned: inout OwnedPartitions, _ records: [(Int32, Int64)]
  ) -> [PartitionOffset] {
    var buffer = records.map {
      InputRecord(
        partition: $0.0, offset: $0.1, timestampMs: 0, key: nil, value: nil, handle: nil)
    }
    return buffer.withUnsafeMutableBufferPointer { buffer in
      let count = owned.take(buffer)
      return buffer[..<count].map { PartitionOffset(partition: $0.partition, offset: $0.offset) }
    }
  }

  @Test func takesOwnedRecordsOnceAndInOrder() {
    var owned = OwnedPartitions()
    owned.own([PartitionOffset(partition: 2, offset: 5)])
    owned.start(2)
    let taken = Self.take(&owned, [(2, 4), (2, 5), (0, 1), (2, 5), (2, 9), (7, 3), (2, 8)])
    #expect(taken == [.init(partition: 2, offset: 5), .init(partition: 2, offset: 9)])
    #expect(owned.positions == [.init(partition: 2, offset: 10)])
  }

  /// Owned, it sends its offset with every transaction; started, its records are taken.
  @Test func nothingIsTakenBeforeTheStart() {
    var owned = OwnedPartitions()
    owned.own([.init(partition: 0, offset: 5), .init(partition: 1, offset: 5)])
    owned.start(1)
    #expect(Self.take(&owned, [(0, 5), (1, 5)]) == [.init(partition: 1, offset: 5)])
    #expect(owned.positions == [.init(partition: 0, offset: 5), .init(partition: 1, offset: 6)])
    #expect(owned.startedPositions == [.init(partition: 1, offset: 6)])
    // Owned anew, it is to be started anew.
    owned.own([.init(partition: 1, offset: 6)])
    #expect(owned.started == [])
    #expect(Self.take(&owned, [(1, 6)]) == [])
  }

  @Test func rewindGoesBackToTheLastCommit() {
    var owned = OwnedPartitions()
    owned.own([.init(partition: 0, offset: 0), .init(partition: 1, offset: 100)])
    for partition in owned.partitions { owned.start(partition) }
    _ = Self.take(&owned, [(0, 0), (0, 1)])
    owned.commit()
    _ = Self.take(&owned, [(0, 2), (1, 100)])
    owned.rewind()
    #expect(owned.positions == [.init(partition: 0, offset: 2), .init(partition: 1, offset: 100)])
  }

  /// Against a dictionary, over random sequences of everything it is told.
  @Test(arguments: UInt64(1)...200) func agreesWithAModel(seed: UInt64) {
    var random = Xorshift(seed: seed)
    var owned = OwnedPartitions()
    var model: [Int32: (position: Int64, committed: Int64, isStarted: Bool)] = [:]
    for _ in 0..<200 {
      let partition = Int32.random(in: 0..<5, using: &random)
      switch Int.random(in: 0..<7, using: &random) {
      case 0:
        let offset = Int64.random(in: 0..<50, using: &random)
        owned.own([.init(partition: partition, offset: offset)])
        model[partition] = (offset, offset, false)
      case 1:
        owned.forget([partition, 90])
        model[partition] = nil
      case 2:
        owned.commit()
        for key in model.keys { model[key]!.committed = model[key]!.position }
      case 3:
        owned.rewind()
        for key in model.keys { model[key]!.position = model[key]!.committed }
      case 4 where model[partition] != nil:
        owned.start(partition)
        model[partition]!.isStarted = true
      default:
        let records = (0..<6).map { _ in
          (Int32.random(in: 0..<6, using: &random), Int64.random(in: 0..<60, using: &random))
        }
        var expected: [PartitionOffset] = []
        for (partition, offset) in records {
          guard let slot = model[partition], slot.isStarted, offset >= slot.position else {
            continue
          }
          model[partition]!.position = offset + 1
          expected.append(.init(partition: partition, offset: offset))
        }
        #expect(Self.take(&owned, records) == expected, "seed \(seed)")
      }
      let positions = model.keys.sorted().map {
        PartitionOffset(partition: $0, offset: model[$0]!.position)
      }
      #expect(owned.positions == positions, "seed \(seed)")
      #expect(owned.started == model.keys.filter { model[$0]!.isStarted }.sorted())
      #expect(owned.count == model.count && owned.partitions == model.keys.sorted())
    }
  }
}

@Suite struct SmallPartsTests {
  @Test func aWeakerRequestTakesNothingBack() {
    let control = LaneControl()
    #expect(control.request == .none)
    control.ask(.drain)
    control.ask(.discard)
    control.ask(.drain)
    #expect(control.request == .discard)
  }

  @Test func readinessNeedsBothTheReadingAndTheFreshness() {
    let readiness = PreferenceReadiness()
    #expect(!readiness.mayDecide(nowMs: 0, staleMsMax: nil))
    readiness.setFresh(atMs: 1000)
    readiness.becomeReady()
    #expect(readiness.mayDecide(nowMs: 1300, staleMsMax: 300))
    #expect(!readiness.mayDecide(nowMs: 1301, staleMsMax: 300))
    #expect(readiness.mayDecide(nowMs: 999_999, staleMsMax: nil))
  }

  @Test func latenciesFallIntoTheirBuckets() {
    let histogram = LatencyHistogram()
    for bound in LatencyHistogram.boundsMs {
      histogram.observe(ms: bound)
      histogram.observe(ms: bound + 1)
    }
    histogram.observe(ms: -5)
    #expect(histogram.count == UInt64(2 * LatencyHistogram.boundsMs.count + 1))
    // Each bound is in its own bucket, one more than it in the next; 1 + 1 is a bound itself.
    #expect(histogram.buckets.first == 2)
    #expect(histogram.buckets.last == 1)
    let sum = LatencyHistogram.boundsMs.reduce(0) { $0 + 2 * $1 + 1 }
    #expect(histogram.sumMs == UInt64(sum))
  }

  @Test func aThreadRunsNamedAndIsJoined() {
    let control = LaneControl()
    let thread = NamedThread(name: "a lane with a long name") { control.ask(.drain) }
    thread.join()
    #expect(control.request == .drain)
  }
}
