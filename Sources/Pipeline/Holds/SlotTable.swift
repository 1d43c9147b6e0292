import CShims

/// From a hash to a slot of `HoldEntries`, four bytes an item: holds by identity, users by their newest
/// hold, and collapse keys, all in one open table.
///
/// Shards grow one at a time, so no single insert pays for all; an item is a slot, its kind, and six
/// bits of its hash, which spare most looks at entries that are others'.
struct SlotTable: ~Copyable {
  enum Kind: UInt32 {
    case hold, user, collapse
  }

  private static let shardCount = 256
  private static let slotMask: UInt32 = 0xFF_FFFF
  /// An item that was removed: probing goes on past it.
  private static let removed: UInt32 = 3 << 24

  private struct Shard {
    var base = UnsafeMutablePointer<UInt32>(bitPattern: 0x10)!
    var capacity = 0
    var live = 0
    /// Live and removed.
    var used = 0
  }
  private let shards: UnsafeMutablePointer<Shard>

  init() {
    shards = .allocate(capacity: Self.shardCount)
    shards.initialize(repeating: Shard(), count: Self.shardCount)
  }

  deinit {
    for i in 0..<Self.shardCount where shards[i].capacity > 0 { shards[i].base.deallocate() }
    shards.deallocate()
  }

  var memoryBytes: Int {
    (0..<Self.shardCount).reduce(Self.shardCount * MemoryLayout<Shard>.stride) {
      $0 + shards[$1].capacity * 4
    }
  }

  static func hash(_ kind: Kind, user: UInt64, hold: UInt64, collapse: UInt32) -> UInt64 {
    switch kind {
    case .hold: mixed(hold)
    case .user: mixed(user ^ 0x9E37_79B9_7F4A_7C15)
    case .collapse: mixed(user &+ (UInt64(collapse) << 1 | 1) &* 0xD6E8_FEB8_6659_FD93)
    }
  }

  private static func mixed(_ value: UInt64) -> UInt64 {
    var h = (value ^ value >> 32) &* 0xD6E8_FEB8_6659_FD93
    h = (h ^ h >> 32) &* 0xD6E8_FEB8_6659_FD93
    return h ^ h >> 32
  }

  private static func hash(_ item: UInt32, _ entries: HoldEntries) -> UInt64 {
    let entry = entries.base + Int(item & slotMask)
    return hash(
      Kind(rawValue: item >> 24 & 3)!, user: entry.pointee.user, hold: entry.pointee.hold,
      collapse: entry.pointee.collapse)
  }

  private static func item(_ kind: Kind, _ slot: UInt32, _ hash: UInt64) -> UInt32 {
    slot | kind.rawValue << 24 | UInt32(hash & 0x3F) << 26
  }

  @inline(__always)
  private static func home(_ hash: UInt64, _ capacity: Int) -> Int {
    Int((hash << 8).multipliedFullWidth(by: UInt64(capacity)).high)
  }

  /// The first slot of that kind and hash that `matches`.
  @inline(__always)
  func find(_ kind: Kind, hash: UInt64, _ matches: (UInt32) -> Bool) -> UInt32? {
    let shard = shards[Int(hash >> 56)]
    guard shard.capacity > 0 else { return nil }
    let wanted = Self.item(kind, 0, hash)
    var at = Self.home(hash, shard.capacity)
    while true {
      let item = shard.base[at]
      if item == 0 { return nil }
      let slot = item & Self.slotMask
      if item & ~Self.slotMask == wanted, slot != 0, matches(slot) { return slot }
      at = at + 1 == shard.capacity ? 0 : at + 1
    }
  }

  mutating func insert(_ kind: Kind, _ slot: UInt32, hash: UInt64, entries: HoldEntries) {
    let shard = shards + Int(hash >> 56)
    // Dense, for memory's sake: sixteen items share a cache line, so a long probe is a short walk.
    if (shard.pointee.used + 1) * 10 > shard.pointee.capacity * 9 { grow(shard, entries) }
    Self.place(Self.item(kind, slot, hash), hash, shard.pointee)
    shard.pointee.used += 1
    shard.pointee.live += 1
  }

  private static func place(_ item: UInt32, _ hash: UInt64, _ shard: Shard) {
    var at = home(hash, shard.capacity)
    while shard.base[at] != 0 { at = at + 1 == shard.capacity ? 0 : at + 1 }
    shard.base[at] = item
  }

  /// The item is there.
  mutating func remove(_ kind: Kind, _ slot: UInt32, hash: UInt64) {
    let shard = shards + Int(hash >> 56)
    shard.pointee.base[position(kind, slot, hash)] = Self.removed
    shard.pointee.live -= 1
    if shard.pointee.live == 0 {
      shard.pointee.base.deallocate()
      shard.pointee = Shard()
    }
  }

  /// Leads to another slot of the same hash from now on. The item is there.
  mutating func replace(_ kind: Kind, _ slot: UInt32, with newer: UInt32, hash: UInt64) {
    let shard = shards[Int(hash >> 56)]
    shard.base[position(kind, slot, hash)] = Self.item(kind, newer, hash)
  }

  private func position(_ kind: Kind, _ slot: UInt32, _ hash: UInt64) -> Int {
    let shard = shards[Int(hash >> 56)]
    let wanted = Self.item(kind, slot, hash)
    precondition(shard.capacity > 0, "slot \(slot) is not in the table")
    var at = Self.home(hash, shard.capacity)
    while shard.base[at] != wanted {
      precondition(shard.base[at] != 0, "slot \(slot) is not in the table")
      at = at + 1 == shard.capacity ? 0 : at + 1
    }
    return at
  }

  /// Room for a quarter more than is live: to a tenth more, a restore moved each item ten times. The
  /// removed ones are left behind.
  private func grow(_ shard: UnsafeMutablePointer<Shard>, _ entries: HoldEntries) {
    let old = shard.pointee
    var larger = Shard()
    larger.capacity = max(8, (old.live + 1) * 50 / 36 + 1)
    larger.base = .allocate(capacity: larger.capacity)
    larger.base.initialize(repeating: 0, count: larger.capacity)
    for i in 0..<old.capacity {
      if i + 16 < old.capacity { cs_prefetch(entries.base + Int(old.base[i + 16] & Self.slotMask)) }
      guard old.base[i] & Self.slotMask != 0 else { continue }
      Self.place(old.base[i], Self.hash(old.base[i], entries), larger)
    }
    larger.live = old.live
    larger.used = old.live
    if old.capacity > 0 { old.base.deallocate() }
    shard.pointee = larger
  }
}
