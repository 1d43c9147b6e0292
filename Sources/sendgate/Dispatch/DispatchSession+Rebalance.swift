import Consumer
import Pipeline
import Telemetry

/// The group hands over all partitions of a member at once (the eager protocol), so a member starts
/// each assignment from nothing.
extension DispatchSession {
  /// A consumer that is longer without a poll is put out of its group (`max.poll.interval.ms`, five
  /// minutes).
  private static var readBackMsMax: Int64 { 240_000 }

  func answer(_ rebalance: Rebalance) throws(Failure) {
    switch rebalance {
    case .assigned(let partitions): try start(partitions)
    case .revoked(let partitions):
      try commit()
      positions = [:]
      dispatcher.forget()
      try source.unassign(partitions)
    case .lost: preconditionFailure("a loss ends the session")
    }
  }

  /// In this order: stable committed offsets, then nobody's transaction open in the receipts, then
  /// the receipts to their end. In another the last owner's newest receipts would be missing, and
  /// what they answer sent again where an approval is repeated.
  private func start(_ partitions: [Int32]) throws(Failure) {
    var offsets: [PartitionOffset] = []
    try patiently { () throws(Failure) in
      guard let claim = source.claim(), claim.isFencing else {
        throw Failure(.retriable, "not a member of group \(settings.groupID) yet")
      }
      memberID = claim.memberID
      offsets = try source.startOffsets(of: partitions)
    }
    try source.assign(offsets)
    try readBack(partitions)
    for offset in offsets { positions[offset.partition] = offset.offset }
    control.noteInput()
    log.info("Dispatching.", ["kafka.partitions": .string("\(partitions.sorted())")])
  }

  private func readBack(_ partitions: [Int32]) throws(Failure) {
    guard !partitions.isEmpty else { return }
    try patiently { () throws(Failure) in
      guard try written.isSettled(partitions) else {
        throw Failure(.retriable, "a transaction is open in \(settings.receipts)")
      }
    }
    for partition in partitions { dispatcher.begin(partition) }
    try written.read(partitions)
    let deadlineMs = clock.monotonicMs() + Self.readBackMsMax
    var reading = Set(partitions)
    var isCut = false
    while !reading.isEmpty {
      control.heedSignals()
      guard !control.isStopping, clock.monotonicMs() < deadlineMs else {
        throw Failure(.retriable, "\(settings.receipts) was not read to its end")
      }
      written.poll(timeoutMs: 100) { event in
        switch event {
        case .receipt(let partition, let value): dispatcher.remember(value, of: partition)
        case .end(let partition): reading.remove(partition)
        case .cut: isCut = true
        }
      }
      if isCut { throw Failure(.retriable, "\(settings.receipts) was cut while it was read") }
    }
    try written.read([])
  }
}
