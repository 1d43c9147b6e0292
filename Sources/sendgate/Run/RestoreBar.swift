import Pipeline

/// How far lanes are in reading back what they remember, as a part of the status line.
enum RestoreBar {
  private static let width = 20

  /// Empty where nothing is read back.
  static func text(_ runners: [LaneRunner]) -> String {
    let restoring = runners.map(\.counters).filter { $0[.restoringPartitions] > 0 }
    guard !restoring.isEmpty else { return "" }
    // The slowest lane's: the others wait for nobody, but whoever looks waits for all.
    let percents = restoring.map { $0[.restorePercent] }
    let records = restoring.reduce(0) { $0 + $1[.restoreRecords] }
    let rate = restoring.reduce(0) { $0 + $1[.restoreRecordsPerSecond] }
    return bar(
      percent: percents.min()!, partitions: restoring.reduce(0) { $0 + $1[.restoringPartitions] },
      records: records, recordsPerSecond: rate,
      secondsLeft: restoring.map { $0[.restoreSecondsLeft] }.max()!)
  }

  /// - Parameters:
  ///   - percent: below 0 where nothing tells.
  ///   - secondsLeft: below 0 where nothing tells.
  static func bar(
    percent: Int64, partitions: Int64, records: Int64, recordsPerSecond: Int64, secondsLeft: Int64
  ) -> String {
    let done = Int(max(0, percent)) * width / 100
    let bar =
      String(repeating: "#", count: done) + String(repeating: "-", count: width - done)
    let share = percent < 0 ? "waiting" : "\(percent) %"
    let left = secondsLeft < 0 ? "" : ", \(secondsLeft) s left"
    return "restoring \(partitions) partitions [\(bar)] \(share), \(records) records,"
      + " \(recordsPerSecond)/s\(left); "
  }
}
