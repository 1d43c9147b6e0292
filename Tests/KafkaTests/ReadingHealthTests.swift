import Pipeline
import Testing

@testable import Consumer

@Suite struct ReadingHealthTests {
  private func health(_ starts: [Int32: Int64]) -> ReadingHealth {
    var health = ReadingHealth()
    health.assigned(starts.map { PartitionOffset(partition: $0.key, offset: $0.value) })
    return health
  }

  private func at(_ partition: Int32, _ offset: Int64) -> [PartitionOffset] {
    [PartitionOffset(partition: partition, offset: offset)]
  }

  @Test func whatNothingCameOfIsUnreadAndItsLagUnknown() {
    var health = health([0: 5, 1: 5])
    #expect(health.report(nowMs: 0).unread == 2)
    #expect(
      health.report(nowMs: 0).problem
        == "nothing has come of partitions 0, 1 yet, neither a record nor its end")
    health.read(0, upTo: 7)
    let positions = at(0, 8) + at(1, 5)
    #expect(health.lag(behind: positions, nowMs: 0) { _ in 9 } == nil)
    health.ended(1, at: 5)
    #expect(health.lag(behind: positions, nowMs: 0) { $0 == 0 ? 9 : 5 } == 1)
    #expect(health.lag(behind: positions, nowMs: 0) { $0 == 0 ? nil : 5 } == nil)
    let report = health.report(nowMs: 0)
    #expect(report.unread == 0 && report.behind == 1 && report.problem == nil)
  }

  /// A marker, or an open transaction, lies behind the last record that can be read.
  @Test func atItsEndNothingIsLeftWhateverTheLogSays() {
    var health = health([0: 0])
    health.read(0, upTo: 9)
    #expect(health.lag(behind: at(0, 10), nowMs: 0) { _ in 11 } == 1)
    health.ended(0, at: 11)
    #expect(health.lag(behind: at(0, 10), nowMs: 0) { _ in 11 } == 0)
    // Handed on and not decided yet.
    #expect(health.lag(behind: at(0, 4), nowMs: 0) { _ in 11 } == 7)
    // Put back, the end is to be met again.
    health.sought(at(0, 4))
    #expect(health.lag(behind: at(0, 4), nowMs: 0) { _ in 11 } == 7)
    #expect(health.report(nowMs: 0).behind == 1)
  }

  @Test func whatCannotBeReadIsAskedAgainUntilSomethingComes() {
    var health = health([3: 40])
    health.ended(3, at: 40)
    health.failed(3, "no right", nowMs: 1_000)
    #expect(health.report(nowMs: 1_000).problem == "partition 3 cannot be read: no right")
    #expect(health.report(nowMs: 1_000).unread == 1)
    #expect(health.dueToAsk(nowMs: 5_999).isEmpty)
    #expect(health.dueToAsk(nowMs: 6_000) == at(3, 40))
    #expect(health.dueToAsk(nowMs: 6_001).isEmpty, "not at once again")
    #expect(health.dueToAsk(nowMs: 11_000) == at(3, 40))
    health.ended(3, at: 40)
    #expect(health.dueToAsk(nowMs: 99_000).isEmpty)
    #expect(health.report(nowMs: 99_000) == LaneHealth.Reading.through)
  }

  @Test func whatStandsStillWithInputIsStalled() {
    var health = health([0: 0])
    health.read(0, upTo: 99)
    func lag(_ nowMs: Int64, _ position: Int64, _ end: Int64 = 100) {
      _ = health.lag(behind: at(0, position), nowMs: nowMs) { _ in end }
    }
    for second in Int64(1)...30 { lag(second * 1_000, 50) }
    #expect(health.report(nowMs: 31_000).stalled == 0)
    #expect(health.report(nowMs: 31_001).stalled == 1)
    #expect(health.report(nowMs: 31_001).problem?.hasPrefix("partition 0 made no progress") == true)
    lag(32_000, 51)
    #expect(health.report(nowMs: 32_000).stalled == 0, "it moved")
    health.paused(true, [0])
    for second in Int64(33)...90 { lag(second * 1_000, 51) }
    #expect(health.report(nowMs: 90_000).problem == nil, "paused it may stand still")
    health.paused(false, [0])
    #expect(health.report(nowMs: 90_000).stalled == 0, "and starts from there")
    for second in Int64(91)...180 { lag(second * 1_000, 100) }
    #expect(health.report(nowMs: 180_000).stalled == 0, "it is through")
  }

  @Test func whatIsGivenUpIsNobodysBusiness() {
    var health = health([0: 0, 1: 0])
    health.failed(1, "no right", nowMs: 0)
    health.unassigned([1])
    health.failed(1, "late", nowMs: 0)
    health.read(1, upTo: 4)
    health.ended(0, at: 0)
    #expect(health.dueToAsk(nowMs: 60_000).isEmpty)
    #expect(health.report(nowMs: 0).unread == 0)
    #expect(health.lag(behind: at(1, 5), nowMs: 0) { _ in 5 } == nil)
  }

  @Test func manyAreNamedByTheFirst() {
    var health = health(Dictionary(uniqueKeysWithValues: (Int32(0)..<20).map { ($0, 0) }))
    #expect(
      health.report(nowMs: 0).problem?.contains("partitions 0, 1, 2, 3, 4, 5, 6, 7 and 12 more")
        == true)
  }
}

extension LaneHealth.Reading {
  fileprivate static let through: LaneHealth.Reading = {
    var reading = LaneHealth.Reading()
    // Nobody has asked for the lag yet.
    reading.behind = 1
    return reading
  }()
}
