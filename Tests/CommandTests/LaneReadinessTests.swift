import Testing

@testable import Pipeline
@testable import sendgate

private let nowMs: Int64 = 1_000_000

/// A lane as it tells of itself; a gauge that is not named is 0.
private func problem(
  _ gauges: [LoopCounters.Gauge: Int64], rebalances: UInt64 = 1, reading: String? = nil,
  obstacle: String? = nil
) -> String? {
  let counters = LoopCounters()
  counters.set(.turnAtMs, nowMs)
  counters.set(.firstTurnAtMs, nowMs - 1_000)
  counters.add(rebalances, to: .rebalances)
  for (gauge, value) in gauges { counters.set(gauge, value) }
  let health = LaneHealth()
  var reported = LaneHealth.Reading()
  reported.problem = reading
  health.set(reported)
  return LaneReadiness.problem(counters, health, obstacle: obstacle, nowMs: nowMs)
}

@Test func aLaneThatReadsItsPartitionsIsReady() {
  #expect(problem([.ownedPartitions: 3]) == nil)
  // More workers than partitions: it stands by.
  #expect(problem([:]) == nil)
}

@Test(
  arguments: [
    ([.turnAtMs: 0], nil, nil, "making its producer"),
    ([.turnAtMs: nowMs - 15_001], nil, nil, "waiting for 15 s"),
    ([.isPaused: 1], nil, nil, "paused"),
    ([.unstartedPartitions: 2], nil, nil, "finding out where 2 partitions begin"),
    ([.restoringPartitions: 4], nil, nil, "reading back the state of 4 partitions"),
    ([:], "partition 3 cannot be read", nil, "partition 3 cannot be read"),
    ([.restoringPartitions: 4], nil, "a right is refused", "a right is refused"),
  ] as [([LoopCounters.Gauge: Int64], String?, String?, String)])
func whatALaneIsNotReadyFor(
  gauges: [LoopCounters.Gauge: Int64], reading: String?, obstacle: String?, told: String
) {
  #expect(problem(gauges, reading: reading, obstacle: obstacle)?.contains(told) == true)
}

/// From its first turn to its first record: never ready in between, and then for good.
@Test func aLaneThatStartsIsNotReadyBeforeItHasItsPartitions() {
  #expect(problem([.turnAtMs: 0], rebalances: 0) != nil)
  #expect(problem([:], rebalances: 0) == "waiting for its group to say which partitions it has")
  // The group has answered, and the answer is being taken in.
  #expect(problem([.unstartedPartitions: 8], rebalances: 0) != nil)
  #expect(problem([.ownedPartitions: 8, .restoringPartitions: 8], rebalances: 0) != nil)
  #expect(problem([.ownedPartitions: 8, .restoringPartitions: 8]) != nil)
  #expect(problem([.ownedPartitions: 8], reading: "nothing has come of partition 0 yet") != nil)
  #expect(problem([.ownedPartitions: 8]) == nil)
}

/// A group that says nothing, because others have all there is, must not keep a stand-by unready.
@Test func aGroupThatSaysNothingIsNotWaitedForForEver() {
  let since = LaneReadiness.groupMsMax
  #expect(problem([.firstTurnAtMs: nowMs - since + 1], rebalances: 0) != nil)
  #expect(problem([.firstTurnAtMs: nowMs - since], rebalances: 0) == nil)
}
