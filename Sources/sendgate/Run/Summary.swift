import Gate
import Pipeline

/// What a run that ended by itself did and took, as one JSON line on standard output: seconds from
/// the first record taken to the last commit, and the processor time of the whole process between.
enum Summary {
  static func print(_ runners: [LaneRunner]) {
    let worked = runners.filter { $0.counters[.commits] > 0 }
    func total(_ count: LoopCounters.Count) -> UInt64 {
      runners.reduce(0) { $0 + $1.counters[count] }
    }
    func first(_ gauge: LoopCounters.Gauge) -> Int64 {
      worked.map { $0.counters[gauge] }.min() ?? 0
    }
    func last(_ gauge: LoopCounters.Gauge) -> Int64 {
      worked.map { $0.counters[gauge] }.max() ?? 0
    }
    let outcomes = Outcome.allCases
      .map { "\"\($0.name)\":\(StatusLine.count($0, runners))" }.joined(separator: ",")
    let seconds = seconds(last(.committedAtMs) - first(.startedAtMs))
    let processSeconds = self.seconds(last(.committedProcessMs) - first(.startedProcessMs))
    Process.print(
      "{\"candidates\":\(total(.records)),\(outcomes),\"commits\":\(total(.commits)),"
        + "\"aborts\":\(total(.aborts)),\"seconds\":\(seconds),"
        + "\"process_seconds\":\(processSeconds),\"commit_p99_ms\":\(commitP99Ms(worked))}\n",
      to: 1)
  }

  /// The upper bound of the bucket that the 99th percentile of all commits falls in.
  private static func commitP99Ms(_ runners: [LaneRunner]) -> String {
    let bounds = LatencyHistogram.boundsMs
    let buckets = (0...bounds.count).map { i in
      runners.reduce(0) { $0 + $1.counters.commitLatency.buckets[i] }
    }
    let all = buckets.reduce(0, +)
    var seen: UInt64 = 0
    for (i, count) in buckets.enumerated() {
      seen += count
      if seen * 100 >= all * 99 { return i < bounds.count ? "\(bounds[i])" : "null" }
    }
    return "null"
  }

  private static func seconds(_ ms: Int64) -> Double { Double(ms) / 1_000 }
}
