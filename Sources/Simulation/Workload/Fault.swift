import Broker

/// One thing that goes wrong, drawn from the seed before the world begins.
struct Fault {
  enum Kind {
    /// Some instance is killed.
    case crash(restartMs: Int64?)
    /// The next instance that makes such a request is killed there.
    case crashAt(ApiKey, Passing, restartMs: Int64)
    /// Some instance is stopped, and goes on later as if nothing had been.
    case freeze(ms: Int64)
    /// In hundredths, of every request.
    case losses(lost: Int, unanswered: Int, repeated: Int, delayed: Int, ms: Int64)
    /// Nothing of some instance gets through, or nothing on one of its connections.
    case isolate(ms: Int64)
    case cut(String, ms: Int64)
    /// The next instance to commit does, and hears nothing of it until another has been started in its
    /// place.
    case takeOverInDoubt(ms: Int64)
    case slow(byMs: Int64, ms: Int64)
    case brokerRestart
    /// The next requests of a kind are refused.
    case refuse(ApiKey, ErrorCode, times: Int)
    /// One more instance, for a while or for good.
    case join(forMs: Int64?)
    /// Some instance is told to end, and is started again.
    case restart(afterMs: Int64)
    /// Another process under the id of some instance.
    case twin
    /// Of one machine, or of all.
    case clockStep(ms: Int64, isOfAll: Bool)
    case newZones
    /// Every machine sleeps, or every instance is down, for longer than most things are remembered.
    case night(ms: Int64, isDown: Bool)
  }

  var number: Int
  /// Before which step.
  var step: Int
  var kind: Kind

  var words: String { "\(kind)" }

  // MARK: Drawing

  static func draw(seed: UInt64, steps: Int) -> [Fault] {
    var random = SimRandom(seed: seed, stream: 6)
    // Some worlds are kind: what breaks in those breaks by itself.
    guard !random.chance(8) else { return [] }
    let count = 1 + random.below(12)
    let faults = (0..<count).map {
      Fault(number: $0, step: random.below(steps), kind: kind(&random))
    }
    return faults + long(seed: seed, steps: steps, from: count)
  }

  /// What lasts for longer than a limit is for. Seldom together with much else, so of a stream of its own.
  private static func long(seed: UInt64, steps: Int, from number: Int) -> [Fault] {
    var random = SimRandom(seed: seed, stream: 7)
    guard random.chance(50) else { return [] }
    let step = random.below(steps)
    let kind: Kind =
      switch random.below(5) {
      // The lane goes on, and what it decides by grows stale.
      case 0, 1: .cut("preferences", ms: random.within(4_000...9_000))
      default:
        .night(ms: random.within(60...300) * 60_000, isDown: random.chance(60))
      }
    return [Fault(number: number, step: step, kind: kind)]
  }

  private static let transactional: [ApiKey] = [
    .initProducerId, .addPartitionsToTxn, .produce, .addOffsetsToTxn, .txnOffsetCommit, .endTxn,
  ]
  private static let others: [ApiKey] = [
    .fetch, .listOffsets, .offsetFetch, .joinGroup, .syncGroup, .heartbeat, .leaveGroup,
  ]

  private static let connections = [
    "producer", "group", "fetch", "offsets", "state", "state-ends", "receipts", "preferences",
  ]

  private static func kind(_ random: inout SimRandom) -> Kind {
    switch random.below(100) {
    case 0..<12: return .crash(restartMs: random.chance(80) ? random.within(0...3_000) : nil)
    case 12..<34:
      let key = random.pick(random.chance(75) ? transactional : others)
      return .crashAt(key, random.pick(Passing.allCases), restartMs: random.within(0...4_000))
    case 34..<43: return .freeze(ms: random.pick([300, 1_500, 2_500, 4_000, 9_000]))
    case 43..<55:
      return .losses(
        lost: random.below(20), unanswered: random.below(20), repeated: random.below(15),
        delayed: random.below(20), ms: random.within(200...4_000))
    case 55..<58: return .isolate(ms: random.pick([300, 1_000, 2_500, 5_000]))
    case 58..<62:
      return .cut(random.pick(connections), ms: random.pick([500, 2_500, 5_000]))
    case 62..<64: return .takeOverInDoubt(ms: random.within(1_500...3_500))
    case 64..<66: return .slow(byMs: random.within(5...300), ms: random.within(200...3_000))
    case 66..<69: return .brokerRestart
    case 69..<79: return refusal(&random)
    case 79..<86: return .join(forMs: random.chance(50) ? random.within(500...5_000) : nil)
    case 86..<90: return .restart(afterMs: random.within(0...2_000))
    case 90..<93: return .twin
    case 93..<97:
      return .clockStep(ms: random.within(-40...90) * 60_000, isOfAll: random.chance(50))
    default: return .newZones
    }
  }

  private static func refusal(_ random: inout SimRandom) -> Kind {
    let times = 1 + random.below(6)
    switch random.below(4) {
    case 0:
      return .refuse(
        random.pick(transactional.filter { $0 != .produce }),
        random.pick([.notCoordinator, .coordinatorLoadInProgress, .concurrentTransactions]),
        times: times)
    case 1:
      return .refuse(
        random.pick([.produce, .fetch, .listOffsets]), random.pick([.notLeaderOrFollower]),
        times: times)
    case 2:
      return .refuse(
        random.pick([.heartbeat, .syncGroup, .txnOffsetCommit]),
        random.pick([.unknownMemberId, .illegalGeneration]), times: 1)
    default:
      return .refuse(
        random.pick([.offsetFetch, .joinGroup, .syncGroup, .heartbeat]),
        .coordinatorLoadInProgress, times: times)
    }
  }
}
