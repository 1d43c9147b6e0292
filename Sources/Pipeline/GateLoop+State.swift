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
    leaks?.own(partitions)
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
    leaks?.forget(partitions)
    for partition in partitions {
      #if PlantedBugs
        // With what is counted: without that the next release of one of them traps.
        if PlantedBug.is(.holdsKeptAfterRevoke), !owned.partitions.contains(partition) { continue }
      #endif
      state.forget(partition)
      holds?.forget(partition)
    }
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
    // When a hold is due follows from its user's preferences, of which half would be read.
    guard holds == nil || readiness.isReady else { return }
    settledAskAtMs = nowMs + Self.settledAskIntervalMs
    let settled = try stateSource.settled(waiting)
    for partition in waiting {
      let ends = settled.filter { $0.partition == partition }
      guard ends.count == stateSource.streams.count else { continue }
      restore.settled(partition, ends: ends)
      state.open(partition)
      holds?.open(partition, nowMs: clock.wallMs())
      mustReadState = true
    }
  }

  private func readState() throws(Failure) {
    let wallMs = clock.wallMs()
    var restarted: [Int32] = []
    var refusal: Failure?
    // Holds are read with their users' preferences.
    epochs.passBoundary(epochSlot)
    defer { epochs.goIdle(epochSlot) }
    try stateSource.poll(timeoutMs: Self.readWaitMs) { event in
      switch event {
      case .record(let position, let key, let value, let headers):
        guard restore.takes(position) else { return }
        do throws(Failure) {
          if try !take(position, key, value, headers, wallMs) { unreadableRecords += 1 }
        } catch {
          refusal = error
        }
      case .end(let position):
        if position.stream == .holds { holds!.noteEnd(position) }
        #if PlantedBugs
          if PlantedBug.is(.restoreToComputedPosition), !restore.isAtComputedEnd(position) {
            return
          }
        #endif
        guard restore.ends(position) else { return }
        state.finishRestore(position.partition, nowMs: wallMs)
        restored.append(position.partition)
      case .outOfRange(_, let partition): restarted.append(partition)
      }
    }
    if let refusal { throw refusal }
    restarted.removeAll { !restore.all.contains($0) }
    beginRestore(restarted)
  }

  /// False where the record cannot be read.
  private func take(
    _ position: StatePosition, _ key: UnsafeRawBufferPointer?, _ value: UnsafeRawBufferPointer?,
    _ headers: UnsafeRawBufferPointer, _ wallMs: Int64
  ) throws(Failure) -> Bool {
    switch position.stream {
    case .state:
      return state.restore(position.partition, key: key, value: value, nowMs: wallMs)
        != .unreadable
    case .holds:
      let restored = holds!.restore(
        position, key: key, value: value, headers: headers, nowMs: wallMs)
      guard restored != .full else {
        throw Failure(
          .fatal,
          "partition \(position.partition) has more than \(HoldStore.holdsMax) holds: more"
            + " partitions are needed")
      }
      return restored == .taken
    }
  }

  private func startRestored() throws(Failure) {
    guard !restored.isEmpty else { return }
    if !isPaused { try source.setPaused(false, restored) }
    for partition in restored {
      owned.start(partition)
      sweep.add(partition)
      holds?.start(partition)
    }
    leaks?.start(restored, nowMs: clock.wallMs())
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
    let progress = restore.progress(nowMs: nowMs)
    counters.set(.restoreRecords, Int64(progress.records))
    counters.set(.restoreRecordsPerSecond, Int64(progress.recordsPerSecond))
    counters.set(.restorePercent, Int64(progress.percent ?? -1))
    counters.set(.restoreSecondsLeft, progress.secondsLeft ?? -1)
    // The first one after an interval, too: most restores are over by then.
    if progressAtMs == 0 { progressAtMs = nowMs + Self.progressIntervalMs }
    guard nowMs >= progressAtMs else { return }
    progressAtMs = nowMs + Self.progressIntervalMs
    onEvent(.restoring(progress))
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
        try stateSource.read(
          sweep.positions.map {
            StatePosition(.state, partition: $0.partition, offset: $0.offset)
          })
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
    case .record(let position, let key, let value, _):
      let (partition, offset) = (position.partition, position.offset)
      guard position.stream == .state, sweep.isNext(partition: partition, offset: offset) else {
        return nil
      }
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
    case .end(let end):
      if sweep.isNext(partition: end.partition, offset: end.offset) {
        sweep.stop(partition: end.partition)
      }
    case .outOfRange(_, let partition): sweep.add(partition)
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
    guard let holds else { return }
    counters.set(.holds, Int64(holds.count))
    counters.set(.holdIndexBytes, Int64(holds.indexBytes))
    counters.set(.holdPayloadBytes, Int64(holds.payloadBytes))
    let wallMs = clock.wallMs()
    counters.set(.overdueAPNs, Int64(holds.overdue(.apns, nowMs: wallMs)))
    counters.set(.overdueFCM, Int64(holds.overdue(.fcm, nowMs: wallMs)))
  }
}
