import Gate

/// The holds of the open transaction: made of decisions, ended by newer ones, decided again when they
/// are due. Memory is changed first and written after: where the writing fails the transaction is
/// aborted, and memory with it.
extension LaneHolds {
  // MARK: From decisions

  /// A decision to defer becomes a hold.
  func add(
    _ output: OutputRecord, _ store: HoldStore, headers: UnsafeRawBufferPointer, nowMs: Int64
  ) {
    keep(output, store, headers: headers, nowMs: nowMs)
    note(.added)
  }

  private func keep(
    _ record: OutputRecord, _ store: HoldStore, headers: UnsafeRawBufferPointer, nowMs: Int64
  ) {
    guard let facts = reader.facts(of: record) else {
      preconditionFailure("held what is no deferral")
    }
    assert(
      facts == reader.facts(key: record.key, value: record.value, nowMs: nowMs),
      "the record would be read back as another hold")
    // None is there under its key: row 6 has asked (`PendingHolds`), and one that is held on was ended.
    #if PlantedBugs
      if PlantedBug.is(.heldNotSeen), let older = store.find(facts.identity) { store.end(older) }
    #endif
    store.add(facts, HoldPayload(value: record.value, headers: headers), nowMs: nowMs)
  }

  /// The hold that an approval or deferral takes the place of, if there may be one.
  func older(than output: OutputRecord, _ store: HoldStore) -> HoldSlot? {
    guard output.outcome != .dropped, store.count > 0, let which = reader.collapse(of: output)
    else { return nil }
    return store.find(user: which.user, collapse: which.collapse)
  }

  /// Ends it. Nil where it turns out to be another's. One of a user who was erased since ends without
  /// a record.
  func supersede(
    _ slot: HoldSlot, _ store: HoldStore, by newer: OutputRecord, nowMs: Int64
  ) throws(Failure) -> UnsafeBufferPointer<HoldOutcome>? {
    try store.read([slot], from: source, into: payloads)
    let payload = payloads[0]!
    let results = withUnsafePointer(to: Self.input(payload, store)) { hold in
      withUnsafePointer(to: newer) { newer in
        releaser.supersede(
          UnsafeBufferPointer(start: hold, count: 1),
          by: UnsafeBufferPointer(start: newer, count: 1), nowMs: nowMs)
      }
    }
    switch results[0].fate {
    case .ended: note(.superseded)
    case .erased: note(.erased)
    case .heldOn, .unreadable: return nil
    }
    store.end(slot)
    outcomes.initialize(to: Self.outcome(results[0], payload, store))
    return UnsafeBufferPointer(start: outcomes, count: 1)
  }

  // MARK: When they are due

  /// Reads what the holds of a batch carry.
  func read(_ batch: ReleasePlanner.Batch) throws(Failure) {
    try started[batch.store].read(batch.holds, from: source, into: payloads)
  }

  /// Nothing of the batch leaves now: its tokens are others'.
  func giveBack(_ batch: ReleasePlanner.Batch) {
    guard batch.isPaced else { return }
    let store = started[batch.store]
    for slot in batch.holds { giveBack(store.provider(of: slot)) }
  }

  /// Decides the next holds of a batch again, from position `from` on, and keeps what becomes of them.
  /// Returns that, to be written, and how many holds it is of. Lives until the next call.
  func release(
    _ batch: ReleasePlanner.Batch, from: Int, nowMs: Int64
  ) -> (outcomes: UnsafeBufferPointer<HoldOutcome>, holds: Int) {
    let store = started[batch.store]
    let count = min(Releaser.batchHoldsMax, batch.holds.count - from)
    let results = withUnsafeTemporaryAllocation(of: InputRecord.self, capacity: count) { inputs in
      for i in 0..<count {
        inputs.initializeElement(at: i, to: Self.input(payloads[from + i]!, store))
      }
      return releaser.release(
        UnsafeBufferPointer(inputs), nowMs: nowMs, erasedOnly: !batch.isPaced)
    }
    var written = 0
    for i in 0..<count {
      // A user that was erased may be back; what has no token waits for one.
      guard batch.isPaced || results[i].fate == .erased else { continue }
      let payload = payloads[from + i]!
      let slot = batch.holds[from + i]
      if batch.isPaced, results[i].record?.outcome != .approved {
        giveBack(store.provider(of: slot))
      }
      store.end(slot)
      settle(results[i], payload, store, nowMs: nowMs)
      (outcomes + written).initialize(to: Self.outcome(results[i], payload, store))
      written += 1
    }
    return (UnsafeBufferPointer(start: outcomes, count: written), count)
  }

  private func settle(
    _ result: ReleasedHold, _ payload: HoldPayload, _ store: HoldStore, nowMs: Int64
  ) {
    switch result.fate {
    case .ended: note(result.record!.outcome == .approved ? .released : .dropped)
    case .heldOn:
      keep(result.record!, store, headers: payload.headers, nowMs: nowMs)
      note(.heldOn)
    case .erased: note(.erased)
    // It was read when it was taken in.
    case .unreadable: preconditionFailure("a hold in memory cannot be read")
    }
  }

  private static func input(_ payload: HoldPayload, _ store: HoldStore) -> InputRecord {
    InputRecord(
      partition: store.partition, offset: 0, timestampMs: 0, key: nil, value: payload.value,
      handle: nil)
  }

  private static func outcome(
    _ result: ReleasedHold, _ payload: HoldPayload, _ store: HoldStore
  ) -> HoldOutcome {
    #if PlantedBugs
      if PlantedBug.is(.nullValueLeftOut) {
        return HoldOutcome(
          partition: store.partition, record: result.record, headers: payload.headers,
          endedKey: nil)
      }
    #endif
    return HoldOutcome(
      partition: store.partition, record: result.record, headers: payload.headers,
      endedKey: result.fate == .heldOn ? nil : result.key)
  }
}
