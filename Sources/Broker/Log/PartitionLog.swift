/// One partition's records: segments of batches, and what they say of producers and transactions.
final class PartitionLog {
  let folder: String
  private let disk: (any Disk)?

  private(set) var segments: [Segment] = []
  private(set) var startOffset: Int64 = 0
  private(set) var endOffset: Int64 = 0

  private(set) var producers: [Int64: ProducerState] = [:]
  private(set) var aborted: [AbortedTransaction] = []
  /// First offsets of open transactions. Few at a time: a plain scan finds the least.
  private var open: [Int64: Int64] = [:]

  /// Where the compaction has come to: offsets below are clean.
  var cleanedTo: Int64 = 0

  init(folder: String, disk: (any Disk)?) {
    self.folder = folder
    self.disk = disk
  }

  /// Committed readers see what lies below: the first offset of the earliest open transaction.
  var lastStableOffset: Int64 { open.values.min() ?? endOffset }

  var size: Int { segments.reduce(0) { $0 + $1.size } }

  func producer(_ id: Int64) -> ProducerState { producers[id] ?? ProducerState() }

  // MARK: Append

  /// Appends a checked batch at the end and gives its base offset. The bytes in `batch` are left as
  /// they are; the stored copy gets its offset, and its time where the broker stamps records.
  func append(
    _ batch: UnsafeRawBufferPointer, nowMs: Int64, stampWith logAppendTimeMs: Int64? = nil,
    limits: TopicLimits
  ) -> Int64 {
    let base = endOffset
    let segment = segmentForAppend(batch.count, nowMs: nowMs, limits: limits)
    let place = segment.append(batch)
    place.setBig(base, at: 0)
    place.setBig(Int32(0), at: 12)
    if let logAppendTimeMs {
      place.setBig(BatchView(place).attributes | 0x8, at: 21)
      place.setBig(logAppendTimeMs, at: 35)
      place.setBig(BatchView(place).computeChecksum(), at: 17)
    }
    segment.indexLast()
    endOffset = BatchView(place).lastOffset + 1
    noteProducer(BatchView(place))
    disk?.append(
      fileName(segment.baseOffset), UnsafeRawBufferPointer(start: place, count: batch.count))
    return base
  }

  private func segmentForAppend(_ size: Int, nowMs: Int64, limits: TopicLimits) -> Segment {
    if let last = segments.last {
      let full = last.size + size > limits.segmentBytes
      let old = nowMs - last.createdMs >= limits.segmentMs
      if last.isEmpty || !(full || old) { return last }
    }
    return openSegment(nowMs: nowMs)
  }

  /// A new last segment. Its file exists from now on, even while empty: after a compaction the
  /// files before it may end short of its base offset, and the log must not go back.
  private func openSegment(nowMs: Int64) -> Segment {
    let segment = Segment(baseOffset: endOffset, createdMs: nowMs)
    segments.append(segment)
    disk?.append(fileName(endOffset), UnsafeRawBufferPointer(start: nil, count: 0))
    return segment
  }

  /// Closes the last segment when it is older than `segment.ms`, so that it can be cleaned.
  func rollIfOld(nowMs: Int64, limits: TopicLimits) {
    guard let last = segments.last, !last.isEmpty, nowMs - last.createdMs >= limits.segmentMs
    else { return }
    roll(nowMs: nowMs)
  }

  func roll(nowMs: Int64) { _ = openSegment(nowMs: nowMs) }

  private func noteProducer(_ batch: BatchView) {
    let id = batch.producerId
    guard id >= 0 else { return }
    if !batch.isControl {
      producers[id, default: ProducerState()].appended(batch)
      if let since = producers[id]?.openSince { open[id] = since }
      return
    }
    guard let marker = batch.markerIsCommit else { return }
    producers[id, default: ProducerState()].setEpoch(batch.producerEpoch)
    producers[id]?.openSince = nil
    // A marker for a transaction that wrote nothing here changes no reader's view.
    guard let first = open.removeValue(forKey: id), !marker else { return }
    aborted.append(
      AbortedTransaction(
        producerId: id, firstOffset: first, lastOffset: batch.lastOffset,
        lastStableOffset: open.values.min() ?? batch.lastOffset + 1))
  }

  // MARK: Read

  /// Whole batches from the one that holds `offset` on, below `limit`, not more than `maxBytes`;
  /// with `oversized`, the first one even so. Also the offset after the last one.
  func read(
    from offset: Int64, below limit: Int64, maxBytes: Int, oversized: Bool
  ) -> (slices: [ByteSlice], size: Int, upper: Int64) {
    var slices: [ByteSlice] = []
    var size = 0
    var upper = offset
    var index = segmentIndex(holding: offset)
    while index < segments.count {
      let segment = segments[index]
      let first = segment.firstEntry(reaching: offset)
      var last = first
      while last < segment.entries.count {
        let entry = segment.entries[last]
        if entry.baseOffset >= limit { break }
        let count = Int(entry.size)
        if size + count > maxBytes, !(oversized && size == 0) { break }
        size += count
        upper = entry.lastOffset + 1
        last += 1
      }
      segment.slices(first..<last, into: &slices)
      if last < segment.entries.count { break }
      index += 1
    }
    return (slices, size, upper)
  }

  /// How many bytes `read` would find, counted only up to `enough`.
  func available(from offset: Int64, below limit: Int64, enough: Int) -> Int {
    var size = 0
    var index = segmentIndex(holding: offset)
    while index < segments.count, size < enough {
      let segment = segments[index]
      var entry = segment.firstEntry(reaching: offset)
      while entry < segment.entries.count, size < enough {
        if segment.entries[entry].baseOffset >= limit { return size }
        size += Int(segment.entries[entry].size)
        entry += 1
      }
      index += 1
    }
    return size
  }

  /// Aborted transactions that touch offsets in `from..<upper`.
  func abortedTransactions(from: Int64, upper: Int64) -> [AbortedTransaction] {
    var low = 0
    var high = aborted.count
    while low < high {
      let middle = (low + high) / 2
      if aborted[middle].lastOffset < from { low = middle + 1 } else { high = middle }
    }
    var result: [AbortedTransaction] = []
    for entry in aborted[low...] {
      if entry.firstOffset < upper { result.append(entry) }
      if entry.lastStableOffset >= upper { break }
    }
    return result
  }

  private func segmentIndex(holding offset: Int64) -> Int {
    var low = 0
    var high = segments.count
    while low + 1 < high {
      let middle = (low + high) / 2
      if segments[middle].baseOffset <= offset { low = middle } else { high = middle }
    }
    return low
  }

  // MARK: Deletion

  /// Moves the start up; segments that lie wholly below are freed.
  func advanceStart(to offset: Int64) {
    guard offset > startOffset else { return }
    startOffset = offset
    while segments.count > 1, segments[1].baseOffset <= offset {
      disk?.remove(fileName(segments[0].baseOffset))
      segments.removeFirst()
    }
    aborted.removeAll { $0.lastOffset < offset }
    cleanedTo = max(cleanedTo, offset)
  }

  /// Puts one compacted segment in the place of several. The file is whole before those after it
  /// go: a process killed in between finds them again, and recovery drops what it has already.
  func replace(_ range: Range<Int>, with segment: Segment) {
    disk?.replace(fileName(segment.baseOffset), segment.allBytes)
    for old in segments[range] where old.baseOffset != segment.baseOffset {
      disk?.remove(fileName(old.baseOffset))
    }
    segments.replaceSubrange(range, with: [segment])
  }

  func removeFiles() {
    for segment in segments { disk?.remove(fileName(segment.baseOffset)) }
  }

  func fileName(_ baseOffset: Int64) -> String {
    let digits = String(baseOffset)
    return folder + "/" + String(repeating: "0", count: 20 - digits.count) + digits + ".log"
  }

  // MARK: Recovery

  /// Takes over a segment file, up to its last sound batch, and gives how many bytes that is.
  /// Anything after was being written when the process died and was never acknowledged.
  func recover(_ bytes: ByteSlice, baseOffset: Int64, nowMs: Int64) -> Int {
    var sound = 0
    var next = max(endOffset, baseOffset)
    while sound < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes.bytes[sound...])
      let (size, error) = BatchView.check(rest)
      guard error == .none else { break }
      let batch = BatchView(rest.baseAddress!)
      guard batch.baseOffset >= next, batch.lastOffsetDelta >= 0 else { break }
      next = batch.lastOffset + 1
      noteProducer(batch)
      sound += size
    }
    let segment = Segment(baseOffset: baseOffset, createdMs: nowMs)
    if sound > 0 { segment.adopt(block: bytes.block, upTo: sound) }
    segments.append(segment)
    endOffset = next
    return sound
  }

  func recoverStart(_ offset: Int64) {
    endOffset = max(endOffset, offset)
    advanceStart(to: offset)
    if let first = segments.first, startOffset < first.baseOffset { startOffset = first.baseOffset }
  }
}

extension BatchView {
  /// Of a control batch: whether it commits; nil when it is some other control record.
  var markerIsCommit: Bool? {
    var cursor = RecordCursor(records)
    guard isControl, cursor.next() == true, let key = cursor.key, key.count >= 4 else { return nil }
    let type: Int16 = (records.baseAddress! + key.lowerBound).big(2)
    return type == 1 ? true : type == 0 ? false : nil
  }
}
