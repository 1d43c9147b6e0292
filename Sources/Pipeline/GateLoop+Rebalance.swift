import Gate

extension GateLoop {
  /// Answers what the group decided, in order, with no transaction open: its offsets belong to the
  /// partitions it was made with. Partitions that stay are sought anew: librdkafka pauses them for
  /// the rebalance, takes their records back out of the batch, and (2.0) goes on behind those.
  func serveRebalances() throws(LaneEnd) {
    if unstarted != nil { try start() }
    while unstarted == nil, let rebalance = source.nextRebalance() {
      switch rebalance {
      case .assigned(let partitions):
        try settleForRebalance()
        unstarted = partitions
        unstartedSinceMs = clock.monotonicMs()
        counters.set(.unstartedPartitions, Int64(partitions.count))
        try start()
      case .revoked(let partitions):
        try settleForRebalance()
        try giveUp(partitions)
        mustSeek = !owned.isEmpty
        onEvent(.revoked(partitions))
      case .lost(let partitions):
        // Others may be deciding these records already: committing them would double them.
        owned.forget(partitions)
        try abort("partitions lost")
        try giveUp(partitions)
        mustSeek = !owned.isEmpty
        onEvent(.lost(partitions))
      }
      counters.set(.ownedPartitions, Int64(owned.count))
      // Counted last: by the first one whoever asks knows that the partitions above are all.
      counters.add(1, to: .rebalances)
    }
  }

  private func settleForRebalance() throws(LaneEnd) {
    if transaction.isOpen { try commit(isRebalance: true) }
  }

  private func giveUp(_ partitions: [Int32]) throws(LaneEnd) {
    owned.forget(partitions)
    let arePaused = forgetState(partitions) || isPaused
    while true {
      do throws(Failure) {
        // A partition that comes back later must not come back paused.
        if arePaused { try source.setPaused(false, partitions) }
        try source.unassign(partitions)
        return
      } catch {
        try waitOrLeave(error)
      }
    }
  }

  /// Starts what was assigned, once it is known where. Tried once a turn: committed offsets are not
  /// stable while the last owner's transaction is open, which may take as long as its time-out, and
  /// a consumer that does not poll for that long is put out of its group.
  private func start() throws(LaneEnd) {
    guard let partitions = unstarted else { return }
    do throws(Failure) {
      guard let claim = source.claim(), claim.isFencing else {
        if clock.monotonicMs() - unstartedSinceMs >= Self.claimMsMax {
          try declineAssignment(partitions)
          return
        }
        throw Failure(.retriable, "not a member of the group yet")
      }
      if claim.memberID != memberID {
        // Under a new name, what was kept may have been somebody else's in between.
        if !owned.isEmpty {
          owned.own(try source.startOffsets(of: owned.partitions))
          beginRestore(owned.partitions)
        }
        memberID = claim.memberID
      }
      let offsets = partitions.isEmpty ? [] : try source.startOffsets(of: partitions)
      try source.assign(offsets)
      if !owned.started.isEmpty { mustSeek = true }
      owned.own(offsets)
      unstarted = nil
      // Answered before the restore, not after it: until the answer the group waits, and the
      // partitions that stay are still.
      beginRestore(partitions)
      counters.set(.ownedPartitions, Int64(owned.count))
      counters.set(.unstartedPartitions, 0)
      onEvent(.assigned(offsets))
    } catch {
      try waitOrLeave(error)
    }
  }

  /// Answers an assignment without owning any of it, so that the group can go on. librdkafka (2.0)
  /// can forget its generation between the group's answer and ours, when a refused heartbeat comes
  /// late; it then says no more until it is answered, and the next heartbeat makes it lose what it
  /// was assigned and join anew. It is given the partitions all the same: it refuses to take back
  /// what it does not hold. What it reads of them meanwhile is nobody's and is discarded.
  private func declineAssignment(_ partitions: [Int32]) throws(Failure) {
    try source.assign(partitions.isEmpty ? [] : try source.startOffsets(of: partitions))
    unstarted = nil
    counters.set(.unstartedPartitions, 0)
    onEvent(.waiting("took none of partitions \(partitions): no longer a member of the group"))
  }

  /// Puts the source where the positions are. Until that has worked, everything it brings is
  /// dropped.
  func seekIfNeeded() throws(LaneEnd) {
    guard mustSeek && unstarted == nil else { return }
    do throws(Failure) {
      try source.seek(owned.startedPositions)
      mustSeek = false
    } catch {
      try waitOrLeave(error)
    }
  }
}
