import Testing

@testable import sendgate

@Suite struct RestoreBarTests {
  @Test func saysHowFarAndHowFast() {
    #expect(
      RestoreBar.bar(
        percent: 61, partitions: 3, records: 123_000, recordsPerSecond: 45_000, secondsLeft: 2)
        == "restoring 3 partitions [############--------] 61 %, 123000 records, 45000/s, 2 s left; "
    )
    #expect(
      RestoreBar.bar(
        percent: 100, partitions: 1, records: 1, recordsPerSecond: 1, secondsLeft: 0)
        == "restoring 1 partitions [####################] 100 %, 1 records, 1/s, 0 s left; ")
  }

  /// Waiting for somebody's transaction to end, nothing is known yet.
  @Test func waiting() {
    #expect(
      RestoreBar.bar(
        percent: -1, partitions: 8, records: 0, recordsPerSecond: 0, secondsLeft: -1)
        == "restoring 8 partitions [--------------------] waiting, 0 records, 0/s; ")
  }
}
