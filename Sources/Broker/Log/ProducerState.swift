/// What a partition knows of one producer id: enough to refuse a batch out of sequence, to answer a
/// repeated one as the first time, and to know since where it has a transaction open.
struct ProducerState {
  struct Batch {
    var firstSequence: Int32
    var lastSequence: Int32
    var baseOffset: Int64
    var lastOffset: Int64
    var timestampMs: Int64
  }

  var epoch: Int16 = -1
  /// The last five batches, oldest first: a client has at most five requests in flight.
  var batches: [Batch] = []
  var openSince: Int64?

  var lastSequence: Int32 { batches.last?.lastSequence ?? -1 }

  enum Verdict: Equatable {
    case append
    case duplicate(baseOffset: Int64, timestampMs: Int64)
    case refuse(ErrorCode)
  }

  /// What Kafka does with a client's data batch, given what it knows of the producer.
  func judge(_ batch: BatchView) -> Verdict {
    let epoch = batch.producerEpoch
    if epoch == self.epoch,
      let same = batches.first(where: {
        $0.firstSequence == batch.baseSequence && $0.lastSequence == batch.lastSequence
      })
    {
      return .duplicate(baseOffset: same.baseOffset, timestampMs: same.timestampMs)
    }
    if epoch < self.epoch { return .refuse(.invalidProducerEpoch) }
    if epoch != self.epoch {
      // A new epoch starts at sequence 0; a producer never seen here may start anywhere, since
      // what it wrote before may have been deleted by retention.
      if batch.baseSequence != 0, self.epoch != -1 { return .refuse(.outOfOrderSequenceNumber) }
    } else if self.epoch != -1 {
      let last = lastSequence
      let inSequence =
        Int64(batch.baseSequence) == Int64(last) + 1 || (batch.baseSequence == 0 && last == .max)
      if !inSequence { return .refuse(.outOfOrderSequenceNumber) }
    }
    if openSince != nil, !batch.isTransactional { return .refuse(.invalidTxnState) }
    return .append
  }

  mutating func appended(_ batch: BatchView) {
    setEpoch(batch.producerEpoch)
    if batches.count == 5 { batches.removeFirst() }
    batches.append(
      Batch(
        firstSequence: batch.baseSequence, lastSequence: batch.lastSequence,
        baseOffset: batch.baseOffset, lastOffset: batch.lastOffset,
        timestampMs: batch.maxTimestamp))
    if openSince == nil, batch.isTransactional { openSince = batch.baseOffset }
  }

  /// A new epoch forgets the sequences of the old one.
  mutating func setEpoch(_ new: Int16) {
    guard new != epoch else { return }
    epoch = new
    batches.removeAll()
  }
}

/// A transaction that was aborted: a committed reader drops its records.
struct AbortedTransaction {
  var producerId: Int64
  var firstOffset: Int64
  /// The abort marker's offset.
  var lastOffset: Int64
  /// Where the last stable offset stood then: no later abort begins before it.
  var lastStableOffset: Int64
}
