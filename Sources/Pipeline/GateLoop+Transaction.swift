import Gate

extension GateLoop {
  /// Opens a transaction if none is. False where this worker is not who its partitions were given
  /// to: then nothing may be decided, and the group will say what is whose.
  func begin() throws(LaneEnd) -> Bool {
    guard !transaction.isOpen else { return true }
    // With the batch, before anything is decided: taken at the commit, after a rebalance that this
    // loop has not seen yet, it would be a new generation's, and would let the offsets of a
    // partition that is somebody else's by now pass the coordinator.
    guard let claim = source.claim(), claim.isFencing, claim.memberID == memberID else {
      if !isStranger { onEvent(.membershipChanged) }
      isStranger = true
      giveUpBatch()
      clock.sleep(ms: 50)
      return false
    }
    isStranger = false
    self.claim = claim
    guard try perform(.begin, sink.begin) else { return false }
    transaction.opened(nowMs: clock.monotonicMs())
    return true
  }

  func write(
    _ outputs: UnsafeBufferPointer<OutputRecord>, of inputs: UnsafeBufferPointer<InputRecord>,
    nowMs: Int64
  ) throws(LaneEnd) {
    do throws(Failure) {
      try sink.write(outputs, of: inputs)
      try sink.writeState(decider.stateRecords)
      try keepHolds(outputs, of: inputs, nowMs: nowMs)
    } catch {
      try recover(from: error, at: .write)
      return
    }
    for output in outputs {
      tally.note(output)
      leaks?.note(output, decidedAtMs: nowMs)
    }
  }

  /// Flush, then offsets, then commit: an offset must not be in a transaction that lacks an output.
  /// `isRebalance`: the group is moving on, and waits for this commit.
  func commit(isRebalance: Bool = false) throws(LaneEnd) {
    epochs.goIdle(epochSlot)
    let startMs = clock.monotonicMs()
    #if PlantedBugs
      if !PlantedBug.is(.commitBeforeFlush) {
        guard try perform(.flush, sink.flush) else { return }
      }
      var claim = isRebalance ? currentClaim() : self.claim!
      if PlantedBug.is(.claimAtCommit) {
        claim = source.claim() ?? GroupClaim(generation: -1, memberID: "")
      }
      if PlantedBug.is(.unfencedOffsets) { claim = GroupClaim(generation: -1, memberID: "") }
      let isReleasesAlone = PlantedBug.is(.releasesWithoutOffsets) && transactionRecords == 0
      let positions = isReleasesAlone ? [] : owned.positions
      let isReceiptless = isReleasesAlone || PlantedBug.is(.receiptOffsetsLeftOut)
      let receiptPositions = isReceiptless ? [] : receipts?.owned.positions ?? []
    #else
      guard try perform(.flush, sink.flush) else { return }
      let claim = isRebalance ? currentClaim() : self.claim!
      let positions = owned.positions
      let receiptPositions = receipts?.owned.positions ?? []
    #endif
    guard
      try perform(
        .sendOffsets,
        { () throws(Failure) in
          try sink.sendOffsets(positions, receipts: receiptPositions, claim: claim)
        })
    else { return }
    transaction.commitStarted()
    guard try perform(.commit, sink.commit) else { return }
    transaction.committed()
    noteCommitted(startMs: startMs)
  }

  /// During a rebalance the coordinator is a generation ahead of the batch's claim already, and
  /// would refuse it. The newer one is safe where it has the same member id: who kept that was
  /// never put out of the group, so no partition it was not asked for can be somebody else's.
  private func currentClaim() -> GroupClaim {
    let batchClaim = claim!
    guard let now = source.claim(), now.memberID == batchClaim.memberID,
      now.generation >= batchClaim.generation
    else { return batchClaim }
    return now
  }

  /// Brings the open transaction to an end, if there is one.
  func settle() throws(LaneEnd) {
    guard transaction.isOpen else { return }
    if control.request >= .discard { try abort("told to discard") } else { try commit() }
  }

  /// Undoes the open transaction; its records come again.
  func abort(_ reason: String) throws(LaneEnd) {
    epochs.goIdle(epochSlot)
    if transaction.isOpen {
      guard try perform(.abort, sink.abort) else { return }
      transaction.aborted()
      counters.add(1, to: .aborts)
      onEvent(.aborted(reason))
      clock.sleep(ms: transaction.pauseMs)
    }
    giveUpBatch()
  }

  func makeProducer() throws(LaneEnd) {
    _ = try perform(.replace, sink.replace)
  }

  /// A new producer in place of one whose transaction the coordinator gave up. Whether that
  /// transaction's commit happened is not known here, so the partitions go on from what the group
  /// has committed, and what is remembered of them is read again.
  private func replaceProducer(_ reason: String) throws(LaneEnd) {
    epochs.goIdle(epochSlot)
    guard try perform(.replace, sink.replace) else { return }
    transaction.replaced()
    counters.add(1, to: .producersReplaced)
    onEvent(.producerReplaced(reason))
    clock.sleep(ms: transaction.pauseMs)
    #if PlantedBugs
      if PlantedBug.is(.stateKeptAfterReplace) { return giveUpBatch() }
    #endif
    while true {
      do throws(Failure) {
        owned.own(try source.startOffsets(of: owned.partitions))
        beginRestore(owned.partitions)
        break
      } catch {
        try waitOrLeave(error)
      }
    }
    giveUpBatch()
  }

  /// Back to where the transaction began, or would have.
  private func giveUpBatch() {
    #if PlantedBugs
      if PlantedBug.is(.noRewindAfterAbort) { owned.commit() } else { owned.rewind() }
      if PlantedBug.is(.seenKeptAfterAbort) {
        state.commit(nowMs: clock.wallMs())
      } else {
        state.rollback()
      }
      if PlantedBug.is(.holdsEndedByAbort) { holds?.commit() } else { holds?.rollback() }
    #else
      owned.rewind()
      state.rollback()
      holds?.rollback()
    #endif
    leaks?.rollback()
    leaks?.settle(counters)
    receipts?.rewind()
    sweep.rewind()
    sweptRecords = 0
    mustSeek = !owned.isEmpty
    tally.clear()
    samples.clear()
    transactionRecords = 0
    counters.set(.transactionRecords, 0)
  }

  private func noteCommitted(startMs: Int64) {
    owned.commit()
    let nowMs = clock.monotonicMs()
    let wallMs = clock.wallMs()
    // Only now: an aborted transaction's ids were never let through.
    state.commit(nowMs: wallMs)
    if let holds {
      holds.commit()
      holds.drainTally { counters.add($1, to: $0) }
    }
    leaks?.commit()
    leaks?.settle(counters)
    noteReceiptsCommitted()
    sweep.commit()
    counters.add(UInt64(sweptRecords), to: .stateRecordsForgotten)
    sweptRecords = 0
    counters.take(tally)
    counters.add(UInt64(transactionRecords), to: .records)
    counters.add(1, to: .commits)
    counters.set(.unregisteredNames, UInt64(decider.unregisteredNames))
    counters.set(.differingDuplicates, UInt64(decider.differingDuplicates))
    counters.set(.committedAtMs, nowMs)
    counters.set(.committedProcessMs, clock.processMs())
    counters.commitLatency.observe(ms: nowMs - startMs)
    samples.drain { counters.endToEndLatency.observe(ms: wallMs - $0) }
    transactionRecords = 0
    counters.set(.transactionRecords, 0)
  }

  /// Performs a step until it succeeds (true), or recovers from its failure (false: the transaction
  /// is gone and its records come again).
  private func perform(
    _ step: TransactionMachine.Step, _ body: () throws(Failure) -> Void
  ) throws(LaneEnd) -> Bool {
    while true {
      do throws(Failure) {
        try body()
        return true
      } catch {
        let action = transaction.action(
          after: step, failed: error, nowMs: clock.monotonicMs(),
          stoppedAtMs: control.stoppedAtMs)
        guard action == .retry else {
          try recover(from: error, at: step)
          return false
        }
        onEvent(.retrying(step, error.message))
        try leaveIfAsked(nothingOpen: !transaction.isOpen || step == .replace)
        // The step has waited itself; this only keeps an error that comes at once from spinning.
        clock.sleep(ms: 10)
      }
    }
  }

  func recover(
    from failure: Failure, at step: TransactionMachine.Step
  ) throws(LaneEnd) {
    let action = transaction.action(
      after: step, failed: failure, nowMs: clock.monotonicMs(), stoppedAtMs: control.stoppedAtMs)
    switch action {
    case .retry: preconditionFailure("a retry is the performer's business")
    case .abort: try abort(failure.message)
    case .replaceProducer: try replaceProducer(failure.message)
    case .leave(let end): throw end
    }
  }

  func waitOrLeave(_ failure: Failure) throws(LaneEnd) {
    switch failure.kind {
    case .fenced: throw .fenced(failure.message)
    case .fatal: throw .fatal(failure.message)
    case .offsetOutOfRange: throw .offsetOutOfRange(failure.message)
    case .retriable, .abort, .lostTransaction:
      onEvent(.waiting(failure.message))
      try leaveIfAsked(nothingOpen: !transaction.isOpen)
      clock.sleep(ms: 50)
    }
  }

  /// Called where something is waited for: with nothing open there is nothing to wait for.
  private func leaveIfAsked(nothingOpen: Bool) throws(LaneEnd) {
    let request = control.request
    if request >= .abandon { throw .abandoned }
    if request > .none && nothingOpen { throw .drained }
  }
}
