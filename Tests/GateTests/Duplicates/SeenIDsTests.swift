import Testing

@testable import Gate

/// The table against a model that is a list.
@Suite struct SeenIDsTests {
  /// What the table stands for: ids in the order of first approval.
  struct Model {
    struct Entry {
      var id: UInt64
      var atMs: Int64
      var isDeferred: Bool
    }
    let limits: SeenIDs.Limits
    var entries: [Entry] = []
    var committed = 0

    func firstSeenMs(_ id: UInt64, _ nowMs: Int64) -> Int64? {
      guard let found = entries.last(where: { $0.id == id }) else { return nil }
      return found.atMs + limits.horizonMs > nowMs ? found.atMs : nil
    }

    mutating func insert(_ id: UInt64, _ nowMs: Int64, isDeferred: Bool) {
      entries.append(Entry(id: id, atMs: nowMs, isDeferred: isDeferred))
    }

    mutating func rollback() { entries.removeLast(entries.count - committed) }

    /// Everything that is over, and then the oldest that may go.
    mutating func commit(_ nowMs: Int64) {
      let newest = Dictionary(
        entries.indices.map { (entries[$0].id, $0) }, uniquingKeysWith: { max($0, $1) })
      entries = entries.indices.filter {
        newest[entries[$0].id] == $0 && entries[$0].atMs + limits.horizonMs > nowMs
      }.map { entries[$0] }
      // Those that may be held do not count, and stay.
      var mayGo = entries.indices.filter {
        !entries[$0].isDeferred || entries[$0].atMs + limits.heldMaxMs <= nowMs
      }.sorted {
        (entries[$0].atMs, entries[$0].isDeferred ? 1 : 0, $0)
          < (entries[$1].atMs, entries[$1].isDeferred ? 1 : 0, $1)
      }
      mayGo.removeLast(min(limits.entriesMax, mayGo.count))
      entries = entries.indices.filter { !mayGo.contains($0) }.map { entries[$0] }
      committed = entries.count
    }
  }

  /// Ids from a small set: collisions of the index's slots, since most of its bits are few.
  static func hash(_ id: UInt64) -> SeenHash {
    SeenHash(first: id % 7 == 0 ? 0xFFFF_FFFF : id &* 3, second: id)
  }

  @Test(arguments: UInt64(1)...60) func likeTheModel(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let limits = SeenIDs.Limits(
      entriesMax: Int.random(in: 3...400, using: &random), horizonMs: 10_000, heldMaxMs: 4_000)
    let seen = SeenIDs(limits)
    var model = Model(limits: limits)
    let ids = UInt64.random(in: 10...900, using: &random)
    let defers = Int.random(in: 0...6, using: &random)
    var nowMs: Int64 = 1_700_000_000_000
    for _ in 0..<400 {
      for _ in 0..<Int.random(in: 0...30, using: &random) {
        let id = UInt64.random(in: 0..<ids, using: &random)
        let known = seen.firstSeenMs(Self.hash(id), nowMs: nowMs)
        #expect(known == model.firstSeenMs(id, nowMs), "seed \(seed)")
        nowMs += Int64.random(in: 0...20, using: &random)
        // Only what is not known is let through.
        if seen.firstSeenMs(Self.hash(id), nowMs: nowMs) == nil {
          let isDeferred = Int.random(in: 0..<10, using: &random) < defers
          seen.insert(Self.hash(id), atMs: nowMs, isDeferred: isDeferred)
          model.insert(id, nowMs, isDeferred: isDeferred)
        }
      }
      if Int.random(in: 0..<4, using: &random) == 0 {
        seen.rollback()
        model.rollback()
      } else {
        seen.commit(nowMs: nowMs)
        model.commit(nowMs)
      }
      if Int.random(in: 0..<40, using: &random) == 0 { nowMs += 9_000 }
    }
    seen.commit(nowMs: nowMs)
    model.commit(nowMs)
    for id in 0..<ids {
      #expect(
        seen.firstSeenMs(Self.hash(id), nowMs: nowMs) == model.firstSeenMs(id, nowMs),
        "seed \(seed), id \(id)")
    }
    #expect(seen.count == model.entries.count, "seed \(seed)")
  }

  static let day: Int64 = 86_400_000
  static func make(entriesMax: Int = 1_000_000) -> SeenIDs {
    SeenIDs(SeenIDs.Limits(entriesMax: entriesMax, horizonMs: 4 * day, heldMaxMs: 3 * day))
  }

  @Test func theHorizonEndsToTheMillisecondAndIsNotRenewed() {
    let seen = Self.make()
    seen.insert(Self.hash(1), atMs: 1000, isDeferred: false)
    seen.commit(nowMs: 1000)
    for nowMs in [1000, 2000, 4 * Self.day + 999] {
      #expect(seen.firstSeenMs(Self.hash(1), nowMs: nowMs) == 1000)
    }
    #expect(seen.firstSeenMs(Self.hash(1), nowMs: 4 * Self.day + 1000) == nil)
  }

  @Test func pastTheBoundTheOldestGoAndTheHorizonShrinks() {
    let seen = Self.make(entriesMax: 100)
    for id in UInt64(0)..<100 {
      seen.insert(Self.hash(id), atMs: Int64(id) * 10, isDeferred: false)
    }
    seen.commit(nowMs: 1000)
    #expect(seen.horizonInForceMs(nowMs: 1000) == 1000)
    for id in UInt64(100)..<130 {
      seen.insert(Self.hash(id), atMs: Int64(id) * 10, isDeferred: false)
    }
    // Within the transaction nothing is forgotten: it may be undone.
    #expect(seen.firstSeenMs(Self.hash(0), nowMs: 1300) == 0)
    seen.commit(nowMs: 1300)
    #expect(seen.count == 100)
    #expect(seen.firstSeenMs(Self.hash(29), nowMs: 1300) == nil)
    #expect(seen.firstSeenMs(Self.hash(30), nowMs: 1300) == 300)
    #expect(seen.horizonInForceMs(nowMs: 1300) == 1000)
  }

  @Test func whatMayBeHeldIsNotForgottenForWantOfRoom() {
    let seen = Self.make(entriesMax: 10)
    seen.insert(Self.hash(1), atMs: 0, isDeferred: true)
    seen.commit(nowMs: 0)
    for id in UInt64(10)..<2000 {
      seen.insert(Self.hash(id), atMs: Int64(id), isDeferred: false)
      seen.commit(nowMs: Int64(id))
    }
    #expect(seen.firstSeenMs(Self.hash(1), nowMs: 2000) == 0)
    #expect(seen.count == 11)
    // Past the longest hold it is as any other.
    seen.insert(Self.hash(2001), atMs: 3 * Self.day, isDeferred: false)
    for id in UInt64(3000)..<3020 {
      seen.insert(Self.hash(id), atMs: 3 * Self.day, isDeferred: false)
      seen.commit(nowMs: 3 * Self.day)
    }
    #expect(seen.firstSeenMs(Self.hash(1), nowMs: 3 * Self.day) == nil)
    #expect(seen.count == 10)
  }

  /// A restore finds what the one who wrote it had, whatever was forgotten on the way.
  @Test(arguments: [10, 1000, 100_000]) func aRestoreEqualsWhatWasWritten(entriesMax: Int) {
    let written = Self.make(entriesMax: entriesMax)
    var log: [(UInt64, Int64, Bool)] = []
    for id in UInt64(0)..<20_000 {
      written.insert(Self.hash(id), atMs: Int64(id) * 20_000, isDeferred: id % 9 == 0)
      log.append((id, Int64(id) * 20_000, id % 9 == 0))
      if id % 64 == 63 { written.commit(nowMs: Int64(id) * 20_000) }
    }
    let nowMs: Int64 = 20_000 * 20_000
    written.commit(nowMs: nowMs)
    let restored = Self.make(entriesMax: entriesMax)
    for (id, atMs, isDeferred) in log {
      restored.restore(Self.hash(id), atMs: atMs, isDeferred: isDeferred, nowMs: nowMs)
    }
    restored.finishRestore(nowMs: nowMs)
    for (id, _, _) in log {
      #expect(
        written.firstSeenMs(Self.hash(id), nowMs: nowMs)
          == restored.firstSeenMs(Self.hash(id), nowMs: nowMs), "id \(id)")
    }
  }

  @Test func theLastWordOfTheTopicCounts() {
    let seen = Self.make()
    seen.restore(Self.hash(1), atMs: 100, isDeferred: false, nowMs: 1000)
    seen.restore(Self.hash(2), atMs: 200, isDeferred: false, nowMs: 1000)
    seen.restore(Self.hash(1), atMs: 300, isDeferred: false, nowMs: 1000)
    seen.erase(Self.hash(2))
    seen.erase(Self.hash(3))
    seen.finishRestore(nowMs: 1000)
    #expect(seen.firstSeenMs(Self.hash(1), nowMs: 1000) == 300)
    #expect(seen.firstSeenMs(Self.hash(2), nowMs: 1000) == nil)
    #expect(seen.count == 1)
    // Nothing of it is a transaction's to undo.
    seen.rollback()
    #expect(seen.count == 1)
  }

  /// The stated cost: 24 bytes of queue and 11 to 21 of index an id.
  @Test func aMillionTakeWhatIsStated() {
    let seen = Self.make(entriesMax: 2_000_000)
    var random = SeededGenerator(seed: 4)
    for count in 1...1_000_000 {
      let hash = SeenHash(first: random.next(), second: random.next())
      seen.insert(hash, atMs: Int64(count), isDeferred: false)
      if count % 1000 == 0 { seen.commit(nowMs: Int64(count)) }
    }
    #expect(seen.count == 1_000_000)
    #expect(34_000_000...46_000_000 ~= seen.memoryBytes, "\(seen.memoryBytes) bytes")
  }

  /// A table that only moves takes no more memory, however long it does.
  @Test func aTableThatMovesStaysAsLargeAsItIs() {
    let seen = Self.make(entriesMax: 5_000)
    var memory: Set<Int> = []
    for id in UInt64(0)..<200_000 {
      seen.insert(SeenHash(first: id &* 0x9E37_79B9, second: id), atMs: 0, isDeferred: false)
      if id % 100 == 99 { seen.commit(nowMs: 0) }
      if id > 20_000 { memory.insert(seen.memoryBytes) }
    }
    #expect(seen.count == 5_000)
    #expect(memory.max()! - memory.min()! <= 1024 * 24, "\(memory.sorted())")
  }
}
