import Gate

/// Refunds of caps. Receipts belong to the partition with the number of the candidates': whoever owns
/// that reads them, assigned by hand, and commits their offsets under the lane's group in the transaction
/// that holds what they changed (architecture, "Exactly once", rule 1).
///
/// A receipt is never a reason to stop: where the topic does not answer, candidates go on, and what
/// would have been refunded is refunded later.
extension GateLoop {
  private static var aimIntervalMs: Int64 { 1000 }

  /// Takes what receipts there are into the open transaction, or a new one.
  func takeReceipts() throws(LaneEnd) {
    guard let receipts else { return }
    let batch: UnsafeMutableBufferPointer<InputRecord>
    do throws(Failure) {
      guard try aim(receipts) else { return }
      var outOfRange: [Int32] = []
      batch = try receipts.source.poll { outOfRange.append($0) }
      try skipWhatIsGone(outOfRange, receipts)
    } catch {
      onEvent(.waiting("receipts: \(error.message)"))
      receipts.aimAtMs = clock.monotonicMs() + Self.aimIntervalMs
      receipts.mustAim = true
      receipts.source.release()
      return
    }
    defer { receipts.source.release() }
    try take(batch, receipts)
  }

  /// Brings the source to where the receipts of the started partitions are. False where it is not
  /// there, or there are none.
  private func aim(_ receipts: ReceiptIntake) throws(Failure) -> Bool {
    guard receipts.mustAim else { return !receipts.owned.isEmpty }
    guard clock.monotonicMs() >= receipts.aimAtMs else { return false }
    let known = receipts.owned.partitions
    let new = owned.started.filter { !known.contains($0) }
    if !new.isEmpty {
      // After the restore, with nobody else's transaction open: they are as old as the state is.
      receipts.owned.own(try receipts.source.startOffsets(of: new))
      for partition in new { receipts.owned.start(partition) }
    }
    try receipts.source.read(receipts.owned.startedPositions)
    receipts.mustAim = false
    return !receipts.owned.isEmpty
  }

  /// Receipts that were deleted before they were read refund nothing; those behind them may.
  private func skipWhatIsGone(
    _ partitions: [Int32], _ receipts: ReceiptIntake
  ) throws(Failure) {
    for partition in partitions where receipts.owned.started.contains(partition) {
      let offset = try receipts.source.logStart(of: partition)
      receipts.owned.own([PartitionOffset(partition: partition, offset: offset)])
      receipts.owned.start(partition)
      receipts.mustAim = true
      onEvent(
        .waiting(
          "receipts: partition \(partition) was deleted up to offset \(offset) before it was read"))
    }
  }

  private func take(
    _ batch: UnsafeMutableBufferPointer<InputRecord>, _ receipts: ReceiptIntake
  ) throws(LaneEnd) {
    let taken = receipts.owned.take(batch)
    guard taken > 0, try begin() else { return }
    let records = UnsafeBufferPointer(rebasing: UnsafeBufferPointer(batch)[..<taken])
    receipts.refunder.take(records, nowMs: clock.wallMs())
    receipts.tally.take(&receipts.refunder.tally)
    counters.set(.inputAtMs, clock.monotonicMs())
    do throws(Failure) {
      try sink.writeState(receipts.refunder.stateRecords)
    } catch {
      try recover(from: error, at: .write)
    }
  }

  /// Their transaction is committed.
  func noteReceiptsCommitted() {
    guard let receipts else { return }
    receipts.owned.commit()
    counters.add(receipts.tally.read, to: .receipts)
    counters.add(receipts.tally.refunded, to: .refunds)
    counters.add(receipts.tally.unreadable, to: .receiptsUnreadable)
    counters.add(receipts.tally.misplaced, to: .receiptsMisplaced)
    receipts.tally = ReceiptTally()
  }
}
