import Gate

/// Where receipts come from. Every call is made by the lane's own thread; each waits a bounded time.
public protocol ReceiptSource: AnyObject {
  /// Where to start: the committed offset of the lane's group, once no open transaction holds a newer
  /// one, else the log's start. One for each partition, in any order.
  func startOffsets(of partitions: [Int32]) throws(Failure) -> [PartitionOffset]
  /// The first offset there is.
  func logStart(of partition: Int32) throws(Failure) -> Int64
  /// Reads from these positions on, and nothing else from now on.
  func read(_ positions: [PartitionOffset]) throws(Failure)
  /// Does not wait. The records live, and may be reordered or dropped by the caller in place, until
  /// `release`; partitions that have nothing at their position any more are told.
  func poll(
    _ onOutOfRange: (Int32) -> Void
  ) throws(Failure) -> UnsafeMutableBufferPointer<InputRecord>
  func release()
  func close()
}

/// The receipts of a lane that counts against caps: which partitions of theirs are read, and how far
/// they are. The positions are committed with the candidates', in every transaction, so that a receipt
/// tells on the counts once.
public final class ReceiptIntake {
  let source: any ReceiptSource
  let refunder: Refunder
  /// Where the receipts of the started partitions are.
  var owned = OwnedPartitions()
  /// The source is not where the positions are, or does not read what it is to read.
  var mustAim = false
  /// Not before this: what went wrong is not asked again at once.
  var aimAtMs: Int64 = 0
  /// Of the open transaction.
  var tally = ReceiptTally()

  public init(source: any ReceiptSource, refunder: Refunder) {
    self.source = source
    self.refunder = refunder
  }

  /// Partitions were started, or given up.
  func partitionsChanged(forgetting partitions: [Int32] = []) {
    owned.forget(partitions)
    mustAim = true
  }

  /// The transaction is gone: its receipts come again.
  func rewind() {
    owned.rewind()
    tally = ReceiptTally()
    refunder.tally = ReceiptTally()
    mustAim = true
  }
}
