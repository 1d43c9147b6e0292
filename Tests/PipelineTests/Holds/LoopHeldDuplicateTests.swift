import Testing

@testable import Gate
@testable import Pipeline

/// A hold that is overdue past the duplicates horizon, and its id once more: through the loop.
@Suite struct LoopHeldDuplicateTests {
  static let hour: Int64 = 3_600_000

  /// One hold, and a gate that was down for longer than the horizon. By then its id is forgotten, its
  /// record on the state topic too; the hold is there.
  @Test(arguments: [1, 4], [false, true]) func aRepeatDoesNotTakeItsPlace(
    recordsPerPoll: Int, isPaced: Bool
  ) {
    let candidates: [(Int32, String)] =
      [(0, FakeCluster.candidate("n", "u"))]
      + (0..<3).map { _ in (0, FakeCluster.candidate("n", "u")) }
    let first = HoldRig(partitions: 1, candidates)
    first.source.recordsPerPoll = 1
    first.commitIntervalMs = 1
    first.isOver = { [unowned first] in
      guard first.cluster.held == ["n"] else { return false }
      first.source.recordsPerPoll = 0
      return true
    }
    first.run()
    #expect(first.cluster.ended.isEmpty && first.cluster.held == ["n"])
    let deferredAtMs = LoopReleaseTests.decidedMs(first.cluster.outputs[0])

    let second = HoldRig(on: first.cluster)
    second.prefer(HoldRig.document("u"))
    second.source.recordsPerPoll = recordsPerPoll
    // In the window again, so that the repeats would be held in its place.
    second.clock.wallBaseMs += 30 * 24 * Self.hour
    if isPaced { second.perSecond = 1 }
    let committed = first.cluster.log[0]!
    second.isOver = { [cluster = first.cluster] in
      cluster.committed[0] == committed.last! + 1 && cluster.held.isEmpty
    }
    #expect(second.run() == .drained)
    let ends = first.cluster.ended["n"]!
    // Paced, repeats come while it is held; else it may leave before the first of them.
    if isPaced { #expect(ends[0].reason == .duplicate) }
    // It leaves as it was deferred, once; a repeat that comes after that is one of its own.
    let ofFirst = ends.filter { $0.headers == Array("0-\(committed[0])".utf8) }
    #expect(ofFirst.map(\.reason) == [.released])
    #expect(LoopReleaseTests.decidedMs(ofFirst[0]) - deferredAtMs > 29 * 24 * Self.hour)
    // Every candidate ends once.
    #expect(ends.count == 4, "\(ends.map(\.reason))")
    #expect(Set(ends.map(\.headers)).count == 4)
  }
}
