import Gate

extension HoldStore {
  /// When the earliest hold of a provider is due; nil where none waits.
  public func nextDueMs(_ provider: Provider) -> Int64? {
    switch provider {
    case .apns: nextDueMs(&apns, provider)
    case .fcm: nextDueMs(&fcm, provider)
    }
  }

  private func nextDueMs(_ heap: inout DueHeap, _ provider: Provider) -> Int64? {
    while let item = heap.min {
      if isCurrent(item, provider) { return baseMs + Int64(item.due) }
      _ = heap.pop()
    }
    return nil
  }

  /// Takes up to `max` holds that are due by then, in the order of their dues, a user's in the order
  /// they were held; they are part of the open transaction: each is ended in it, or is back by its
  /// end. Returns how many.
  public func takeDue(
    _ provider: Provider, notAfterMs: Int64, max: Int, into out: inout [HoldSlot]
  ) -> Int {
    switch provider {
    case .apns: take(&apns, provider, notAfterMs, max, &out)
    case .fcm: take(&fcm, provider, notAfterMs, max, &out)
    }
  }

  private func take(
    _ heap: inout DueHeap, _ provider: Provider, _ notAfterMs: Int64, _ max: Int,
    _ out: inout [HoldSlot]
  ) -> Int {
    guard notAfterMs >= baseMs else { return 0 }
    let last = relative(notAfterMs)
    var taken = 0
    while taken < max, let item = heap.min, item.due <= last {
      _ = heap.pop()
      guard isCurrent(item, provider) else { continue }
      let slot = oldest(likeThat: item, provider)
      if slot != item.slot { heap.push(item) }
      setState(slot, .taken)
      journal.append(.taken(slot))
      out.append(HoldSlot(number: slot))
      taken += 1
    }
    return taken
  }

  /// Takes one hold, whenever it is due, as `takeDue` does. False where the open transaction has it
  /// already.
  func take(_ slot: HoldSlot) -> Bool {
    guard entries[slot.number].state == .waiting else { return false }
    setState(slot.number, .taken)
    journal.append(.taken(slot.number))
    return true
  }

  /// Of the user's holds that are due at the same instant, the one held first: a heap knows no order
  /// among equals.
  private func oldest(likeThat item: DueHeap.Item, _ provider: Provider) -> UInt32 {
    guard entries[item.slot].next != item.slot else { return item.slot }
    let newest = newest(of: entries[item.slot].user)!
    var slot = entries[newest].next
    while slot != item.slot {
      if isCurrent(DueHeap.Item(due: item.due, slot: slot), provider) { return slot }
      slot = entries[slot].next
    }
    return item.slot
  }

  /// Holds that are due by then and wait still, counted to `limit` at most.
  public func overdue(_ provider: Provider, nowMs: Int64, limit: Int) -> Int {
    guard nowMs >= baseMs else { return 0 }
    let last = relative(nowMs)
    // One that was given back may be in the heap twice.
    var seen: [UInt32] = []
    let isNew: (DueHeap.Item) -> Bool = { [self] item in
      guard isCurrent(item, provider), !entries[item.slot].isMarked else { return false }
      entries[item.slot].isMarked = true
      seen.append(item.slot)
      return true
    }
    switch provider {
    case .apns: apns.forEach(notAfter: last, limit: limit, isNew)
    case .fcm: fcm.forEach(notAfter: last, limit: limit, isNew)
    }
    for slot in seen { entries[slot].isMarked = false }
    return seen.count
  }

  // MARK: Transactions

  /// The open transaction ends the hold: its null value is written. Not twice in one.
  public func end(_ slot: HoldSlot) {
    let before = entries[slot.number].state
    precondition(before != .ended, "a hold ends once")
    setState(slot.number, .ended)
    journal.append(.ended(slot.number, before: before))
  }

  /// The transaction is committed. A hold that was taken and not ended waits again.
  public func commit() {
    for step in journal {
      switch step {
      case .added(let slot), .taken(let slot):
        guard entries[slot].state != .ended else { continue }
        setState(slot, .waiting)
        push(slot)
      case .ended: break
      }
    }
    for step in journal {
      if case .ended(let slot, _) = step { remove(slot) }
    }
    journal.removeAll(keepingCapacity: true)
  }

  /// The transaction is gone: everything is as it was before it.
  public func abort() {
    for step in journal.reversed() {
      switch step {
      case .added(let slot): remove(slot)
      case .taken(let slot):
        setState(slot, .waiting)
        push(slot)
      case .ended(let slot, let before):
        setState(slot, before)
        // While it was ended its place in the heap may have been passed over.
        if before == .waiting { push(slot) }
      }
    }
    journal.removeAll(keepingCapacity: true)
  }

  // MARK: Payloads

  /// Copies what holds carry, in their order, each block unpacked once; what memory had no room for is
  /// read from `source` in offset order. Throws where the source does, or does not have one of them.
  public func read(
    _ slots: [HoldSlot], from source: any HoldPayloadSource, into batch: HoldPayloadBatch
  ) throws(Failure) {
    batch.reset(count: slots.count)
    let order = slots.indices.sorted {
      let (a, b) = (entries[slots[$0].number].location, entries[slots[$1].number].location)
      return (a.block, a.position) < (b.block, b.position)
    }
    var missing: [(offset: Int64, index: Int)] = []
    for index in order {
      let entry = entries[slots[index].number]
      if let payload = payloads.read(entry.location) {
        batch.set(index, payload)
      } else {
        missing.append((entry.offset, index))
      }
    }
    guard !missing.isEmpty else { return }
    missing.sort { $0.offset < $1.offset }
    try source.read(missing.map(\.offset), partition: partition) {
      batch.set(missing[$0].index, $1)
    }
    if let absent = missing.first(where: { batch[$0.index] == nil }) {
      throw Failure(
        .fatal,
        "no hold at offset \(absent.offset) of partition \(partition) of the deferred topic: "
          + "its records must not be deleted (cleanup.policy=compact)")
    }
  }
}
