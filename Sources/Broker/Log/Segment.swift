/// Where one batch lies in a segment.
struct BatchEntry {
  var baseOffset: Int64
  var lastOffset: Int64
  var maxTimestampMs: Int64
  var block: UInt32
  var at: UInt32
  var size: UInt32
}

/// A run of batches: the unit that retention deletes and compaction rewrites.
final class Segment {
  let baseOffset: Int64
  private(set) var entries: [BatchEntry] = []
  private(set) var size = 0
  private(set) var maxTimestampMs: Int64 = -1
  /// When its first batch was appended; a segment older than `segment.ms` is closed.
  let createdMs: Int64

  private var blocks: [ByteBlock] = []
  private var used = 0

  init(baseOffset: Int64, createdMs: Int64) {
    self.baseOffset = baseOffset
    self.createdMs = createdMs
  }

  var isEmpty: Bool { entries.isEmpty }

  /// Copies a batch in and gives where it lies now.
  func append(_ batch: UnsafeRawBufferPointer) -> UnsafeMutableRawPointer {
    let count = batch.count
    if blocks.isEmpty || used + count > blocks[blocks.count - 1].capacity {
      // Blocks double up to 4 MiB: a topic of many quiet partitions stays small.
      let next = min(4 << 20, max(64 << 10, (blocks.last?.capacity ?? 0) * 2))
      blocks.append(ByteBlock(capacity: max(next, count)))
      used = 0
    }
    let place = blocks[blocks.count - 1].base + used
    place.copyMemory(from: batch.baseAddress!, byteCount: count)
    adopt(place, size: count)
    return place
  }

  /// Takes a block whose batches are already in order, as read from a file.
  func adopt(block: ByteBlock, upTo end: Int) {
    blocks.append(block)
    used = 0
    while used < end {
      let place = block.base + used
      adopt(place, size: BatchView(place).totalSize)
    }
    // No more is appended to it: the file's block has no room to spare.
    used = block.capacity
  }

  private func adopt(_ place: UnsafeMutableRawPointer, size count: Int) {
    entries.append(
      BatchEntry(
        baseOffset: 0, lastOffset: 0, maxTimestampMs: 0, block: UInt32(blocks.count - 1),
        at: UInt32(used), size: UInt32(count)))
    used += count
    size += count
    indexLast()
  }

  /// Takes the last batch's offsets and time from its header, once those are final.
  func indexLast() {
    let index = entries.count - 1
    let batch = view(entries[index])
    entries[index].baseOffset = batch.baseOffset
    entries[index].lastOffset = batch.lastOffset
    entries[index].maxTimestampMs = batch.maxTimestamp
    maxTimestampMs = max(maxTimestampMs, batch.maxTimestamp)
  }

  func view(_ entry: BatchEntry) -> BatchView {
    BatchView(UnsafeRawPointer(blocks[Int(entry.block)].base + Int(entry.at)))
  }

  /// The first entry that reaches `offset`; the count when there is none.
  func firstEntry(reaching offset: Int64) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].lastOffset < offset { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The bytes of some consecutive entries, as few slices as their blocks allow.
  func slices(_ range: Range<Int>, into out: inout [ByteSlice]) {
    var index = range.lowerBound
    while index < range.upperBound {
      let first = entries[index]
      var count = Int(first.size)
      index += 1
      while index < range.upperBound, entries[index].block == first.block {
        count += Int(entries[index].size)
        index += 1
      }
      out.append(ByteSlice(block: blocks[Int(first.block)], offset: Int(first.at), count: count))
    }
  }

  var allBytes: [UnsafeRawBufferPointer] {
    var out: [ByteSlice] = []
    slices(0..<entries.count, into: &out)
    return out.map(\.bytes)
  }
}
