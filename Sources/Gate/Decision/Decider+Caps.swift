/// A cap that has no room.
struct UsedUpCap {
  var cap: UnsafePointer<Cap>
  var freesAtMs: Int64
}

/// Row 14.
extension Decider {
  /// Of the category's caps that are used up, the one that frees up last: before that, none would
  /// let it pass. Nil where all have room.
  func usedUp(
    _ view: CapView, _ category: Category, zone: UInt16, _ zones: ZoneTable, _ nowMs: Int64
  ) -> UsedUpCap? {
    var found: UsedUpCap?
    let caps = rules.caps + Int(rules.capStarts[Int(category.rawValue)])
    for cap in caps..<(caps + Int(rules.capCounts[Int(category.rawValue)])) {
      guard
        let freesAtMs = cap.pointee.freesAtMs(view.entries, nowMs: nowMs, zone: zone, in: zones)
      else { continue }
      if freesAtMs > found?.freesAtMs ?? .min {
        found = UsedUpCap(cap: cap, freesAtMs: freesAtMs)
      }
    }
    return found
  }

  /// Whose day it is: the account's, so that all devices have the same; the deciding device's where
  /// the account names no zone.
  func dayZone(_ account: PackedPlace, _ device: PackedPlace, _ zones: ZoneTable) -> UInt16 {
    if zones.isKnown(account.zone) { return account.zone }
    return zones.isKnown(device.zone) ? device.zone : fallbackZone
  }
}
