// What a decision costs, without a broker: CPU time and allocations per record, and the table's
// bytes per device.
//
//     kernel-bench [DEVICES] [ROUNDS] [CANDIDATES]
import Gate
import Glibc
import Workload

let arguments = CommandLine.arguments.dropFirst().map { Int($0) ?? 0 }
let deviceGoal = arguments.first ?? 1_000_000
let rounds = arguments.dropFirst().first ?? 5
let candidateCount = arguments.dropFirst(2).first ?? 100_000
guard deviceGoal > 0, rounds > 0, candidateCount > 0 else {
  print("usage: kernel-bench [DEVICES] [ROUNDS] [CANDIDATES]")
  exit(64)
}
let nowMs: Int64 = 1_773_095_400_000  // 2026-03-09T22:30:00Z: night in Europe, day in America

let population = Users(seed: 11)
let epochs = Epochs()
let zones = ZonePublisher(epochs: epochs)
Places.publish(into: zones, nowSeconds: nowMs / 1000)
let preferences = PreferenceTable(hashKey: (1, 2), zones: zones, epochs: epochs)

var users = 0
var devices = 0
var idBytes = 0
var applyNanoseconds: Int64 = 0
while devices < deviceGoal {
  var document = population.document(users)
  let start = cpuNanoseconds()
  document.withUTF8 {
    guard case .stored = preferences.apply(document: UnsafeRawBufferPointer($0), offset: 0) else {
      fatalError("a document of the workload cannot be read")
    }
  }
  applyNanoseconds += cpuNanoseconds() - start
  devices += population.deviceCount(users)
  idBytes += population.deviceIDBytes(users)
  users += 1
}

func engine(_ lane: Lane, _ state: LaneState? = nil) -> Lanes {
  Lanes(
    engine: Engine(
      lane: lane, policy: .builtIn, preferences: preferences, zones: zones,
      partitionCount: Candidates.partitionCount, state: state),
    epochs: epochs, slot: epochs.register(), nowMs: nowMs)
}

let everybody = Candidates.ordinary(candidateCount, users: users, of: population, seed: 21)
let few = Candidates.ordinary(candidateCount, users: min(users, 500), of: population, seed: 21)
let strangers = Candidates.strangers(candidateCount, of: population, seed: 21)
let alerts = Candidates.security(candidateCount, users: users, of: population, seed: 22)
var ordinary = engine(.ordinary)
var security = engine(.security)
let state = LaneState(
  policy: .builtIn, partitionCount: Candidates.partitionCount, hashKey: (3, 4))
var remembering = engine(.ordinary, state)

var costs = [
  Cost(name: "decode alone"),
  Cost(name: "whole, nobody known (no device)"),
  Cost(name: "whole, 500 users (in cache)"),
  Cost(name: "whole, all users"),
  Cost(name: "whole, security lane, all users"),
  Cost(name: "whole, all users, ids remembered"),
]
_ = ordinary.decode(everybody)
ordinary.decide(everybody)
for _ in 0..<rounds {
  costs[0].measure(candidateCount) { _ = ordinary.decode(everybody) }
  costs[1].measure(candidateCount) { ordinary.decide(strangers) }
  costs[2].measure(candidateCount) { ordinary.decide(few) }
  costs[4].measure(candidateCount) { security.decide(alerts) }
  // Let through anew each time, the growth of the tables included.
  for partition in 0..<Candidates.partitionCount { state.open(partition) }
  costs[5].measure(candidateCount) { remembering.decide(everybody) }
  costs[3].measure(candidateCount) { ordinary.decide(everybody) }
}

let bytesPerDevice = Double(preferences.memoryBytes - idBytes) / Double(devices)
print(
  """
  \(users) users, \(devices) devices, \(candidateCount) candidates of \
  \(everybody.valueBytes / candidateCount) bytes, \(rounds) rounds
  \(Double(ordinary.outputs * 100 / candidateCount) / 100) decisions a candidate, \
  \(ordinary.outputBytes / ordinary.outputs) bytes each

  """)
print(Cost.header)
for cost in costs { print(cost.row) }
print("")
print(pad("table, bytes a device, ids apart", 38) + right(bytesPerDevice, 9))
print(
  pad("table, bytes a device, ids too", 38)
    + right(Double(preferences.memoryBytes) / Double(devices), 9))
print(pad("apply, ns a document", 38) + right(Double(applyNanoseconds) / Double(users), 9))

let restored = Restore(ids: 1_000_000)
print(pad("a million seen ids, MB", 38) + right(restored.megabytes, 9))
print(pad("their restore, ns an id", 38) + right(restored.nanosecondsEach, 9))
