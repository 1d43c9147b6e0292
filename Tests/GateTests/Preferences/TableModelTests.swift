import Testing

@testable import Gate

/// The table against a dictionary, through long random histories.
@Suite struct TableModelTests {
  enum Held: Equatable {
    case document(version: Int64, offset: Int64, devices: Int)
    case unreadable(offset: Int64)
  }

  private func held(_ table: PreferenceTable, _ user: String) -> Held? {
    guard let block = table.block(user) else { return nil }
    if block.isUnreadable { return .unreadable(offset: block.offset) }
    return .document(version: block.version!, offset: block.offset, devices: block.deviceCount)
  }

  private func document(_ user: String, _ version: Int64, _ devices: Int) -> String {
    let list = (0..<devices).map {
      """
      {"device_id":"\(user)-\($0)","platform":"ios","os_permission":"granted","token_status":"active"}
      """
    }
    return
      #"{"user_id":"\#(user)","version":\#(version),"devices":[\#(list.joined(separator: ","))]}"#
  }

  private func run(users: Int, operations: Int, readers: Bool) {
    var generator = SeededGenerator()
    let epochs = Epochs()
    let table = newTable(epochs)
    let slot = readers ? epochs.register() : nil
    var model: [String: Held] = [:]
    var versions: [String: Int64] = [:]
    for offset in 0..<Int64(operations) {
      let user = "user-\(Int.random(in: 0..<users, using: &generator))"
      let hint = "seed \(generator.seed), operation \(offset)"
      switch Int.random(in: 0..<10, using: &generator) {
      case 0:
        #expect(table.apply(key: user, nil, offset: offset) == .erased, "\(hint)")
        model[user] = nil
        versions[user] = nil
      case 1:
        let broken = #"{"user_id":"\#(user)","version":-1}"#
        let applied = table.apply(key: user, broken, offset: offset)
        #expect(applied == .unreadable(.malformedVersion), "\(hint)")
        model[user] = .unreadable(offset: offset)
        versions[user] = nil
      default:
        let version = Int64.random(in: 0..<50, using: &generator)
        let devices = Int.random(in: 0..<5, using: &generator)
        let applied = table.apply(key: user, document(user, version, devices), offset: offset)
        let isOlder = versions[user].map { version < $0 } ?? false
        #expect(applied == (isOlder ? .storedOlderVersion([]) : .stored([])), "\(hint)")
        model[user] = .document(version: version, offset: offset, devices: devices)
        versions[user] = version
      }
      #expect(held(table, user) == model[user], "\(hint)")
      #expect(table.users == model.count, "\(hint)")
      if let slot, offset % 97 == 0 { epochs.passBoundary(slot) }
    }
    for user in 0..<users {
      #expect(held(table, "user-\(user)") == model["user-\(user)"], "seed \(generator.seed)")
    }
    #expect(held(table, "stranger") == nil)
    #expect(held(table, "user-\(users)") == nil)
  }

  @Test(arguments: [1, 3, 60]) func fewUsers(_ users: Int) {
    run(users: users, operations: 4_000, readers: false)
  }

  @Test func manyUsersGrowEveryShard() { run(users: 9_000, operations: 30_000, readers: true) }

  /// Users that come and go leave entries behind; a shard that grows leaves them out.
  @Test func erasedEntriesDoNotPileUp() {
    let table = newTable()
    for round in 0..<40 {
      for user in 0..<500 {
        _ = table.apply(key: "g\(round)-\(user)", document("g\(round)-\(user)", 1, 1))
      }
      for user in 0..<500 { _ = table.apply(key: "g\(round)-\(user)", nil) }
    }
    #expect(table.users == 0)
    // 20,000 users have passed, 500 were there at a time: neither entries nor blocks of all of them.
    #expect(table.memoryBytes < 20_000 * 24)
  }

  /// What it says of its memory is so after every document, not only now and then.
  @Test func memoryIsCounted() {
    let table = newTable()
    let empty = table.memoryBytes
    #expect(empty >= PreferenceTable.shardCount * 16 * 16)
    _ = table.apply(key: "u", document("u", 1, 1))
    let one = table.memoryBytes
    #expect(one > empty && one < empty + 200)
    for user in 0..<5_000 { _ = table.apply(key: "u\(user)", document("u\(user)", 1, 1)) }
    let perUser = (table.memoryBytes - one) / 5_000
    // Two words of header, one of the device, one or two of its id; the index at 0.64 to 0.8.
    #expect((50...66).contains(perUser), "\(perUser)")
  }

  /// Replaced for ever, the blocks come from what was freed: as soon as the readers have passed, and
  /// no sooner.
  @Test func memoryIsBounded() {
    let epochs = Epochs()
    let table = newTable(epochs)
    let slot = epochs.register()
    func replace(_ rounds: Int, passing: Bool) {
      for round in 0..<rounds {
        for user in 0..<20 {
          _ = table.apply(key: "m\(user)", document("m\(user)", Int64(round), (round + user) % 64))
        }
        if passing { epochs.passBoundary(slot) }
      }
    }
    replace(200, passing: true)
    let settled = table.memoryBytes
    replace(800, passing: true)
    // 16,000 documents of up to 64 devices more, each of which would have left its block behind.
    #expect(table.memoryBytes < settled * 5 / 4)
    // A reader in the middle of its batch keeps everything alive.
    replace(800, passing: false)
    let held = table.memoryBytes
    #expect(held > settled * 5)
    epochs.goIdle(slot)
    replace(1_000, passing: true)
    #expect(table.memoryBytes < held * 21 / 20)
  }

  /// C130: an older document never comes back, and a lower version is said but stored.
  @Test func theLatestInTheLogWins() {
    let table = newTable()
    #expect(table.apply(key: "u", document("u", 5, 1), offset: 1) == .stored([]))
    #expect(table.apply(key: "u", document("u", 5, 1), offset: 2) == .stored([]))
    #expect(table.apply(key: "u", document("u", 4, 2), offset: 3) == .storedOlderVersion([]))
    #expect(held(table, "u") == .document(version: 4, offset: 3, devices: 2))
    #expect(table.apply(key: "u", document("u", 5, 1), offset: 4) == .stored([]))
    #expect(table.apply(key: "u", #"{"user_id":"u"}"#, offset: 5) == .stored([]))
    #expect(table.apply(key: "u", document("u", 1, 1), offset: 6) == .stored([]))
    #expect(table.apply(key: "u", nil, offset: 7) == .erased)
    #expect(table.apply(key: "u", nil, offset: 8) == .erased)
    #expect(table.block("u") == nil)
    // The four bytes are no tombstone.
    #expect(table.apply(key: "u", "null", offset: 9) == .unreadable(.wrongType))
    #expect(held(table, "u") == .unreadable(offset: 9))
  }

  /// Large enough for pages of its own kind, and grown a few times on the way.
  @Test func aLargeIndexKeepsWhatItHad() {
    var generator = SeededGenerator()
    let hashes = (0..<200_000).map { _ in
      UserHash(first: generator.next(), second: generator.next())
    }
    var index = ShardIndex(capacity: 16)
    for (number, hash) in hashes.enumerated() {
      if index.isFull {
        let larger = index.grown()
        index.deallocate()
        index = larger
      }
      index.set(index.claim(hash), hash, block: UInt32(number + 2))
    }
    defer { index.deallocate() }
    let found = hashes.map { index.find($0)?.block }
    #expect(found == (2..<200_002).map { UInt32($0) }, "seed \(generator.seed)")
    #expect(index.used == hashes.count)
    #expect((64...80).contains(hashes.count * 100 / index.capacity))
  }

  @Test func sizeClasses() {
    #expect(BlockArena.classWords.count == 64)
    for words in 1...BlockArena.blockWordsMax {
      let sizeClass = BlockArena.sizeClass(words: words)
      guard BlockArena.classWords[sizeClass] >= words,
        sizeClass == 0 || BlockArena.classWords[sizeClass - 1] < words
      else {
        Issue.record("\(words) words in class \(sizeClass)")
        return
      }
    }
  }
}
