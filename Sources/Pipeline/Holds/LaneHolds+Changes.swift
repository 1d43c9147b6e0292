import Gate

/// When holds are due follows from the preferences and zones of now, so it moves with them, either way,
/// as soon as they change.
extension LaneHolds {
  /// Holds looked at in one step: between two the lane polls.
  private static var lookedAtMax: Int { 1024 }

  /// Whether there is more to look at.
  var hasChanges: Bool { !changed.isEmpty || !rescans.isEmpty }

  /// Looks at some of what may have moved. Between two batch boundaries. Throws where a payload that
  /// memory had no room for cannot be read now; then the next step goes on.
  func heedChanges(nowMs: Int64) throws(Failure) {
    if changes.drain(into: &changed) {
      // Everything is every user's.
      changed = []
      rescans = all.map { Rescan(partition: $0.partition) }
    }
    var looked = 0
    while looked < Self.lookedAtMax, let change = changed.last {
      if let store = find(change.partition) {
        var slots: [HoldSlot] = []
        store.forEachHold(of: change.user) { slots.append($0) }
        try reschedule(slots, store, nowMs: nowMs)
        looked += slots.count
      }
      looked += 1
      changed.removeLast()
    }
    while looked < Self.lookedAtMax, let rescan = rescans.last {
      guard let store = find(rescan.partition) else {
        rescans.removeLast()
        continue
      }
      let (slots, next) = store.slots(from: rescan.next, limit: Self.lookedAtMax - looked)
      try reschedule(slots, store, nowMs: nowMs)
      looked += slots.count + 1
      rescans[rescans.count - 1].next = next
      if slots.isEmpty { rescans.removeLast() }
    }
  }

  private func reschedule(_ slots: [HoldSlot], _ store: HoldStore, nowMs: Int64) throws(Failure) {
    guard !slots.isEmpty else { return }
    try store.read(slots, from: source, into: changedPayloads)
    for (index, slot) in slots.enumerated() {
      let value = changedPayloads[index]!.value
      guard let facts = reader.facts(key: nil, value: value, nowMs: nowMs) else {
        preconditionFailure("a hold in memory cannot be read")
      }
      store.reschedule(slot, facts, nowMs: nowMs)
      if facts.isUserGone { erased.append((store.partition, facts.identity)) }
    }
  }

  /// Whether there are holds of erased users.
  var hasErased: Bool { !erased.isEmpty }

  /// Takes holds whose users were erased: they end at once, without a record, and wait for no token. One
  /// that the open transaction has already, or that its abort brings back, is due like any other.
  func takeErased() -> [ReleasePlanner.Batch] {
    var batches: [ReleasePlanner.Batch] = []
    for (partition, identity) in erased {
      guard let index = started.firstIndex(where: { $0.partition == partition }),
        let slot = started[index].find(identity), started[index].take(slot)
      else { continue }
      if batches.last?.store != index {
        batches.append(ReleasePlanner.Batch(store: index, holds: [], isPaced: false))
      }
      batches[batches.count - 1].holds.append(slot)
    }
    erased = []
    return batches
  }
}

/// How far a look at all holds of a partition is.
struct Rescan {
  var partition: Int32
  var next: UInt32 = 1
}
