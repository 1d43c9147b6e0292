import Pipeline
import Telemetry

/// The metrics of what was approved behind an opt-out (requirements X3).
enum LeakMetrics {
  static func register(
    _ counters: LoopCounters, lane: String, in registry: MetricRegistry
  ) {
    let labels: Labels = ["lane": lane]
    let histogram = counters.optOutLeak
    registry.histogram(
      "optout_leak", unit: .seconds,
      help:
        "From an opt-out's Kafka timestamp to the last approval for that user and category on an older document; zero where there was none.",
      labels: labels, bounds: LatencyHistogram.boundsMs.map { Double($0) / 1_000 }
    ) { (histogram.buckets, Double(histogram.sumMs) / 1_000) }
    for (name, help, count) in [
      ("optouts", "Opt-outs heard of, one for each user and category.", LoopCounters.Count.optOuts),
      ("optout_leaks", "Opt-outs behind which something was approved.", .optOutLeaks),
      (
        "optout_leaks_late",
        "Opt-outs behind which something was approved for longer than the objective.",
        .optOutLeaksLate
      ),
      (
        "optouts_unmeasured",
        "Opt-outs of which it is not known whether something was approved behind them.",
        .optOutsUnmeasured
      ),
    ] {
      registry.counter(name, help: help, labels: labels) { counters[count] }
    }
  }
}
