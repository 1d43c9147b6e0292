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
    var erasures: [String: Int64] = [:]
    for offset in 0..<Int64(operations) {
      let user = "user-\(Int.random(in: 0..<users, using: &generator))"
      let hint = "seed \(generator.seed), operation \(offset)"
      switch Int.random(in: 0..<10, using: &generator) {
      case 0:
        #expect(table.apply(key: user, nil, offset: offset) == .erased, "\(hint)")
        model[user] = nil
        versions[user] = nil
        erasures[user] = offset
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
      if let block = table.block(user) { #expect(block.erasedOffset == erasures[user], "\(hint)") }
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

  /// A document says behind which erasure it stands, however it is laid out, and so do its successors.
  @Test(arguments: [Int64(3), 1 << 45]) func anErasureIsKnownOfWhoIsBack(base: Int64) throws {
    let table = newTable()
    let account =
      #""account":{"quiet_hours":{"start":"22:00","end":"07:00"},"muted_subtypes":{"social":["like"]}}"#
    let full =
      #"{"user_id":"u","version":9,\#(account),"devices":[{"device_id":"d","platform":"ios","#
      + #""os_permission":"granted","token_status":"active","timezone":"Asia/Tokyo"}]}"#
    _ = table.apply(key: "u", full, offset: base)
    #expect(table.block("u")?.erasedOffset == nil && table.block("u")?.isErased(since: -1) == false)
    _ = table.apply(key: "u", nil, offset: base + 1)
    #expect(table.apply(key: "u", full, offset: base + 2) == .stored([]))
    for later in Int64(3)...4 {
      let block = try #require(table.block("u"))
      #expect(block.erasedOffset == base + 1)
      #expect(block.isErased(since: base) && !block.isErased(since: base + 1))
      #expect(block.version == 9 && block.offset == base + later - 1 && block.deviceCount == 1)
      #expect(block.accountPlace.windowKind == .set && withBytes("d") { block.find($0) } == 0)
      #expect(withBytes("like") { block.isMuted($0, .social, device: 0) })
      _ = table.apply(key: "u", full, offset: base + later)
    }
    // The newest counts, and one that cannot be read carries it too.
    _ = table.apply(key: "u", nil, offset: base + 6)
    _ = table.apply(key: "u", nil, offset: base + 7)
    _ = table.apply(key: "u", "{", offset: base + 8)
    #expect(table.block("u")?.erasedOffset == base + 7 && table.block("u")?.isUnreadable == true)
    #expect(table.block("u")?.offset == base + 8)
  }

  /// What a record switches off for the account, of what was not off before it.
  @Test func optOutsAreTold() {
    let table = newTable()
    func apply(_ states: [Gate.Category: String]?) -> CategorySet {
      let choices = (states ?? [:]).map { category, state in
        #""\#(category.name)":{"state":"\#(state)","at":"2025-01-01T00:00:00Z","source":"admin_override"}"#
      }
      let document = documentJSON(
        ["user_id": #""u""#], account: ["categories": "{\(choices.joined(separator: ","))}"])
      _ = table.apply(key: "u", states == nil ? nil : document)
      return table.optOuts
    }
    let everything = CategorySet(Gate.Category.allCases)
    // There was nothing that it could switch off.
    #expect(apply([.marketing: "user-off"]).isEmpty)
    #expect(apply([.marketing: "user-off"]).isEmpty)
    #expect(apply([.marketing: "user-off", .social: "user-off"]) == CategorySet([.social]))
    #expect(apply([.social: "user-on", .security: "user-off"]) == CategorySet([.security]))
    #expect(apply([.social: "default", .transactional: "user-on"]).isEmpty)
    #expect(apply([.transactional: "user-off"]) == CategorySet([.transactional]))
    #expect(apply(nil) == everything.subtracting(CategorySet([.transactional])))
    #expect(apply(nil).isEmpty && apply([.social: "user-off"]).isEmpty)
    // An unreadable document allows nothing, and is nobody's choice; what follows it may be.
    _ = table.apply(key: "u", "{")
    #expect(table.optOuts.isEmpty)
    #expect(apply([.social: "user-off"]) == CategorySet([.social]))
    _ = table.apply(key: "v", nil)
    #expect(table.optOuts.isEmpty && everything.contains(.social) && !everything.isEmpty)
  }

  @Test func theOldestErasuresAreForgotten() {
    var erasures = Erasures(offsetsMax: 100)
    func user(_ number: UInt64) -> UserHash { UserHash(first: number, second: 1) }
    for number in UInt64(0)..<1_000 { erasures.note(user(number), offset: Int64(number)) }
    #expect(erasures.take(user(899)) == nil)
    for number in UInt64(950)..<1_000 { #expect(erasures.take(user(number)) == Int64(number)) }
    #expect(erasures.take(user(999)) == nil)
    // One that is erased again is not an older one's.
    erasures.note(user(1), offset: 5)
    for number in UInt64(2)..<51 { erasures.note(user(number), offset: 6) }
    erasures.note(user(51), offset: 7)
    erasures.note(user(1), offset: 8)
    #expect(erasures.take(user(1)) == 8 && erasures.take(user(1)) == nil)
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
