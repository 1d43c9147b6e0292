import Gate

/// What is held, and what becomes of it, in the transactions of the lane.
extension GateLoop {
  /// The most holds a turn decides again: between two turns the lane polls, and commits when it is time.
  private static var releasesMax: Int { 1024 }

  /// What a batch's decisions do to holds: the ones they take the place of end, the deferred ones are
  /// kept. After the sink has the decisions: on its topic a newer hold stands behind what it ended.
  func keepHolds(
    _ outputs: UnsafeBufferPointer<OutputRecord>, of inputs: UnsafeBufferPointer<InputRecord>,
    nowMs: Int64
  ) throws(Failure) {
    guard let holds else { return }
    for output in outputs where output.outcome != .dropped {
      let input = inputs[output.inputIndex]
      let store = holds.store(input.partition)
      #if PlantedBugs
        if PlantedBug.is(.supersedeForgotten) {
          if output.outcome == .deferred {
            holds.add(output, store, headers: source.headers(of: input), nowMs: nowMs)
          }
          continue
        }
      #endif
      if let older = holds.older(than: output, store),
        let outcome = try holds.supersede(older, store, by: output, nowMs: nowMs)
      {
        try sink.writeHolds(outcome)
        for one in outcome { if let record = one.record { tally.note(record) } }
      }
      if output.outcome == .deferred {
        holds.add(output, store, headers: source.headers(of: input), nowMs: nowMs)
      }
    }
  }

  /// How long there is nothing to release, and nothing to look at for that.
  func releaseWaitMs(nowMs: Int64) -> Int64 {
    guard let holds, unstarted == nil, !holds.started.isEmpty else { return .max }
    if holds.hasChanges || holds.hasErased { return 0 }
    return holds.waitMs(wallMs: clock.wallMs(), monotonicMs: nowMs)
  }

  /// Moves due times with the preferences and zones that they follow from.
  func heedChanges() throws(LaneEnd) {
    guard let holds else { return }
    epochs.passBoundary(epochSlot)
    do throws(Failure) {
      try holds.heedChanges(nowMs: clock.wallMs())
    } catch {
      try waitOrLeave(error)
    }
  }

  /// Not in time is no harm: memory is over its limit for longer.
  func learnOffsets() {
    do throws(Failure) { try holds?.learnOffsets() } catch { onEvent(.waiting(error.message)) }
  }

  /// Decides what is due again and writes what becomes of it, in the open transaction or in one of its
  /// own: also such a one sends the offsets of every partition, which is what fences it.
  func releaseHolds() throws(LaneEnd) {
    guard let holds, unstarted == nil, !holds.started.isEmpty else { return }
    let nowMs = clock.monotonicMs()
    let wallMs = clock.wallMs()
    guard holds.hasErased || holds.waitMs(wallMs: wallMs, monotonicMs: nowMs) == 0, try begin()
    else { return }
    let erased = holds.takeErased()
    let due = holds.take(max: Self.releasesMax, wallMs: wallMs, monotonicMs: nowMs)
    for batch in erased + due {
      do throws(Failure) {
        try holds.read(batch)
      } catch {
        // They wait again when the transaction ends.
        holds.giveBack(batch)
        try waitOrLeave(error)
        continue
      }
      guard try release(batch, holds, nowMs: wallMs) else { return }
    }
  }

  /// False where the transaction is gone, and the plan with it.
  /// - Parameter nowMs: when the batch's tokens were taken. Decided at a later instant, what was held up
  ///   in between would count to the next second beside that second's own.
  private func release(
    _ batch: ReleasePlanner.Batch, _ holds: LaneHolds, nowMs: Int64
  ) throws(LaneEnd) -> Bool {
    var from = 0
    while from < batch.holds.count {
      epochs.passBoundary(epochSlot)
      let (outcomes, count) = holds.release(batch, from: from, nowMs: nowMs)
      do throws(Failure) {
        try sink.writeHolds(outcomes)
        try sink.writeState(holds.releaser.stateRecords)
      } catch {
        try recover(from: error, at: .write)
        return false
      }
      for outcome in outcomes {
        guard let record = outcome.record else { continue }
        tally.note(record)
        leaks?.note(record, decidedAtMs: nowMs)
      }
      from += count
    }
    return true
  }
}
