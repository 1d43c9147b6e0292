import Synchronization

/// One shard's open addressing from a user's hash to a block: 16 bytes an entry, linear probing. It
/// grows by a quarter: by doubling, half of it would be empty when it is unlucky, and a table of
/// hashes that agree on a size is unlucky in all shards at once.
///
/// An entry is the first word of the hash, written once, and a word that is swapped: the upper half
/// of the second hash word over the name of a block. The block keeps the rest of the hash, so all
/// 128 bits are compared. A reader loads the word once and so sees the old block or the new one.
struct ShardIndex {
  static let neverUsed: UInt32 = 0
  static let erased: UInt32 = 1

  /// [capacity][used][entries …]; replaced whole when it grows.
  let base: UnsafeMutablePointer<UInt64>

  private static let headerWords = 2

  init(base: UnsafeMutablePointer<UInt64>) { self.base = base }

  init(capacity: Int) {
    let words = Self.headerWords + capacity * 2
    base = HugePages.allocate(words: words)
    base.initialize(repeating: 0, count: words)
    base[0] = UInt64(capacity)
  }

  func deallocate() { HugePages.deallocate(base, words: Self.headerWords + capacity * 2) }

  var capacity: Int { Int(base[0]) }
  var memoryBytes: Int { (Self.headerWords + capacity * 2) * 8 }
  /// Entries ever used, erased ones included. The writer's alone.
  var used: Int {
    get { Int(base[1]) }
    nonmutating set { base[1] = UInt64(newValue) }
  }

  /// Full at four fifths: beyond that, probes get long.
  var isFull: Bool { (used + 1) * 5 > capacity * 4 }

  /// By the bits that the choice of the shard left, as a fraction of the capacity.
  @inline(__always)
  func entry(_ hash: UserHash) -> UnsafeMutablePointer<UInt64> {
    let fraction = hash.first << PreferenceTable.shardBits
    return base + (Self.headerWords + Int(fraction.multipliedFullWidth(by: base[0]).high) * 2)
  }

  @inline(__always)
  private func next(_ entry: UnsafeMutablePointer<UInt64>) -> UnsafeMutablePointer<UInt64> {
    let following = entry + 2
    return following == base + (Self.headerWords + capacity * 2)
      ? base + Self.headerWords : following
  }

  @inline(__always)
  private static func word(
    _ entry: UnsafeMutablePointer<UInt64>
  ) -> UnsafeMutablePointer<Atomic<UInt64>> {
    UnsafeMutableRawPointer(entry + 1).assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  @inline(__always)
  private static func tag(_ hash: UserHash) -> UInt64 { hash.second >> 32 }

  /// The entry whose hash agrees as far as the index knows it, and its block; nil where there is
  /// none. The block may be `erased`.
  @inline(__always)
  func find(_ hash: UserHash) -> (entry: UnsafeMutablePointer<UInt64>, block: UInt32)? {
    var at = entry(hash)
    while true {
      // Pairs with the releasing store in `set`: who sees the name sees the block's words.
      let word = Self.word(at).pointee.load(ordering: .acquiring)
      if word == 0 { return nil }
      if word >> 32 == Self.tag(hash), at[0] == hash.first {
        return (at, UInt32(truncatingIfNeeded: word))
      }
      at = next(at)
    }
  }

  /// The first entry never used on the hash's way. Writer only; there is room.
  func claim(_ hash: UserHash) -> UnsafeMutablePointer<UInt64> {
    var at = entry(hash)
    while Self.word(at).pointee.load(ordering: .relaxed) != 0 { at = next(at) }
    at[0] = hash.first
    used += 1
    return at
  }

  func set(_ entry: UnsafeMutablePointer<UInt64>, _ hash: UserHash, block: UInt32) {
    Self.word(entry).pointee.store(Self.tag(hash) << 32 | UInt64(block), ordering: .releasing)
  }

  /// A copy with room, without the erased entries. Writer only.
  func grown() -> ShardIndex {
    var live = 0
    forEachLive { _, _ in live += 1 }
    let larger = ShardIndex(capacity: max(16, (live + 1) * 25 / 16))
    forEachLive { first, word in
      var at = larger.entry(UserHash(first: first, second: 0))
      while at[1] != 0 { at = larger.next(at) }
      at[0] = first
      at[1] = word
      larger.used += 1
    }
    return larger
  }

  private func forEachLive(_ body: (_ first: UInt64, _ word: UInt64) -> Void) {
    for slot in 0..<capacity {
      let at = base + (Self.headerWords + slot * 2)
      let word = Self.word(at).pointee.load(ordering: .relaxed)
      let block = UInt32(truncatingIfNeeded: word)
      if word != 0, block != Self.erased { body(at[0], word) }
    }
  }
}
