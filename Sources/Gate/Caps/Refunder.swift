/// What came of receipts.
public struct ReceiptTally: Sendable, Equatable {
  public var read: UInt64 = 0
  /// Notifications that do not count any more.
  public var refunded: UInt64 = 0
  public var unreadable: UInt64 = 0
  /// Under another key than its user, or where that key does not lead.
  public var misplaced: UInt64 = 0

  public init() {}

  /// Takes another's counts over, and leaves it at none.
  public mutating func take(_ other: inout ReceiptTally) {
    read += other.read
    refunded += other.refunded
    unreadable += other.unreadable
    misplaced += other.misplaced
    other = ReceiptTally()
  }
}

/// Lets receipts tell on the caps: what the provider rejected on every device that it was approved for
/// is not counted any more (requirements X8). One that cannot be read, or concerns nothing that is
/// counted, changes nothing. On the lane's thread.
public final class Refunder {
  private static let outputBytes = 1 << 16

  private let state: LaneState
  private let partitionCount: Int32
  private let decoder: ReceiptDecoder
  private var out = JSONWriter(capacity: Refunder.outputBytes)
  private var drafts = StateDrafts()
  /// Of the calls since it was last taken.
  public var tally = ReceiptTally()

  /// - Parameter partitionCount: of the candidates, and so of the receipts.
  public init(
    state: LaneState, partitionCount: Int32, seed: UInt64 = UInt64.random(in: 0...UInt64.max)
  ) {
    self.state = state
    self.partitionCount = partitionCount
    decoder = ReceiptDecoder(seed: seed)
  }

  /// Takes receipts in the order of their partitions, each of which must be open in the lane's state.
  public func take(_ records: UnsafeBufferPointer<InputRecord>, nowMs: Int64) {
    out.removeAll()
    drafts.removeAll()
    for record in records { take(record, nowMs) }
    drafts.finish(out.base)
  }

  /// What the state topic has to be told of the newest call; lives until the next.
  public var stateRecords: UnsafeBufferPointer<StateRecord> { drafts.records }

  private func take(_ record: InputRecord, _ nowMs: Int64) {
    tally.read += 1
    guard let receipt = decoder.decode(record.value) else {
      tally.unreadable += 1
      return
    }
    guard let key = record.key, key.equals(receipt.userID),
      Partitioner.partition(forKey: key, count: partitionCount) == record.partition
    else {
      tally.misplaced += 1
      return
    }
    guard let isAccepted = receipt.isAccepted else { return }
    let device = CapDevice.hash(receipt.deviceID)
    // A receipt does not name the category.
    for category in Category.allCases where state.rules.isCapped(category) {
      let ask = state.capAsk(receipt.userID, category, receipt.notificationID)
      let answered = state.counters(record.partition)
        .answer(ask, device: device, isAccepted: isAccepted, nowMs: nowMs)
      guard answered == .noted || answered == .refunded else { continue }
      if answered == .refunded { tally.refunded += 1 }
      state.writeCapRecord(
        record.partition, ask, user: receipt.userID, category: category,
        notification: receipt.notificationID, nowMs: nowMs, to: &out, &drafts)
      return
    }
  }
}
