import Telemetry
import Testing

private func text(_ registry: MetricRegistry) -> String {
  String(decoding: registry.render(), as: UTF8.self)
}

@Test func expositionIsWrittenAsOpenMetricsSays() {
  let registry = MetricRegistry()
  registry.info("build", help: "What runs here.", labels: ["version": "0.1.0"])
  let approved = registry.counter(
    "decisions", help: "Decisions by outcome.", labels: ["outcome": "approved", "lane": "ordinary"])
  let dropped = registry.counter(
    "decisions", help: "Decisions by outcome.", labels: ["outcome": "dropped", "lane": "ordinary"])
  let cpu = registry.counter("cpu", unit: .seconds, help: "Processor time.")
  let users = registry.gauge("users", help: "Users held.")
  _ = registry.gauge("never_set", unit: .bytes, help: "Absent.")
  registry.gauge("read", unit: .ratio, help: "Read when asked.") { 0.25 }
  let latency = registry.histogram(
    "commit", unit: .seconds, help: "Commits.", labels: ["lane": "security"], bounds: [0.001, 1])

  approved.add(41)
  approved.addAsOnlyWriter()
  dropped.add()
  cpu.add(3)
  users.set(1_000_000)
  // On a bound, between two, above the last: bounds are inclusive.
  latency.observe(0.001)
  latency.observeAsOnlyWriter(0.5, count: 2)
  latency.observe(2)

  #expect(
    text(registry) == """
      # TYPE sendgate_build info
      # HELP sendgate_build What runs here.
      sendgate_build_info{version="0.1.0"} 1
      # TYPE sendgate_decisions counter
      # HELP sendgate_decisions Decisions by outcome.
      sendgate_decisions_total{outcome="approved",lane="ordinary"} 42
      sendgate_decisions_total{outcome="dropped",lane="ordinary"} 1
      # TYPE sendgate_cpu_seconds counter
      # UNIT sendgate_cpu_seconds seconds
      # HELP sendgate_cpu_seconds Processor time.
      sendgate_cpu_seconds_total 3
      # TYPE sendgate_users gauge
      # HELP sendgate_users Users held.
      sendgate_users 1000000.0
      # TYPE sendgate_never_set_bytes gauge
      # UNIT sendgate_never_set_bytes bytes
      # HELP sendgate_never_set_bytes Absent.
      # TYPE sendgate_read_ratio gauge
      # UNIT sendgate_read_ratio ratio
      # HELP sendgate_read_ratio Read when asked.
      sendgate_read_ratio 0.25
      # TYPE sendgate_commit_seconds histogram
      # UNIT sendgate_commit_seconds seconds
      # HELP sendgate_commit_seconds Commits.
      sendgate_commit_seconds_bucket{lane="security",le="0.001"} 1
      sendgate_commit_seconds_bucket{lane="security",le="1.0"} 3
      sendgate_commit_seconds_bucket{lane="security",le="+Inf"} 4
      sendgate_commit_seconds_count{lane="security"} 4
      sendgate_commit_seconds_sum{lane="security"} 3.001
      # EOF

      """)
}

@Test func valuesCannotBreakOutOfTheirLine() {
  let registry = MetricRegistry(namespace: "t")
  registry.counter(
    "x", help: "back\\slash \"quote\"\nnext", labels: ["v": "a\"} 7\n# EOF\\"]
  ).add()
  #expect(
    text(registry) == #"""
      # TYPE t_x counter
      # HELP t_x back\\slash \"quote\"\nnext
      t_x_total{v="a\"} 7\n# EOF\\"} 1
      # EOF

      """#)
}

@Test func specialNumbersAreSpelledAsOpenMetricsDoes() {
  let registry = MetricRegistry(namespace: "t")
  let gauge = registry.gauge("g", help: "h")
  for (value, shown) in [
    (Double.nan, "NaN"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (0, "0.0"), (-2.5, "-2.5"),
    (1e-7, "1e-07"), (1e21, "1e+21"),
  ] {
    gauge.set(value)
    #expect(text(registry).contains("\nt_g \(shown)\n"), "\(value)")
  }
  gauge.clear()
  #expect(gauge.value == nil)
  #expect(!text(registry).contains("\nt_g "))
}

@Test func theSameNameAndLabelsGiveTheSameHandle() {
  let registry = MetricRegistry()
  let a = registry.counter("c", help: "h", labels: ["l": "1"])
  let b = registry.counter("c", help: "h", labels: ["l": "1"])
  let other = registry.counter("c", help: "h", labels: ["l": "2"])
  #expect(a === b)
  #expect(a !== other)
}

/// A gauge read at scrape time may register: the registry's lock must not be held meanwhile.
@Test func aGaugeThatRegistersWhileItIsReadDoesNotDeadlock() {
  let registry = MetricRegistry()
  registry.gauge("outer", help: "h") { [unowned registry] in
    registry.counter("inner", help: "h").add()
    return 1
  }
  _ = registry.render()
  #expect(text(registry).contains("sendgate_inner_total 2"))
}

@Test func whatIsKeptElsewhereIsReadWhenAskedFor() {
  let registry = MetricRegistry(namespace: "t")
  let kept = registry.counter("kept", help: "h")
  registry.counter("seen", help: "h", labels: ["lane": "a"]) { kept.value * 2 }
  registry.histogram("took", unit: .seconds, help: "h", bounds: [1, 2]) {
    (counts: [3, 0, 1], sum: 7.5)
  }
  kept.add(21)
  #expect(
    text(registry).hasSuffix(
      """
      t_seen_total{lane="a"} 42
      # TYPE t_took_seconds histogram
      # UNIT t_took_seconds seconds
      # HELP t_took_seconds h
      t_took_seconds_bucket{le="1.0"} 3
      t_took_seconds_bucket{le="2.0"} 3
      t_took_seconds_bucket{le="+Inf"} 4
      t_took_seconds_count 4
      t_took_seconds_sum 7.5
      # EOF

      """))
}

/// Goal: nothing counted from several threads is lost, in any of the shared operations.
/// Method: four threads, a known number of each; powers of two, so that the sum is exact.
@Test func sharedRecordingLosesNothing() async {
  let registry = MetricRegistry()
  let counter = registry.counter("c", help: "h")
  let histogram = registry.histogram("h", help: "h", bounds: Histogram.latencySeconds)
  await withTaskGroup { group in
    for _ in 0..<4 {
      group.addTask {
        for _ in 0..<50_000 {
          counter.add(3)
          histogram.observe(0.25)
        }
      }
    }
  }
  #expect(counter.value == 4 * 50_000 * 3)
  let (counts, sum) = histogram.snapshot()
  #expect(counts.reduce(0, +) == 200_000)
  #expect(counts[13] == 200_000)
  #expect(sum == 50_000)
}

/// Every value lies in the bucket that a plain reading of "the first bound not below it" names.
@Test func bucketsMatchTheirDefinition() {
  let bounds = Histogram.counts
  for value in 0...70_000 where value % 7 == 0 || bounds.contains(Double(value)) {
    let histogram = MetricRegistry().histogram("h", help: "h", bounds: bounds)
    histogram.observe(Double(value))
    let expected = bounds.filter { $0 < Double(value) }.count
    #expect(histogram.snapshot().counts.firstIndex(of: 1) == expected)
  }
}

@Test func aHeartbeatAgesAndRecovers() {
  let heartbeat = Heartbeat(name: "lane", intervalMsMax: 1000)
  heartbeat.beat(nowNs: 5_000_000_000)
  #expect(heartbeat.ageMs(nowNs: 5_000_000_000) == 0)
  #expect(heartbeat.ageMs(nowNs: 6_999_999_999) == 1999)
  #expect(heartbeat.ageMs(nowNs: 4_000_000_000) == 0)
  heartbeat.beat()
  #expect(heartbeat.ageMs() < 60_000)
}
