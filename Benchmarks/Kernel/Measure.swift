import CAllocations
import Gate
import Glibc
import Workload

/// CPU time of this thread.
func cpuNanoseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// What one stage costs a record.
struct Cost {
  var name: String
  /// Of each round, per record.
  var nanoseconds: [Double] = []
  /// In all rounds.
  var allocations: UInt64 = 0
  var records = 0

  var sorted: [Double] { nanoseconds.sorted() }
  var median: Double { sorted[sorted.count / 2] }

  mutating func measure(_ count: Int, _ body: () -> Void) {
    let allocationsBefore = ca_allocations()
    let start = cpuNanoseconds()
    body()
    nanoseconds.append(Double(cpuNanoseconds() - start) / Double(count))
    allocations += ca_allocations() - allocationsBefore
    records += count
  }

  var row: String {
    let all = sorted
    return pad(name, 44) + right(median, 9) + right(all.first!, 9) + right(all.last!, 9)
      + right(Double(allocations) / Double(records), 9, digits: 2)
  }

  static let header =
    pad("ns a record", 44)
    + ["median", "min", "max", "allocs"].map { pad("", 9 - $0.count) + $0 }.joined()
}

/// How much more one costs than the other, in the same round.
func ratio(_ name: String, _ cost: Cost, _ other: Cost, _ goal: String) -> String {
  let all = zip(cost.nanoseconds, other.nanoseconds).map { $0 / $1 }.sorted()
  return pad(name, 44) + right(all.first!, 9, digits: 2) + right(all[all.count / 2], 9, digits: 2)
    + right(all.last!, 9, digits: 2) + "   " + goal
}

func millions(_ number: Int) -> String {
  let whole = Double(number / 100_000) / 10
  return whole >= 1 ? "\(whole) M" : "\(number)"
}

func pad(_ text: String, _ width: Int, with fill: String = " ") -> String {
  text + String(repeating: fill, count: max(0, width - text.count))
}

func right(_ value: Double, _ width: Int, digits: Int = 1) -> String {
  let scale = digits == 1 ? 10.0 : 100.0
  let whole = (value * scale).rounded() / scale
  var text = "\(whole)"
  if digits == 2, text.split(separator: ".").last!.count == 1 { text += "0" }
  return String(repeating: " ", count: max(1, width - text.count)) + text
}

/// Runs a lane over candidates, batch by batch.
struct Lanes {
  let engine: Engine
  let epochs: Epochs
  let slot: Int
  let nowMs: Int64
  var outputs = 0
  var outputBytes = 0

  mutating func decide(_ candidates: Candidates) {
    outputs = 0
    outputBytes = 0
    candidates.records.withUnsafeBufferPointer { records in
      var at = 0
      while at < records.count {
        let end = min(at + Engine.batchRecordsMax, records.count)
        epochs.passBoundary(slot)
        let batch = UnsafeBufferPointer(rebasing: records[at..<end])
        for output in engine.decide(batch, nowMs: nowMs) {
          outputs += 1
          outputBytes += output.value.count
        }
        at = end
      }
    }
    epochs.goIdle(slot)
  }

  func decode(_ candidates: Candidates) -> Int {
    var readable = 0
    for record in candidates.records where engine.createdAtMs(of: record.value!) != nil {
      readable += 1
    }
    return readable
  }
}

/// What remembering a million ids takes, and reading them back, once the topic's records are there.
struct Restore {
  let megabytes: Double
  let nanosecondsEach: Double

  init(ids: Int) {
    let state = LaneState(policy: .builtIn, partitionCount: 1, hashKey: (5, 6))
    state.open(0)
    let value = Array(#"{"at":"2026-03-09T22:30:00.000Z","outcome":"approved"}"#.utf8)
    var nanoseconds: Int64 = 0
    // By the thousand: looking at the clock costs as much as one of them.
    for thousand in 0..<(ids / 1000) {
      let keys = (0..<1000).map { i in
        let id = thousand * 1000 + i
        return Array("user-\(id % 300_000)\0d\0notification-\(id)\0device-\(id % 7)".utf8)
      }
      let start = cpuNanoseconds()
      for key in keys {
        key.withUnsafeBytes { key in
          value.withUnsafeBytes {
            _ = state.restore(0, key: key, value: $0, nowMs: 1_773_095_400_000)
          }
        }
      }
      nanoseconds += cpuNanoseconds() - start
    }
    state.finishRestore(0, nowMs: 1_773_095_400_000)
    megabytes = Double(state.memoryBytes) / 1_000_000
    nanosecondsEach = Double(nanoseconds) / Double(ids)
  }
}
