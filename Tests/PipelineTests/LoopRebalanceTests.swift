import Testing

@testable import Pipeline

@Suite struct LoopRebalanceTests {
  @Test func aRevokedPartitionIsCommittedBeforeItIsGivenUp() {
    let rig = Rig()
    rig.source.onPoll = { [source = rig.source, cluster = rig.cluster] poll in
      guard poll == 3 else { return }
      // As in a cooperative rebalance: the generation is a new one before the revocation is heard.
      cluster.member.generation = 2
      source.believes = cluster.member
      source.note(.revoked([1]), losing: 3)
    }
    rig.pollsMax = 60
    rig.run()
    #expect(rig.cluster.violations() == [])
    #expect(rig.source.log == ["assign [0, 1, 2]", "unassign [1]"])
    #expect(!rig.sink.faults.order.contains(.abort))
    #expect(rig.cluster.decisions.contains { $0.partition == 1 })
    let ours = rig.cluster.issued.filter { $0.partition != 1 }
    #expect(ours.isSubset(of: Set(rig.cluster.decisions)))
  }

  @Test func aLostPartitionIsAborted() {
    let rig = Rig()
    rig.source.onPoll = { [source = rig.source, cluster = rig.cluster] poll in
      guard poll == 3 else { return }
      cluster.decideElsewhere(0, records: 9)
      cluster.member = GroupClaim(generation: 5, memberID: "m-2")
      source.believes = cluster.member
      source.note(.lost([0, 1, 2]), losing: 2)
      source.note(.assigned([0, 1, 2]))
    }
    #expect(rig.run() == .drained)
    #expect(rig.sink.faults.order.contains(.abort))
    #expect(rig.cluster.isFinished)
    #expect(rig.cluster.violations() == [])
  }

  /// A late answer to a heartbeat makes librdkafka forget its generation after the group has answered:
  /// it then says nothing more until the assignment is, and nobody decides those partitions.
  @Test func anAssignmentWithoutMembershipIsDeclinedInTime() {
    let rig = Rig()
    rig.source.onPoll = { [source = rig.source, cluster = rig.cluster] poll in
      switch poll {
      case 3:
        source.believes = nil
        source.note(.lost([0, 1, 2]), losing: 2)
        source.note(.assigned([0, 1, 2]))
      case 200:
        cluster.member = GroupClaim(generation: 9, memberID: "m-9")
        source.believes = cluster.member
        source.note(.lost([0, 1, 2]))
        source.note(.assigned([0, 1, 2]))
      default: break
      }
    }
    #expect(rig.run() == .drained)
    #expect(
      rig.source.log == [
        "assign [0, 1, 2]", "unassign [0, 1, 2]", "assign [0, 1, 2]", "unassign [0, 1, 2]",
        "assign [0, 1, 2]",
      ])
    #expect(rig.cluster.isFinished)
    #expect(rig.cluster.violations() == [])
  }

  /// librdkafka rejoins under a new member id without saying that anything was lost (static
  /// membership, or a broker without KIP-394), while a partition was somebody else's in between.
  @Test func aNewMemberIDWithoutALossIsNotTrusted() {
    let rig = Rig(partitions: 2, recordsEach: 60)
    rig.source.onPoll = { [source = rig.source, cluster = rig.cluster] poll in
      switch poll {
      case 4:
        cluster.decideElsewhere(1, records: 11)
        cluster.member = GroupClaim(generation: 8, memberID: "m-9")
        source.believes = cluster.member
      case 9:
        // The sync says that nothing changed, as far as the client knows.
        source.note(.assigned([]))
      default: break
      }
    }
    #expect(rig.run() == .drained)
    #expect(rig.has { $0 == .membershipChanged })
    #expect(rig.cluster.isFinished)
    #expect(rig.cluster.violations() == [])
  }

  /// Kafka takes offsets without generation and member id from anybody.
  @Test(arguments: [
    GroupClaim(generation: -1, memberID: "m-1"), GroupClaim(generation: 3, memberID: ""),
    GroupClaim(generation: -1, memberID: ""), nil,
  ])
  func withoutMembershipNothingIsDecided(_ claim: GroupClaim?) {
    let rig = Rig()
    rig.source.onPoll = { [source = rig.source] poll in
      if poll == 5 { source.believes = claim }
    }
    rig.pollsMax = 30
    rig.run()
    #expect(rig.sink.claimsSent.allSatisfy { $0.isFencing })
    #expect(rig.cluster.violations() == [])
    #expect(!rig.cluster.isFinished)
  }

  @Test func aSeekThatFailsKeepsTheSourceShut() {
    let rig = Rig()
    rig.source.onPoll = { [source = rig.source] poll in
      guard poll == 3 else { return }
      source.seekFailures = 4
      source.note(.assigned([]), losing: 4)
    }
    #expect(rig.run() == .drained)
    #expect(rig.cluster.isFinished)
    #expect(rig.cluster.violations() == [])
  }

  /// Rebalances, losses, other members' progress and failures at random, from a printed seed.
  @Test(arguments: UInt64(1)...300) func atRandom(seed: UInt64) {
    var random = Xorshift(seed: seed)
    let rig = Rig(partitions: 4, recordsEach: 50, gap: Int64.random(in: 1...3, using: &random))
    rig.pollsMax = 3000
    rig.source.recordsPerPoll = Int.random(in: 1...20, using: &random)
    var ours = Set(rig.cluster.partitions)
    var isSettled = true
    rig.source.onPoll = { [source = rig.source, cluster = rig.cluster] poll in
      guard poll > 2 else { return }
      // The group answers one rebalance before it makes another.
      isSettled = Set(source.assigned) == ours
      guard isSettled, Int.random(in: 0..<8, using: &random) == 0 else { return }
      let taken = Int.random(in: 0...4, using: &random)
      let some = ours.filter { _ in Bool.random(using: &random) }
      switch Int.random(in: 0..<4, using: &random) {
      case 0 where !some.isEmpty:
        ours.subtract(some)
        cluster.member.generation += 1
        source.believes = cluster.member
        source.note(.revoked(some.sorted()), losing: taken)
      case 1:
        for partition in ours where Bool.random(using: &random) {
          cluster.decideElsewhere(partition, records: Int.random(in: 0...6, using: &random))
        }
        cluster.member = GroupClaim(
          generation: cluster.member.generation + 2, memberID: "m-\(poll)")
        source.believes = cluster.member
        source.note(.lost(ours.sorted()), losing: taken)
        ours = []
      case 2:
        cluster.member.generation += 1
        if Bool.random(using: &random) { source.believes = cluster.member }
        source.note(.assigned([]), losing: taken)
        source.believes = cluster.member
      default:
        let others = Set(cluster.partitions).subtracting(ours)
        for partition in others where Bool.random(using: &random) {
          cluster.decideElsewhere(partition, records: Int.random(in: 0...6, using: &random))
        }
        source.startOffsetFailures = Int.random(in: 0...2, using: &random)
        ours.formUnion(others)
        cluster.member.generation += 1
        source.believes = cluster.member
        source.note(.assigned(others.sorted()), losing: taken)
      }
    }
    let kinds: [Failure.Kind] = [.retriable, .abort, .lostTransaction]
    for step in [TransactionMachine.Step.begin, .write, .flush, .sendOffsets, .commit, .abort] {
      for call in 1...40 where Int.random(in: 0..<12, using: &random) == 0 {
        rig.sink.faults.fail(
          step, call: call, kinds.randomElement(using: &random)!,
          happened: false)
      }
    }
    let end = rig.run()
    #expect(rig.cluster.violations() == [], "seed \(seed), \(end)")
    if ours == Set(rig.cluster.partitions), end == .drained {
      #expect(rig.cluster.isFinished, "seed \(seed)")
    }
  }
}

/// Small, and the same everywhere: a run is its seed.
struct Xorshift: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }
  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state &* 0x2545_F491_4F6C_DD1D
  }
}
