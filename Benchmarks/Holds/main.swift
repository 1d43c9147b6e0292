// Puts holds into a store and takes them out again, and prints what they cost.
//
//     holds-bench [HOLDS] [USERS] [COLLAPSE_PERCENT]     ten million, as many users, 20 by default
//
// Fails where the index takes more than 64 bytes a hold.
import Gate
import Glibc
import Pipeline

func argument(_ position: Int, _ otherwise: Int) -> Int {
  CommandLine.arguments.count > position
    ? Int(CommandLine.arguments[position]) ?? otherwise : otherwise
}

let holds = argument(1, 10_000_000)
let users = argument(2, holds)
let collapsePercent = argument(3, 20)
let clock = SystemClock()
let nowMs: Int64 = 1_768_428_000_000  // 2026-01-14T22:00:00Z
let morningMs = nowMs + 8 * 3_600_000

/// SplitMix64's output function: an identity as evenly spread as a keyed hash is.
func mixed(_ value: Int) -> UInt64 {
  var mixed = UInt64(value) &+ 0x9E37_79B9_7F4A_7C15
  mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
  mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
  return mixed ^ (mixed >> 31)
}

@MainActor func facts(_ id: Int) -> HoldFacts {
  let user = mixed(id % users)
  return HoldFacts(
    identity: HoldIdentity(user: user, hold: mixed(id + 1 << 40)),
    collapse: id % 100 < collapsePercent ? UInt32(truncatingIfNeeded: mixed(id)) : nil,
    spread: UInt32(truncatingIfNeeded: user >> 7), provider: id % 2 == 0 ? .apns : .fcm,
    deliverAfterMs: morningMs, expiresAtMs: nil, heldUntilMs: morningMs)
}

/// A deferred record as the gate writes it, but for its ids: 22 bytes at each of three places.
var record = Array(
  """
  {"outcome":"deferred","reason":"quiet_hours_deferred","blocked_by":[],"notification_id":\
  "0000000000000000000000","user_id":"0000000000000000000000","device_id":"d-1",\
  "category":"transactional","subtype":null,"decided_at":"2026-01-14T22:00:00.000Z",\
  "policy_version":"2026-03-09","preference_version":17,"preference_offset":90210,\
  "tzdb_version":"2026f","gate_version":"0.1.0","evidence":{"user_category_opt_in":\
  {"account":"default","device":"default","effective":true},"os_permission":"granted",\
  "device_token_status":"active","quiet_hours":{"start":"22:00","end":"07:00",\
  "timezone":"Europe/Berlin","timezone_source":"device","in_window":true,\
  "ends_at":"2026-01-15T06:00:00.000Z"},"suppression_reason":null},\
  "deliver_after":"2026-01-15T06:00:00.000Z","notification":{"notification_id":\
  "0000000000000000000000","user_id":"0000000000000000000000","category":"transactional",\
  "event":"order_shipped","payload":{"title":"Your order is on its way","body":"Track it in the app"}}}
  """.utf8)
let places = record.indices.dropLast(22).filter { record[$0..<($0 + 22)].allSatisfy { $0 == 48 } }

@MainActor func writeIDs(_ id: Int) {
  for (number, place) in places.enumerated() {
    var digits = mixed(number % 2 == 0 ? id + 1 << 40 : id % users)
    for at in place..<(place + 16) {
      record[at] = UInt8(97 + digits & 15)
      digits >>= 4
    }
  }
}

final class NoTopic: HoldPayloadSource {
  func readKeys(
    from offset: Int64, partition: Int32, _ body: (Int64, UnsafeRawBufferPointer) -> Void
  ) throws(Failure) -> Int64 { offset }

  func read(
    _ offsets: [Int64], partition: Int32, _ body: (Int, HoldPayload) -> Void
  ) throws(Failure) { throw Failure(.fatal, "nothing was dropped from memory") }
}

func residentBytes() -> Int {
  guard let file = fopen("/proc/self/statm", "r") else { return 0 }
  defer { fclose(file) }
  var (size, resident) = (0, 0)
  withUnsafeMutablePointer(to: &size) { size in
    withUnsafeMutablePointer(to: &resident) { resident in
      _ = withVaList([size, resident]) { vfscanf(file, "%ld %ld", $0) }
    }
  }
  return resident * 4096
}

func rate(_ count: Int, _ ms: Int64) -> Int { count * 1000 / max(1, Int(ms)) }

let store = HoldStore(
  partition: 0,
  settings: HoldStore.Settings(
    spread: HoldSpread(spreadMs: 300_000), payloadBytesMax: Int.max), nowMs: nowMs)
let before = residentBytes()
var startMs = clock.monotonicMs()
var worstMs: Int64 = 0
var lastMs = startMs
for id in 0..<holds {
  writeIDs(id)
  let facts = facts(id)
  record.withUnsafeBytes {
    _ = store.restore(facts, HoldPayload(value: $0), offset: Int64(id), nowMs: nowMs)
  }
  if id & 1023 == 0 {
    let nowMs = clock.monotonicMs()
    if id > 0 { worstMs = max(worstMs, nowMs - lastMs) }
    lastMs = nowMs
  }
}
let putMs = clock.monotonicMs() - startMs
let indexBytes = Double(store.indexBytes) / Double(holds)
print(
  "\(holds) holds of \(users) users, \(collapsePercent) % with a collapse key, \(record.count) bytes each"
)
print("put: \(rate(holds, putMs)) a second; the slowest 1024 took \(worstMs) ms")
print("index: \(indexBytes) bytes a hold; payloads: \(store.payloadBytes / holds)")
print("resident: \((residentBytes() - before) / holds) bytes a hold")

let batch = HoldPayloadBatch()
let topic = NoTopic()
var out: [HoldSlot] = []

/// Takes up to `most` holds in batches and ends them.
@MainActor func takeAll(_ most: Int, batchHolds: Int, reading: Bool) throws -> (
  count: Int, ms: Int64
) {
  let startMs = clock.monotonicMs()
  var count = 0
  var lastDueMs: Int64 = 0
  var provider = Provider.apns
  var idleTurns = 0
  while count < most && idleTurns < 2 {
    out.removeAll(keepingCapacity: true)
    provider = provider == .apns ? .fcm : .apns
    let taken = store.takeDue(
      provider, notAfterMs: .max / 2, max: min(batchHolds, most - count), into: &out)
    idleTurns = taken > 0 ? 0 : idleTurns + 1
    if reading { try store.read(out, from: topic, into: batch) }
    for hold in out {
      lastDueMs = max(lastDueMs, store.dueMs(of: hold))
      store.end(hold)
    }
    store.commit()
    count += out.count
  }
  precondition(count == 0 || lastDueMs >= morningMs, "nothing may leave early")
  return (count, clock.monotonicMs() - startMs)
}

let part = holds / 10
for batchHolds in [64, 1024, 16_384] {
  let read = try takeAll(part / 4, batchHolds: batchHolds, reading: true)
  print("take, read and end, \(batchHolds) at a time: \(rate(read.count, read.ms)) a second")
}
startMs = clock.monotonicMs()
let moved = 1000
for user in 0..<moved {
  store.forEachHold(of: mixed(users - 1 - user)) { hold in
    var later = facts(users - 1 - user)
    later.heldUntilMs = morningMs + 3_600_000
    store.reschedule(hold, later, nowMs: nowMs)
  }
}
print("move the holds of \(moved) users: \(clock.monotonicMs() - startMs) ms")
let rest = try takeAll(holds, batchHolds: 1024, reading: false)
print("take and end: \(rate(rest.count, rest.ms)) a second")
guard store.count == 0, store.indexBytes < 1 << 20 else { fatalError("something was left") }
print("emptied: \(store.indexBytes) bytes of index are left")
exit(indexBytes <= 64 ? 0 : 1)
