import Gate

/// Where a hold stands: in the table under its key, its user and its collapse key, in its user's
/// chain, and in its provider's heap.
extension HoldStore {
  func newest(of user: UInt64) -> UInt32? {
    let hash = SlotTable.hash(.user, user: user, hold: 0, collapse: 0)
    return table.find(.user, hash: hash) { entries[$0].user == user }
  }

  func link(_ slot: UInt32) {
    let entry = entries[slot]
    table.insert(.hold, slot, hash: hash(.hold, entry), entries: entries)
    if entry.hasCollapse {
      table.insert(.collapse, slot, hash: hash(.collapse, entry), entries: entries)
    }
    if let newest = newest(of: entry.user) {
      entries[slot].next = entries[newest].next
      entries[newest].next = slot
      table.replace(.user, newest, with: slot, hash: hash(.user, entry))
    } else {
      entries[slot].next = slot
      table.insert(.user, slot, hash: hash(.user, entry), entries: entries)
    }
  }

  /// Forgets the hold. What is in the heap of it is stale.
  func remove(_ slot: UInt32) {
    let entry = entries[slot]
    if entry.state == .waiting { countWaiting(entry.provider, -1) }
    table.remove(.hold, slot, hash: hash(.hold, entry))
    if entry.hasCollapse { table.remove(.collapse, slot, hash: hash(.collapse, entry)) }
    unchain(slot, entry)
    payloads.release(entry.location, offsetKnown: entry.offset != HoldEntry.offsetUnknown)
    entries.remove(slot)
    if entries.count == 0 { clearHeaps() }
  }

  /// Walks the user's holds up to it. They are mostly ended oldest first, so it is mostly the first.
  private func unchain(_ slot: UInt32, _ entry: HoldEntry) {
    let userHash = hash(.user, entry)
    guard entry.next != slot else { return table.remove(.user, slot, hash: userHash) }
    let newest = newest(of: entry.user)!
    var previous = newest
    while entries[previous].next != slot { previous = entries[previous].next }
    entries[previous].next = entry.next
    if newest == slot { table.replace(.user, slot, with: previous, hash: userHash) }
  }

  private func hash(_ kind: SlotTable.Kind, _ entry: HoldEntry) -> UInt64 {
    SlotTable.hash(kind, user: entry.user, hold: entry.hold, collapse: entry.collapse)
  }

  // MARK: Heaps

  func countWaiting(_ provider: Provider, _ change: Int) {
    switch provider {
    case .apns: waiting.apns += change
    case .fcm: waiting.fcm += change
    }
  }

  /// Of a device that was gone and is back.
  func setProvider(_ slot: UInt32, _ provider: Provider) {
    let before = entries[slot].provider
    guard before != provider else { return }
    entries[slot].provider = provider
    guard entries[slot].state == .waiting else { return }
    countWaiting(before, -1)
    countWaiting(provider, 1)
    push(slot)
  }

  func setState(_ slot: UInt32, _ state: HoldEntry.State) {
    let before = entries[slot].state
    guard before != state else { return }
    if before == .waiting { countWaiting(entries[slot].provider, -1) }
    if state == .waiting { countWaiting(entries[slot].provider, 1) }
    entries[slot].state = state
  }

  func push(_ slot: UInt32) {
    let item = DueHeap.Item(due: entries[slot].due, slot: slot)
    let provider = entries[slot].provider
    switch provider {
    case .apns:
      apns.push(item)
      if apns.count > 64 + waiting.apns + waiting.apns / 4 { compact(&apns, .apns) }
    case .fcm:
      fcm.push(item)
      if fcm.count > 64 + waiting.fcm + waiting.fcm / 4 { compact(&fcm, .fcm) }
    }
  }

  private func clearHeaps() {
    apns = DueHeap()
    fcm = DueHeap()
  }

  /// What agrees with no hold that waits is left over from one that was moved, ended or taken.
  @inline(__always)
  func isCurrent(_ item: DueHeap.Item, _ provider: Provider) -> Bool {
    guard entries.has(item.slot) else { return false }
    let entry = entries[item.slot]
    return entry.state == .waiting && entry.due == item.due && entry.provider == provider
  }

  /// Leaves one item of each hold that waits. A slot that was used again may have two that agree.
  private func compact(_ heap: inout DueHeap, _ provider: Provider) {
    heap.filter { item in
      guard isCurrent(item, provider), !entries[item.slot].isMarked else { return false }
      entries[item.slot].isMarked = true
      return true
    }
    for index in 0..<heap.count { entries[heap.item(index).slot].isMarked = false }
  }
}
