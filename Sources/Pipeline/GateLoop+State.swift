import Gate

/// What is remembered of the owned partitions: read back before the first decision (architecture,
/// "Exactly once", rule 4), and cleaned out of the state topic when it is over.
extension GateLoop {
  private static var progressIntervalMs: Int64 { 2000 }
  private static var settledAskIntervalMs: Int64 { 50 }
  private static var readWaitMs: Int32 { 10 }
  /// A transaction holds at most so many null values, a poll's more, or twice its candidates where
  /// those are more: what goes keeps up with what comes.
  private static var sweptRecordsMin: Int { 1000 }

  // MARK: Restoring

  /// What is remembered of owned partitions is, or may be, not what their topic says. Their stable
  /// offsets are known; they are not decided on before the rest of rule 4 is done.
  func beginRestore(_ partitions: [Int32]) {
    guard !partitions.isEmpty else { return }
    _ = forgetState(partitions)
    restore.add(partitions, nowMs: clock.monotonicMs())
    noteRestoring()
    do throws(Failure) {
      // Only to spare the fetches: what they bring before it is their turn is dropped.
      try source.setPaused(true, partitions)
    } catch {
      onEvent(.waiting(error.message))
    }
  }

  /// Forgets what is remembered, wherever its restore stands. Returns whether any of it was under
  /// way.
  func forgetState(_ partitions: [Int32]) -> Bool {
    let wasRestoring = (restore.all + restored).contains { partitions.contains($0) }
    if wasRestoring {
      restore.forget(partitions)
      restored.removeAll { partitions.contains($0) }
      mustReadState = true
      noteRestoring()
    }
    sweep.forget(partitions)
    for partition in partitions { state.forget(partition) }
    receipts?.partitionsChanged(forgetting: partitions)
    return wasRestoring
  }

  /// One step of the restore, between two polls: a lane that does not poll is put out of its group.
  func restoreState() throws(LaneEnd) {
    guard !restore.isEmpty || !restored.isEmpty || mustReadState else { return }
    do throws(Failure) {
      try askForSettled()
      if mustReadState {
        sweep.interrupt()
        try stateSource.read(restore.reading)
        mustReadState = false
      }
      if !restore.reading.isEmpty { try readState() }
      try startRestored()
    } catch {
      try waitOrLeave(error)
    }
    reportProgress()
  }

  private func askForSettled() throws(Failure) {
    let waiting = restore.waiting
    let nowMs = clock.monotonicMs()
    guard !waiting.isEmpty && nowMs >= settledAskAtMs else { return }
    settledAskAtMs = nowMs + Self.settledAskIntervalMs
    for end in try stateSource.settled(waiting) {
      restore.settled(end)
      state.open(end.partition)
      mustReadState = true
    }
  }

  private func readState() throws(Failure) {
    let wallMs = clock.wallMs()
    var restarted: [Int32] = []
    try stateSource.poll(timeoutMs: Self.readWaitMs) { event in
      switch event {
      case .record(let partition, let offset, let key, let value):
        guard restore.takes(partition: partition, offset: offset) else { return }
        if state.restore(partition, key: key, value: value, nowMs: wallMs) == .unreadable {
          unreadableRecords += 1
        }
      case .end(let partition, let offset):
        guard restore.ends(partition: partition, offset: offset) else { return }
        state.finishRestore(partition, nowMs: wallMs)
        restored.append(partition)
      case .outOfRange(let partition): restarted.append(partition)
      }
    }
    restarted.removeAll { !restore.all.contains($0) }
    beginRestore(restarted)
  }

  private func startRestored() throws(Failure) {
    guard !restored.isEmpty else { return }
    if !isPaused { try source.setPaused(false, restored) }
    for partition in restored {
      owned.start(partition)
      sweep.add(partition)
    }
    receipts?.partitionsChanged()
    // The source was paused, and is where it thinks it was.
    mustSeek = true
    let ms = restore.elapsedMs(nowMs: clock.monotonicMs())
    onEvent(
      .restored(restored, records: restore.records, ms: ms, unreadable: unreadableRecords))
    unreadableRecords = 0
    restored = []
    if restore.isEmpty {
      counters.add(restore.records, to: .stateRecordsRestored)
      counters.set(.restoreMs, ms)
    }
    mustReadState = restore.reading.isEmpty
    noteRestoring()
  }

  private func noteRestoring() {
    counters.set(.restoringPartitions, Int64(restore.count + restored.count))
  }

  private func reportProgress() {
    let nowMs = clock.monotonicMs()
    guard !restore.isEmpty else {
      progressAtMs = 0
      return
    }
    // The first one after an interval, too: most restores are over by then.
    if progressAtMs == 0 { progressAtMs = nowMs + Self.progressIntervalMs }
    guard nowMs >= progressAtMs else { return }
    progressAtMs = nowMs + Self.progressIntervalMs
    onEvent(.restoring(restore.progress(nowMs: nowMs)))
  }

  // MARK: Sweeping

  /// Looks for records of the state topic that say nothing any more, and answers each with a null
  /// value in the open transaction.
  func sweepState() throws(LaneEnd) {
    guard transaction.isOpen, !mustSeek, restore.isEmpty, !mustReadState else { return }
    let nowMs = clock.monotonicMs()
    guard sweep.isActive || sweep.isDue(nowMs: nowMs),
      sweptRecords < max(Self.sweptRecordsMin, 2 * transactionRecords)
    else { return }
    var refusal: Failure?
    do throws(Failure) {
      if !sweep.isActive {
        try stateSource.read(sweep.positions)
        sweep.begin()
      }
      let wallMs = clock.wallMs()
      try stateSource.poll(timeoutMs: 0) { event in
        if refusal == nil { refusal = answer(event, wallMs: wallMs) }
      }
      if refusal == nil && sweep.isThrough {
        try stateSource.read([])
        sweep.end(nowMs: nowMs)
      }
    } catch {
      sweep.interrupt()
      try waitOrLeave(error)
    }
    if let refusal { try recover(from: refusal, at: .write) }
  }

  private func answer(_ event: StateEvent, wallMs: Int64) -> Failure? {
    switch event {
    case .record(let partition, let offset, let key, let value):
      guard sweep.isNext(partition: partition, offset: offset) else { return nil }
      switch state.standing(partition, key: key, value: value, nowMs: wallMs) {
      case .needed:
        sweep.stop(partition: partition)
        return nil
      case .over:
        do throws(Failure) {
          try withUnsafePointer(
            to: StateRecord(partition: partition, key: key!, value: nil)
          ) { (record) throws(Failure) in
            try sink.writeState(UnsafeBufferPointer(start: record, count: 1))
          }
        } catch {
          return error
        }
        sweptRecords += 1
      case .passedOver: break
      }
      sweep.pass(partition: partition, offset: offset)
    case .end(let partition, let offset):
      if sweep.isNext(partition: partition, offset: offset) { sweep.stop(partition: partition) }
    case .outOfRange(let partition): sweep.add(partition)
    }
    return nil
  }

  // MARK: Figures

  func noteState() {
    counters.set(.seenIDs, Int64(state.seenCount))
    counters.set(.seenBytes, Int64(state.memoryBytes))
    counters.set(.seenHorizonMs, state.horizonInForceMs(nowMs: clock.wallMs()))
    counters.set(.cappedNotifications, Int64(state.cappedCount))
    counters.set(.capBytes, Int64(state.capMemoryBytes))
    counters.set(.capsUncounted, Int64(state.capsUncounted))
  }
}
