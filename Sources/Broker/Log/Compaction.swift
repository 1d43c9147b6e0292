/// Compaction as Kafka's log cleaner does it: of each key the last record stays, aborted records go,
/// tombstones stay for `delete.retention.ms` after they were first cleaned, offsets never change.
///
/// Records can be looked at when they are uncompressed or lz4; batches of the other kinds stay as
/// they are and their keys are not compared.
extension PartitionLog {
  func compact(nowMs: Int64, limits: TopicLimits) {
    let count = cleanableSegments(nowMs: nowMs, limits: limits)
    guard count > 0 else { return }
    let limit = count < segments.count ? segments[count].baseOffset : endOffset
    let cleanable = segments[..<count]
    let total = cleanable.reduce(0) { $0 + $1.size }
    let dirty = cleanable.filter { $0.baseOffset >= cleanedTo }.reduce(0) { $0 + $1.size }
    guard total > 0, Double(dirty) / Double(total) > limits.minDirtyRatio else { return }

    var cleaner = Cleaner(log: self, nowMs: nowMs, limits: limits)
    for segment in cleanable {
      for entry in segment.entries where entry.lastOffset >= cleanedTo {
        cleaner.note(segment.view(entry))
      }
    }
    rewrite(count, &cleaner, limits)
    cleanedTo = limit
  }

  /// How many segments, from the first, may be cleaned: closed, with no transaction open in them,
  /// and older than `min.compaction.lag.ms`.
  private func cleanableSegments(nowMs: Int64, limits: TopicLimits) -> Int {
    let stable = lastStableOffset
    var count = 0
    while count + 1 < segments.count {
      let segment = segments[count]
      if segments[count + 1].baseOffset > stable { break }
      if limits.minCompactionLagMs > 0, segment.maxTimestampMs > nowMs - limits.minCompactionLagMs {
        break
      }
      count += 1
    }
    return count
  }

  /// Rewrites the first `count` segments, putting together what fits in one.
  private func rewrite(_ count: Int, _ cleaner: inout Cleaner, _ limits: TopicLimits) {
    var first = 0
    var left = count
    while left > 0 {
      let result = Segment(
        baseOffset: segments[first].baseOffset, createdMs: segments[first].createdMs)
      var taken = 0
      while taken < left,
        taken == 0 || result.size + segments[first + taken].size <= limits.segmentBytes
      {
        let source = segments[first + taken]
        for entry in source.entries { cleaner.copy(source.view(entry), to: result) }
        taken += 1
      }
      replace(first..<first + taken, with: result)
      first += 1
      left -= taken
    }
  }
}

/// One run over a log.
private struct Cleaner {
  private let log: PartitionLog
  private let nowMs: Int64
  private let deleteRetentionMs: Int64
  private var lastOffsets: [[UInt8]: Int64] = [:]
  /// Producers of whose current transaction some records stay.
  private var survivors: Set<Int64> = []
  private let aborted: [Int64: [AbortedTransaction]]

  init(log: PartitionLog, nowMs: Int64, limits: TopicLimits) {
    self.log = log
    self.nowMs = nowMs
    deleteRetentionMs = limits.deleteRetentionMs
    aborted = Dictionary(grouping: log.aborted, by: \.producerId)
  }

  private func isAborted(_ batch: BatchView) -> Bool {
    guard batch.isTransactional, let list = aborted[batch.producerId] else { return false }
    return list.contains { $0.firstOffset <= batch.baseOffset && batch.baseOffset <= $0.lastOffset }
  }

  /// Takes the keys of a batch of the dirty part.
  mutating func note(_ batch: BatchView) {
    guard !batch.isControl, !isAborted(batch), let records = batch.decodeRecords() else { return }
    for record in records {
      if let key = record.key { lastOffsets[key] = record.offset }
    }
  }

  mutating func copy(_ batch: BatchView, to segment: Segment) {
    if batch.isControl { return copyMarker(batch, to: segment) }
    if isAborted(batch) { return keepEmpty(batch, to: segment) }
    guard batch.recordCount > 0, let records = batch.decodeRecords() else {
      if batch.recordCount > 0 || isLastOfProducer(batch) {
        survivors.insert(batch.producerId)
        write(UnsafeRawBufferPointer(start: batch.start, count: batch.totalSize), to: segment)
      }
      return
    }
    let horizon = batch.deleteHorizonMs
    let kept = records.filter { record in
      guard let key = record.key else { return false }
      if let last = lastOffsets[key], record.offset < last { return false }
      return record.value != nil || horizon.map { nowMs < $0 } ?? true
    }
    guard !kept.isEmpty else { return keepEmpty(batch, to: segment) }
    if batch.isTransactional { survivors.insert(batch.producerId) }
    let needsHorizon = horizon == nil && kept.contains { $0.value == nil }
    if kept.count == records.count, !needsHorizon {
      return write(UnsafeRawBufferPointer(start: batch.start, count: batch.totalSize), to: segment)
    }
    rebuild(
      batch, kept, horizonMs: horizon ?? (needsHorizon ? nowMs + deleteRetentionMs : nil),
      to: segment)
  }

  /// A marker stays while records of its transaction do, and after that as long as a tombstone:
  /// a reader that is behind must still see that the transaction ended.
  private mutating func copyMarker(_ batch: BatchView, to segment: Segment) {
    let hasRecords = survivors.remove(batch.producerId) != nil
    let state = log.producer(batch.producerId)
    let isLast = state.epoch == batch.producerEpoch && state.batches.isEmpty
    let whole = UnsafeRawBufferPointer(start: batch.start, count: batch.totalSize)
    if hasRecords || isLast { return write(whole, to: segment) }
    if let horizon = batch.deleteHorizonMs {
      if nowMs < horizon { write(whole, to: segment) }
      return
    }
    guard let records = batch.decodeRecords() else { return write(whole, to: segment) }
    rebuild(batch, records, horizonMs: nowMs + deleteRetentionMs, to: segment)
  }

  private func isLastOfProducer(_ batch: BatchView) -> Bool {
    guard batch.producerId >= 0 else { return false }
    return log.producer(batch.producerId).batches.last?.lastOffset == batch.lastOffset
  }

  /// A batch of no records keeps a producer's last sequence for the next start.
  private func keepEmpty(_ batch: BatchView, to segment: Segment) {
    if isLastOfProducer(batch) { rebuild(batch, [], horizonMs: batch.deleteHorizonMs, to: segment) }
  }

  private func rebuild(
    _ batch: BatchView, _ records: [Record], horizonMs: Int64?, to segment: Segment
  ) {
    var builder = BatchBuilder()
    builder.producerId = batch.producerId
    builder.producerEpoch = batch.producerEpoch
    builder.baseSequence = batch.baseSequence
    builder.isTransactional = batch.isTransactional
    builder.isControl = batch.isControl
    builder.compression = batch.compression ?? .none
    builder.extraAttributes = batch.attributes & 0x8 | (horizonMs == nil ? 0 : 0x40)
    let bytes = builder.build(
      records, sparse: true, baseOffset: batch.baseOffset, lastOffset: batch.lastOffset,
      baseTimestampMs: horizonMs ?? batch.baseTimestamp, maxTimestampMs: batch.maxTimestamp)
    bytes.withUnsafeBytes { write($0, to: segment) }
  }

  private func write(_ bytes: UnsafeRawBufferPointer, to segment: Segment) {
    _ = segment.append(bytes)
  }
}

extension BatchView {
  /// When the tombstones in it may go. The first time stands in its place then (KIP-534), which
  /// the records' times are counted from all the same.
  fileprivate var deleteHorizonMs: Int64? { attributes & 0x40 != 0 ? baseTimestamp : nil }
}
