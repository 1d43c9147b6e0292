/// The numbers of zone names. A name keeps its number for the life of the process, across every
/// reload: the blocks of the preference table hold numbers, and nobody goes through millions of
/// blocks because the tz database changed. So numbers are only ever added.
///
/// Owned by the writer's lock in `ZonePublisher`.
struct ZoneNameRegistry: ~Copyable {
  /// Documents may bring names that no database has; they may not use up the numbers that zones of
  /// later databases will need.
  static let reservedForDatabases = 512

  private static let slotCount = 2 * ZoneTable.zonesMax
  private static let nameStride = ZoneName.bytesMax

  /// Numbers given out, 0 ("no zone") among them.
  private(set) var count = 1

  /// Open addressing: a number, or 0 for a free slot. Never more than half full.
  private let slots: UnsafeMutablePointer<UInt16>
  private let lengths: UnsafeMutablePointer<UInt8>
  private let names: UnsafeMutablePointer<UInt8>

  init() {
    slots = .allocate(capacity: Self.slotCount)
    slots.initialize(repeating: 0, count: Self.slotCount)
    lengths = .allocate(capacity: ZoneTable.zonesMax)
    lengths.initialize(repeating: 0, count: ZoneTable.zonesMax)
    names = .allocate(capacity: ZoneTable.zonesMax * Self.nameStride)
    names.initialize(repeating: 0, count: ZoneTable.zonesMax * Self.nameStride)
  }

  deinit {
    slots.deallocate()
    lengths.deallocate()
    names.deallocate()
  }

  /// Empty for 0.
  subscript(_ zone: UInt16) -> UnsafeRawBufferPointer {
    precondition(Int(zone) < count, "zone \(zone) was never given out")
    return UnsafeRawBufferPointer(
      start: names + Int(zone) * Self.nameStride, count: Int(lengths[Int(zone)]))
  }

  /// 0 where the name has no number.
  func find(_ name: UnsafeRawBufferPointer) -> UInt16 { slots[slot(of: name)] }

  /// The name's number, a new one if need be. 0 where the name is not well formed or the numbers
  /// are used up.
  mutating func intern(_ name: UnsafeRawBufferPointer, fromDatabase: Bool) -> UInt16 {
    let slot = slot(of: name)
    if slots[slot] != 0 { return slots[slot] }
    let limit =
      fromDatabase ? ZoneTable.zonesMax : ZoneTable.zonesMax - Self.reservedForDatabases
    guard count < limit, ZoneName.isWellFormed(name) else { return 0 }
    let zone = UInt16(count)
    count += 1
    for i in 0..<name.count { names[Int(zone) * Self.nameStride + i] = name[i] }
    lengths[Int(zone)] = UInt8(name.count)
    slots[slot] = zone
    return zone
  }

  /// Where the name is, or where it would go.
  private func slot(of name: UnsafeRawBufferPointer) -> Int {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in name.prefix(ZoneName.bytesMax + 1) {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    var slot = Int(truncatingIfNeeded: hash ^ (hash >> 32)) & (Self.slotCount - 1)
    while slots[slot] != 0, !same(slots[slot], name) { slot = (slot + 1) & (Self.slotCount - 1) }
    return slot
  }

  private func same(_ zone: UInt16, _ name: UnsafeRawBufferPointer) -> Bool {
    let known = self[zone]
    guard known.count == name.count else { return false }
    for i in 0..<name.count where known[i] != name[i] { return false }
    return true
  }
}
