// What a decision costs, without a broker: CPU time and allocations per record, and the table's
// bytes per device; beside the same kernel in C++, and with larger tables, in one interleaved run.
//
//     kernel-bench [--devices N]… [--rounds N] [--candidates N] [--twin LIBRARY]
import Gate
import Glibc
import Workload

struct Options {
  var devices: [Int] = []
  var rounds = 5
  var candidates = 100_000
  var twin: String?

  static func stop() -> Never {
    print("usage: kernel-bench [--devices N]… [--rounds N] [--candidates N] [--twin LIBRARY]")
    exit(64)
  }

  init(_ arguments: [String]) {
    var rest = arguments[...]
    while let flag = rest.popFirst() {
      guard let text = rest.popFirst() else { Self.stop() }
      if flag == "--twin" {
        twin = text
        continue
      }
      guard let number = Int(text), number > 0 else { Self.stop() }
      switch flag {
      case "--devices": devices.append(number)
      case "--rounds": rounds = number
      case "--candidates": candidates = number
      default: Self.stop()
      }
    }
    if devices.isEmpty { devices = [1_000_000] }
  }
}

let options = Options(Array(CommandLine.arguments.dropFirst()))
let nowMs: Int64 = 1_773_095_400_000  // 2026-03-09T22:30:00Z: night in Europe, day in America
let count = options.candidates

let everybody = Users(seed: 11)
let documents = Documents(of: everybody)
let populations = options.devices.map { Population(devices: $0, of: everybody, documents) }
let first = populations[0]

let ofAll = populations.map {
  Candidates.ordinary(count, users: $0.users, of: everybody, seed: 21)
}
let few = Candidates.ordinary(count, users: min(first.users, 500), of: everybody, seed: 21)
let strangers = Candidates.strangers(count, of: everybody, seed: 21)
let alerts = Candidates.security(count, users: first.users, of: everybody, seed: 22)
var ordinary = populations.map { $0.lane(.ordinary) }
var security = first.lane(.security)
let state = LaneState(
  policy: .builtIn, partitionCount: Candidates.partitionCount, hashKey: (3, 4))
var remembering = first.lane(.ordinary, state)
var linking = first.lane(.ordinary, links: SignedLinks.settings)
let signing = Signing(ofAll[0], count)
let twin = options.twin.map { Twin(path: $0, of: first, documents, ofAll[0]) }

var decoding = Cost(name: "decode alone")
var unknown = Cost(name: "whole, nobody known (no device)")
var cached = Cost(name: "whole, 500 users (in cache)")
var whole = populations.map { Cost(name: "whole, all users of \(millions($0.devices)) devices") }
var alerting = Cost(name: "whole, security lane, all users")
var seen = Cost(name: "whole, all users, ids remembered")
var linked = Cost(name: "whole, all users, approvals with links")
var signed = Cost(name: "a link alone (goal: 400)")
var cxx = Cost(name: "the same in C++, all users")

_ = ordinary[0].decode(ofAll[0])
for i in populations.indices { ordinary[i].decide(ofAll[i]) }
twin?.compare(ordinary[0], ofAll[0])
for _ in 0..<options.rounds {
  decoding.measure(count) { _ = ordinary[0].decode(ofAll[0]) }
  unknown.measure(count) { ordinary[0].decide(strangers) }
  cached.measure(count) { ordinary[0].decide(few) }
  alerting.measure(count) { security.decide(alerts) }
  // Let through anew each time, the growth of the tables included.
  for partition in 0..<Candidates.partitionCount { state.open(partition) }
  seen.measure(count) { remembering.decide(ofAll[0]) }
  linked.measure(count) { linking.decide(ofAll[0]) }
  signed.measure(count) { signing.sign() }
  for i in populations.indices { whole[i].measure(count) { ordinary[i].decide(ofAll[i]) } }
  if let twin { cxx.measure(count) { twin.decideAll() } }
}

print(
  """
  \(first.users) users, \(first.devices) devices, \(count) candidates of \
  \(ofAll[0].valueBytes / count) bytes, \(options.rounds) rounds
  \(Double(ordinary[0].outputs * 100 / count) / 100) decisions a candidate, \
  \(ordinary[0].outputBytes / ordinary[0].outputs) bytes each

  """)
print(Cost.header)
for cost in [decoding, unknown, cached] + whole + [alerting, seen, linked, signed] {
  print(cost.row)
}
if twin != nil { print(cxx.row) }
print("")
for population in populations {
  let name = millions(population.devices)
  print(pad("G8  bytes a device of \(name), ids apart", 44) + right(population.bytesPerDevice, 9))
  print(pad("    ids too", 44) + right(population.bytesPerDeviceWithIDs, 9))
  print(pad("    ns to make and apply a document", 44) + right(population.applyNanoseconds, 9))
}
let restored = Restore(ids: 1_000_000)
print(pad("    a million seen ids, MB", 44) + right(restored.megabytes, 9))
print(pad("    their restore, ns an id", 44) + right(restored.nanosecondsEach, 9))
print("")
print(pad("ratio, round by round", 44) + "      min   median      max   goal")
if twin != nil { print(ratio("G6  whole kernel, Swift : C++", whole[0], cxx, "<= 1.1")) }
for i in populations.indices.dropFirst() {
  let name = "G7  \(millions(populations[i].devices)) devices : \(millions(first.devices))"
  print(ratio(name, whole[i], whole[0], "<= 1.3"))
}
