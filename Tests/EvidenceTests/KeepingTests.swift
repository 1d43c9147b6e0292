import Gate
import Preferences
import TestSupport
import Testing

@testable import Evidence

/// Replays, retention, erasure.
@Suite struct KeepingTests {
  let world: EvidenceWorld
  let startMs = EvidenceWorld.startMs
  let dayMs = EvidenceWorld.dayMs

  init() throws {
    var settings = EvidenceSettings()
    settings.retentionSlice = 7
    world = try EvidenceWorld(settings)
  }

  private let key = "u-1\0n-1\0d-1"

  private func everything() throws {
    try world.take(
      "approved", (0..<20).map { Sample($0, key: "u-1", decision("approved", "ok")) })
    try world.take(
      "deferred",
      [
        Sample(0, key: key, deferral(dueMs: startMs + 1)), Sample(1, key: key, nil),
        Sample(2, key: key, deferral(dueMs: startMs + 2)), Sample(3, key: "no hold", nil),
        Sample(4, key: key, "no json"),
      ])
    try world.take(
      "dropped", [Sample(0, key: "u-2", decision("dropped", "unknown_user", user: "u-2"))])
    try world.take("receipts", [Sample(0, key: "u-1", receipt(#""status":"accepted""#))])
  }

  @Test func whatIsReadAgainChangesNothing() throws {
    try everything()
    let before = try world.dump()
    #expect(
      before[2] == "u-1|n-1|d-1|\(startMs + 2)" && before[0].split(separator: "\n").count == 24)
    // Where it is known how far reading was.
    try everything()
    #expect(try world.dump() == before)
    try world.reopen()
    try everything()
    #expect(try world.dump() == before)
    // And where that was lost.
    try world.index.store.writer.perform { connection throws(SQLError) in
      try connection.run("UPDATE sources SET next_offset = -1")
    }
    try everything()
    #expect(try world.dump() == before)
  }

  @Test func partOfABatchReadAgainAddsTheRest() throws {
    let samples = (0..<10).map { Sample($0, key: "u-1", decision("approved", "ok")) }
    try world.take("approved", Array(samples[..<6]))
    try world.index.store.writer.perform { connection throws(SQLError) in
      try connection.run("UPDATE sources SET next_offset = 3")
    }
    try world.take("approved", samples)
    #expect(try world.reader.outcomes(fromMs: 0, toMs: .max).map(\.count) == [10])
    let found = try world.reader.timeline(user: "u-1", limit: 100).attempts
    #expect(found.map(\.place.offset).sorted() == Array(0..<10))
    #expect(Set(found.map(\.sequence)).count == 10)
  }

  @Test func whatIsOldGoesInSlicesAndTheYoungStay() throws {
    let old = startMs - 91 * dayMs
    var samples = (0..<40).map {
      Sample(
        $0, key: "u-1", decision("dropped", "expired", notification: "old-\($0)", atMs: old),
        atMs: old)
    }
    // A young one among the old stays and holds up none.
    samples[3] = Sample(
      3, key: "u-1", decision("dropped", "expired", notification: "young", atMs: startMs))
    samples += (40..<60).map {
      Sample($0, key: "u-1", decision("dropped", "expired", notification: "young"))
    }
    try world.take("dropped", samples)
    try world.take(
      "receipts",
      (0..<20).map {
        Sample(
          $0, key: "u-1", receipt(#""status":"accepted""#, notification: "young"),
          atMs: $0 < 10 ? old : startMs)
      })
    try world.take(
      "deferred", [Sample(0, key: key, deferral(atMs: old, dueMs: old + 1), atMs: old)])
    try world.index.add(SelfTestRun(atMs: old, version: "1", outcome: .passed, report: "{}"))
    try world.index.takeOld()
    let found = try world.reader.timeline(user: "u-1", limit: 100).attempts
    #expect(found.map(\.place.offset).sorted() == [3] + Array(40..<60))
    #expect(try world.reader.notification("young")?.otherReceipts.count == 10)
    #expect(world.index.counters.expired.value == 39 + 10 + 1)
    #expect(try world.reader.holdsDue(fromMs: 0, toMs: .max).isEmpty)
    #expect(try world.reader.latestSelfTest() == nil)
    // Counts name nobody.
    #expect(try world.reader.outcomes(fromMs: 0, toMs: .max).map(\.count).reduce(0, +) == 61)
    world.nowMs += 320 * dayMs
    try world.index.takeOld()
    #expect(try world.reader.outcomes(fromMs: 0, toMs: .max).map(\.count) == [21])
    #expect(try world.reader.timeline(user: "u-1", limit: 1).attempts.isEmpty)
  }

  /// A clock that was years ahead must not make evidence that never grows old.
  @Test func anInstantFarAheadIsNotBelieved() throws {
    try world.take(
      "dropped",
      [Sample(0, key: "u-1", decision("dropped", "expired", atMs: startMs + 3_650 * dayMs))])
    #expect(try world.reader.timeline(user: "u-1", limit: 1).attempts.first?.atMs == startMs)
    world.nowMs += 91 * dayMs
    try world.index.takeOld()
    #expect(try world.reader.timeline(user: "u-1", limit: 1).attempts.isEmpty)
  }

  /// Nor one that only a producer's Kafka timestamp tells, or both.
  @Test(arguments: [Int64.max, 9_223_372_036_854_775, EvidenceWorld.startMs + 2 * 86_400_000])
  func aTimestampFarAheadIsNotBelieved(timestampMs: Int64) throws {
    let ahead = #""status":"accepted","at":"4247-01-01T00:00:00Z""#
    let digits = #""status":"accepted","at":9223372036854775"#
    try world.take(
      "dropped",
      [
        Sample(0, key: "u-1", "no json", atMs: timestampMs),
        Sample(
          1, key: "u-1", decision("dropped", "expired", atMs: startMs + 2_000 * 365 * dayMs),
          atMs: timestampMs),
        Sample(2, key: "u-1", decision("dropped", "expired", atMs: startMs - 5), atMs: timestampMs),
      ])
    try world.take(
      "receipts",
      [
        Sample(0, key: "u-1", receipt(ahead), atMs: timestampMs),
        Sample(1, key: "u-1", receipt(digits), atMs: timestampMs),
      ])
    let found = try world.reader.timeline(user: "u-1", limit: 10).attempts
    #expect(found.map(\.atMs) == [startMs, startMs, startMs - 5])
    let receipts = try #require(try world.reader.notification("n-1")).otherReceipts
    #expect(receipts.map(\.atMs) == [startMs, startMs])
    #expect(try world.reader.lag().newestMs == startMs)
    try world.take("preferences", [Sample(0, key: "u-1", nil, atMs: timestampMs)])
    try world.take(
      "dropped",
      [Sample(3, key: "u-1", decision("dropped", "unknown_user", atMs: startMs + 1))])
    #expect(try world.reader.timeline(user: "u-1", limit: 10).attempts.count == 1)
    world.nowMs += 91 * dayMs
    try world.index.takeOld()
    #expect(try world.reader.timeline(user: "u-1", limit: 10).attempts.isEmpty)
  }

  @Test func anErasureTakesEverythingUpToIt() throws {
    try everything()
    try world.take("dropped", [Sample(1, key: "u-2", "no json")])
    try world.take(
      "approved",
      [Sample(20, key: "u-1", decision("approved", "ok", notification: "after", atMs: startMs + 9))]
    )
    try world.take(
      "preferences",
      [
        Sample(0, key: "u-1", "{}", atMs: startMs + 5),
        Sample(1, key: "u-1", nil, atMs: startMs + 5),
        Sample(2, key: nil, nil, atMs: startMs + 5),
      ])
    let left = try world.reader.timeline(user: "u-1", limit: 100).attempts
    #expect(left.map(\.notificationID) == ["after"])
    #expect(try world.reader.notification("n-1")?.otherReceipts == [])
    #expect(try world.reader.holdsDue(fromMs: 0, toMs: .max).isEmpty)
    #expect(try world.reader.timeline(user: "u-2", limit: 100).attempts.count == 2)
    #expect(world.index.counters.erasures.value == 1)
    // Counts name nobody.
    #expect(try world.reader.outcomes(fromMs: 0, toMs: .max).map(\.count).reduce(0, +) == 24)
  }

  /// What was on its way when the user was erased, and what came of the user's absence.
  @Test func whatComesLateOfAnErasedUserIsKeptByItsInstant() throws {
    try world.take("preferences", [Sample(0, key: "u-1", nil, atMs: startMs + 5)])
    for round in 0..<2 {
      let first = Int64(round * 3)
      try world.take(
        "dropped",
        [
          Sample(first, key: "u-1", decision("dropped", "expired", atMs: startMs + 5)),
          Sample(first + 1, key: "u-1", "no json", atMs: startMs + 4),
          Sample(
            first + 2, key: "u-1", decision("dropped", "unknown_user", atMs: startMs + 6),
            atMs: startMs + 6),
        ])
      let found = try world.reader.timeline(user: "u-1", limit: 10).attempts
      #expect(found.map(\.reason) == Array(repeating: "unknown_user", count: round + 1))
      // It is remembered across a restart.
      try world.reopen()
    }
    world.nowMs += 31 * dayMs
    try world.index.takeOld()
    try world.take(
      "dropped", [Sample(6, key: "u-1", decision("dropped", "expired", atMs: startMs + 5))])
    #expect(try world.reader.timeline(user: "u-1", limit: 10).attempts.count == 3)
  }

  @Test func whatWasErasedIsNotInTheFileEither() throws {
    let user = "somebody-to-forget"
    try world.take(
      "dropped",
      (0..<100).map { Sample($0, key: user, decision("dropped", "expired", user: user)) })
    try world.take("preferences", [Sample(0, key: user, nil)])
    #expect(try world.index.purgeErased())
    for suffix in ["", "-wal"] {
      let bytes = try contents(world.path + suffix)
      #expect(!bytes.contains(user), "\(suffix)")
    }
  }

  @Test func theLagIsKept() throws {
    #expect(
      try world.reader.lag() == EvidenceLag(freshAtMs: nil, recordsBehind: nil, newestMs: nil))
    try world.take("dropped", [Sample(0, key: "u-1", decision("dropped", "expired"))])
    #expect(try world.reader.lag().newestMs == startMs)
    try world.take(
      "dropped", [Sample(1, key: "u-1", decision("dropped", "expired", atMs: startMs - 5))])
    #expect(try world.reader.lag().newestMs == startMs)
  }

  @Test func aReaderOfItsOwnSeesTheSame() throws {
    try everything()
    let reader = try EvidenceReader(reading: .sqlite(path: world.path))
    defer { reader.close() }
    #expect(
      try reader.timeline(user: "u-1", limit: 100) == world.reader.timeline(user: "u-1", limit: 100)
    )
    #expect(throws: StoreError.self) {
      try EvidenceReader(reading: .sqlite(path: world.folder.file("not-there.db")))
    }
  }

  @Test(arguments: 0..<50) func packedRecordsComeBack(seed: UInt64) throws {
    var random = SeededRandom(seed)
    var packer = RecordPacker()
    let letters = Array("{\"abcdefg\":12}".utf8)
    let plain = (0..<Int.random(in: 0...40_000, using: &random)).map { _ in
      seed % 2 == 0
        ? letters.randomElement(using: &random)! : UInt8.random(in: 0...255, using: &random)
    }
    let packed = plain.withUnsafeBytes { packer.pack($0) }
    #expect(packed.bytes.count <= plain.count, "seed \(seed)")
    #expect(RecordPacker.unpack(packed) == plain)
    if packed.packing > 0 {
      var broken = packed
      broken.bytes.removeLast(3)
      #expect(RecordPacker.unpack(broken) != plain)
      broken = packed
      broken.packing = 99
      #expect(RecordPacker.unpack(broken) == nil)
    }
  }
}
