import Testing

@testable import Gate

/// Row 6 for what is held: a duplicate until its hold ends, whatever the horizon says.
@Suite struct HeldDuplicateTests {
  /// Holds by their keys.
  final class Held: PendingHolds {
    var keys: Set<[String]> = []
    var table: PreferenceTable!
    private(set) var asked = 0

    private func identity(_ key: [String]) -> HoldIdentity {
      let user = Array(key[0].utf8).withUnsafeBytes { table.userHash($0) }
      let joined = Array(key.joined(separator: "\0").utf8)
      return HoldIdentity(user: user, hold: joined.withUnsafeBytes { table.userHash($0) })
    }
    func hasHolds(of user: UInt64, in partition: Int32) -> Bool {
      asked += 1
      return partition == 0 && keys.contains { identity($0).user == user }
    }
    func isHeld(_ hold: HoldIdentity, in partition: Int32) -> Bool {
      partition == 0 && keys.contains { identity($0) == hold }
    }
  }

  static let hour: Int64 = 3_600_000

  struct Row: Sendable, CustomTestStringConvertible {
    var held: [[String]]
    /// Before the decision; nil: never.
    var letThroughMsAgo: Int64?
    var notification = "n"
    var partition: Int32 = 0
    var verdicts: [String]
    var testDescription: String { "\(held) \(letThroughMsAgo ?? -1) \(notification) \(partition)" }
  }

  static let both = ["approved ok", "approved ok"]
  static let first = ["dropped duplicate", "approved ok"]

  /// The user has devices a and b, the horizon is an hour.
  @Test(arguments: [
    Row(held: [], letThroughMsAgo: nil, verdicts: both),
    Row(held: [], letThroughMsAgo: hour, verdicts: both),
    Row(held: [["u", "n", "a"]], letThroughMsAgo: nil, verdicts: first),
    Row(
      held: [["u", "n", "a"]], letThroughMsAgo: hour - 1,
      verdicts: [
        "dropped duplicate", "dropped duplicate",
      ]),
    Row(held: [["u", "n", "a"]], letThroughMsAgo: hour, verdicts: first),
    Row(held: [["u", "n", "a"]], letThroughMsAgo: 1_000 * hour, verdicts: first),
    Row(held: [["u", "n", "b"]], letThroughMsAgo: hour, verdicts: first.reversed()),
    Row(
      held: [["u", "n", "a"], ["u", "n", "b"]], letThroughMsAgo: hour,
      verdicts: [
        "dropped duplicate", "dropped duplicate",
      ]),
    // Another's: notification, user, partition, device.
    Row(held: [["u", "m", "a"]], letThroughMsAgo: hour, verdicts: both),
    Row(held: [["v", "n", "a"]], letThroughMsAgo: hour, verdicts: both),
    Row(held: [["u", "n", "a"]], letThroughMsAgo: hour, partition: 3, verdicts: both),
    Row(held: [["u", "n", "c"]], letThroughMsAgo: hour, verdicts: both),
  ]) func whatIsHeldIsADuplicate(row: Row) {
    let held = Held()
    held.keys = Set(row.held)
    let state = LaneState(
      policy: DuplicateTests.policyOfOneHour, partitionCount: 1, hashKey: (3, 4))
    for partition: Int32 in [0, 3] { state.open(partition) }
    let gate = TestGate(
      policy: DuplicateTests.policyOfOneHour,
      documents: [
        DuplicateTests.document(DuplicateTests.device("a") + "," + DuplicateTests.device("b"))
      ], state: state, holds: held)
    held.table = gate.table
    let one = DuplicateTests.candidate(row.notification)
    func decide(_ nowMs: Int64) -> [Decided] {
      gate.decideAll([(one, nil, row.partition)], nowMs: nowMs)
    }
    let nowMs = DuplicateTests.nowMs
    if let agoMs = row.letThroughMsAgo {
      let keys = held.keys
      held.keys = []
      #expect(decide(nowMs - agoMs).map(\.verdict) == Self.both)
      state.commit(nowMs: nowMs - agoMs)
      held.keys = keys
    }
    let decided = decide(nowMs)
    #expect(decided.map(\.verdict) == row.verdicts)
    // When its hold has ended the horizon alone counts.
    state.rollback()
    held.keys = []
    let isKnown = row.letThroughMsAgo.map { $0 < Self.hour } ?? false
    #expect(
      decide(nowMs).map(\.verdict)
        == (isKnown ? ["dropped duplicate", "dropped duplicate"] : Self.both))
  }

  /// What row 6 knows already is not asked for.
  @Test func aKnownIdIsNotAskedFor() {
    let held = Held()
    let state = LaneState(policy: .builtIn, partitionCount: 1, hashKey: (3, 4))
    state.open(0)
    let gate = TestGate(
      documents: [DuplicateTests.document(DuplicateTests.device("a"))], state: state, holds: held)
    held.table = gate.table
    let one = DuplicateTests.candidate("n")
    let verdicts = gate.decideAll(
      [(one, nil, 0), (one, nil, 0)], nowMs: DuplicateTests.nowMs
    ).map(\.verdict)
    #expect(verdicts == ["approved ok", "dropped duplicate"])
    #expect(held.asked == 1)
  }
}
