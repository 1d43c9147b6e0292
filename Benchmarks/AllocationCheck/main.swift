// Decides a mixed workload and fails on any heap allocation after warm-up: a decision must cost none
// in decoding, look-up, deciding, remembering or encoding. Once it is decided afresh, as after an
// abort, and once as a repeat of what was let through.
//
//     alloc-check [RECORDS]
import CAllocations
import Gate
import Glibc
import Workload

let recordCount = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 120_000
let users = 5_000
let nowMs: Int64 = 1_773_095_400_000  // 2026-03-09T22:30:00Z: night in Europe, day in America

let population = Users(seed: 11)
let epochs = Epochs()
let zones = ZonePublisher(epochs: epochs)
Places.publish(into: zones, nowSeconds: nowMs / 1000)
let preferences = PreferenceTable(hashKey: (1, 2), zones: zones, epochs: epochs)
for user in 0..<users {
  apply(population.document(user))
}
for document in Candidates.hostileDocuments { apply(document) }

@MainActor func apply(_ document: String) {
  var document = document
  document.withUTF8 {
    if preferences.apply(document: UnsafeRawBufferPointer($0), offset: 0) == .ignored {
      fatalError("a document of the workload has no user")
    }
  }
}

struct Share {
  var name: String
  var lane: Lane
  var policy = Policy.builtIn
  var candidates: Candidates
}

/// The built-in policy with caps on all that may be capped.
func policyWithCaps() -> Policy {
  let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
  guard let file = fopen("/\(root)/deploy/policy.json", "rb") else {
    fatalError("no deploy/policy.json")
  }
  var bytes = [UInt8](repeating: 0, count: 1 << 16)
  bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, file))
  fclose(file)
  let pieces = String(decoding: bytes, as: UTF8.self).split(
    separator: #""caps": []"#, omittingEmptySubsequences: false)
  let caps = """
    [{"name":"day","count":3,"style":"calendar_day"},\
    {"name":"hour","count":2,"style":"sliding","window_seconds":3600}]
    """
  var text = String(pieces[0])
  // In the file's order; security is never capped.
  for (cap, piece) in zip([caps, "[]", caps, caps], pieces[1...]) {
    text += #""caps": \#(cap)"# + piece
  }
  return text.withUTF8 {
    do throws(PolicyError) {
      return try Policy(json: UnsafeRawBufferPointer($0))
    } catch {
      fatalError(error.description)
    }
  }
}

/// Of marketing and social, as those must be that are approved.
var approvalsWithLinks = 0
let linkBeginning = Array("\"unsubscribe_url\":\"\(SignedLinks.settings.baseURL)/u/".utf8)

/// Whether an approval has a link where it should and nowhere else. Not in what is measured.
func hasRightLink(_ output: OutputRecord) -> Bool {
  let isWanted = output.category == .marketing || output.category == .social
  return (output.value.firstRange(of: linkBeginning) != nil) == isWanted
}

let shares = [
  Share(
    name: "ordinary", lane: .ordinary,
    candidates: .ordinary(recordCount * 7 / 10, users: users, of: population, seed: 21)),
  Share(
    name: "capped", lane: .ordinary, policy: policyWithCaps(),
    candidates: .ordinary(recordCount * 7 / 10, users: users, of: population, seed: 24)),
  Share(
    name: "security", lane: .security,
    candidates: .security(recordCount * 2 / 10, users: users, of: population, seed: 22)),
  Share(
    name: "hostile", lane: .ordinary,
    candidates: .hostile(recordCount / 10, users: users, of: population, seed: 23)),
]

var seen = [Int](repeating: 0, count: Reason.allCases.count)
let slot = epochs.register()

/// Every approval of a share, before anything is counted.
@MainActor func checkLinks(_ share: Share, _ engine: Engine) {
  for from in stride(from: 0, to: share.candidates.records.count, by: Engine.batchRecordsMax) {
    let records = Array(share.candidates.records[from...].prefix(Engine.batchRecordsMax))
    records.withUnsafeBufferPointer { records in
      epochs.passBoundary(slot)
      for output in engine.decide(records, nowMs: nowMs) where output.outcome == .approved {
        guard hasRightLink(output) else { fatalError("an approval without its link, or with one") }
        if output.category != .transactional { approvalsWithLinks += 1 }
      }
      epochs.goIdle(slot)
    }
  }
}

/// Returns the allocations of one pass over a share.
@MainActor func pass(_ share: Share, _ engine: Engine) -> UInt64 {
  share.candidates.records.withUnsafeBufferPointer { records in
    let before = ca_allocations()
    var at = 0
    while at < records.count {
      let end = min(at + Engine.batchRecordsMax, records.count)
      epochs.passBoundary(slot)
      for output in engine.decide(UnsafeBufferPointer(rebasing: records[at..<end]), nowMs: nowMs) {
        seen[Int(output.reason.rawValue)] += 1
        // As whoever writes it asks of it.
        if output.outcome == .approved, SelfTestUser.isReserved(output.key) {
          fatalError("the self-test is no part of the workload")
        }
      }
      at = end
    }
    epochs.goIdle(slot)
    return ca_allocations() - before
  }
}

/// Bytes that live as long as the process.
func kept(_ text: String) -> UnsafeRawBufferPointer {
  let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
  copy.copyBytes(from: text.utf8)
  return UnsafeRawBufferPointer(copy)
}

/// A rejection of an approval.
func receipt(_ output: OutputRecord, _ input: InputRecord) -> InputRecord {
  let name = #""device_id":""#
  let record = String(decoding: output.value, as: UTF8.self)
  let device = record[record.firstRange(of: name)!.upperBound...].prefix { $0 != "\"" }
  let id = String(decoding: output.notificationID!, as: UTF8.self)
  let user = String(decoding: output.key!, as: UTF8.self)
  return InputRecord(
    partition: input.partition, offset: 0, timestampMs: nowMs, key: kept(user),
    value: kept(
      """
      {"notification_id":"\(id)","device_id":"\(device)","user_id":"\(user)",\
      "provider":"apns","status":"rejected","code":"BadDeviceToken","at":\(nowMs)}
      """), handle: nil)
}

@MainActor func pass(_ receipts: [InputRecord], _ refunder: Refunder) -> UInt64 {
  receipts.withUnsafeBufferPointer { receipts in
    let before = ca_allocations()
    for from in stride(from: 0, to: receipts.count, by: 256) {
      let end = min(from + 256, receipts.count)
      refunder.take(UnsafeBufferPointer(rebasing: receipts[from..<end]), nowMs: nowMs)
    }
    return ca_allocations() - before
  }
}

/// Rejects what the capped share lets out, device by device; returns the allocations of doing so.
@MainActor func receiptAllocations() -> UInt64 {
  let share = shares.first { $0.name == "capped" }!
  let state = LaneState(
    policy: share.policy, partitionCount: Candidates.partitionCount, hashKey: (3, 4))
  for partition in 0..<Candidates.partitionCount { state.open(partition) }
  let engine = Engine(
    lane: share.lane, policy: share.policy, preferences: preferences, zones: zones,
    partitionCount: Candidates.partitionCount, state: state)
  var receipts: [InputRecord] = []
  for from in stride(from: 0, to: share.candidates.records.count, by: Engine.batchRecordsMax) {
    let records = Array(share.candidates.records[from...].prefix(Engine.batchRecordsMax))
    records.withUnsafeBufferPointer { records in
      for output in engine.decide(records, nowMs: nowMs) where output.outcome == .approved {
        receipts.append(receipt(output, records[output.inputIndex]))
      }
    }
  }
  state.commit(nowMs: nowMs)
  let refunder = Refunder(state: state, partitionCount: Candidates.partitionCount)
  let warmUp = pass(receipts, refunder)
  state.rollback()
  let steady = pass(receipts, refunder)
  print(
    "receipts: \(receipts.count) records, \(steady) allocations (\(warmUp) while warming up)")
  if refunder.tally.refunded == 0 { fatalError("the receipts refund nothing") }
  return steady
}

/// Every user has holds, and none of the candidates is one of them: row 6 asks for each.
final class OthersAreHeld: PendingHolds {
  private(set) var asked = 0
  func hasHolds(of user: UInt64, in partition: Int32) -> Bool { true }
  func isHeld(_ hold: HoldIdentity, in partition: Int32) -> Bool {
    asked += 1
    return false
  }
}

let othersAreHeld = OthersAreHeld()
var failed = false
for share in shares {
  let state = LaneState(
    policy: share.policy, partitionCount: Candidates.partitionCount, hashKey: (3, 4))
  for partition in 0..<Candidates.partitionCount { state.open(partition) }
  let engine = Engine(
    lane: share.lane, policy: share.policy, preferences: preferences, zones: zones,
    partitionCount: Candidates.partitionCount, state: state, holds: othersAreHeld,
    links: SignedLinks.settings)
  if share.name == "ordinary" {
    checkLinks(share, engine)
    state.rollback()
  }
  let warmUp = pass(share, engine)
  state.rollback()
  if getenv("ALLOC_CHECK_ABORT") != nil { ca_abort_on_allocation(1) }
  let afresh = pass(share, engine)
  state.commit(nowMs: nowMs)
  let steady = afresh + pass(share, engine)
  ca_abort_on_allocation(0)
  print(
    "\(share.name): \(share.candidates.records.count) records, \(steady) allocations"
      + " (\(warmUp) while warming up)")
  if steady > 0 { failed = true }
}

// Holds: what the ordinary share deferred is decided again, at night and in the morning.
var stored: [UnsafeRawBufferPointer] = []

@MainActor func store() {
  let engine = Engine(
    lane: .ordinary, policy: .builtIn, preferences: preferences, zones: zones,
    partitionCount: Candidates.partitionCount)
  shares[0].candidates.records.withUnsafeBufferPointer { records in
    for at in stride(from: 0, to: min(records.count, 20_000), by: Engine.batchRecordsMax) {
      let end = min(at + Engine.batchRecordsMax, records.count)
      epochs.passBoundary(slot)
      for output in engine.decide(UnsafeBufferPointer(rebasing: records[at..<end]), nowMs: nowMs)
      where output.outcome == .deferred {
        let copy = UnsafeMutableRawBufferPointer.allocate(
          byteCount: output.value.count, alignment: 1)
        copy.copyMemory(from: output.value)
        stored.append(UnsafeRawBufferPointer(copy))
      }
    }
    epochs.goIdle(slot)
  }
}

/// Returns the allocations of one pass over the holds.
@MainActor func release(_ releaser: Releaser, _ holds: [InputRecord]) -> UInt64 {
  holds.withUnsafeBufferPointer { holds in
    let before = ca_allocations()
    for at in stride(from: 0, to: holds.count, by: Releaser.batchHoldsMax) {
      let batch = UnsafeBufferPointer(
        rebasing: holds[at..<min(at + Releaser.batchHoldsMax, holds.count)])
      epochs.passBoundary(slot)
      for hours in 0...1 {
        let now = nowMs + Int64(hours) * 12 * 3_600_000
        for hold in releaser.release(batch, nowMs: now) {
          if let record = hold.record {
            seen[Int(record.reason.rawValue)] += 1
            _ = reader.facts(of: record)
          }
        }
      }
      for hold in batch { _ = releaser.facts(key: nil, value: hold.value, nowMs: nowMs) }
    }
    epochs.goIdle(slot)
    return ca_allocations() - before
  }
}

store()
let reader = Releaser(policy: .builtIn, preferences: preferences, zones: zones)
let releaser = Releaser(
  policy: .builtIn, preferences: preferences, zones: zones, links: SignedLinks.settings)
let holds = stored.map {
  InputRecord(partition: 0, offset: 0, timestampMs: 0, key: nil, value: $0, handle: nil)
}
let releaseWarmUp = release(releaser, holds)
if getenv("ALLOC_CHECK_ABORT") != nil { ca_abort_on_allocation(1) }
let releaseSteady = release(releaser, holds)
ca_abort_on_allocation(0)
print("holds: \(holds.count), \(releaseSteady) allocations (\(releaseWarmUp) while warming up)")
if releaseSteady > 0 || holds.isEmpty { failed = true }

if receiptAllocations() > 0 { failed = true }

// A workload that no longer reaches a reason would prove nothing of its path.
let reached: [Reason] = [
  .invalidCandidate, .unknownCategory, .categoryMismatch, .payloadTooLarge, .criticalNotAllowed,
  .expired, .unknownUser, .preferencesUnreadable, .unknownDevice, .noDevices, .duplicate,
  .suppressedAbuseHold,
  .noGdprConsent, .accountOptedOut, .deviceOptedOut, .subtypeMuted, .osPermissionDenied,
  .tokenRevoked, .tokenExpired, .quietHoursDropped, .frequencyCapped, .quietHoursDeferred,
  .quietHoursBypassed, .ok, .released,
]
for reason in reached where seen[Int(reason.rawValue)] == 0 {
  print("the workload reaches no \(reason.name)")
  failed = true
}
if approvalsWithLinks == 0 {
  print("the workload approves nothing with a link")
  failed = true
}
if othersAreHeld.asked == 0 {
  print("nobody asked what is held")
  failed = true
}
if ca_allocations() == 0 {
  print("nothing was counted: malloc is not the counting one")
  failed = true
}
print(failed ? "FAILED" : "no allocation in steady state")
exit(failed ? 1 : 0)
