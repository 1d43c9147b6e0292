import Kafka

/// What one poll brought, and the headers that are kept of some of it, read out.
final class KeptBatch {
  let records: RecordBatch
  private let keeper = HeaderKeeper()
  private var kept = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 8)
  /// Where the headers of each record end in `kept`.
  private let ends: UnsafeMutablePointer<Int>

  init(recordsMax: Int) {
    records = RecordBatch(recordsMax: recordsMax)
    ends = .allocate(capacity: recordsMax)
  }

  deinit {
    kept.deallocate()
    ends.deallocate()
  }

  func fill(from reader: PartitionReader, keepingHeadersOf topic: String?, timeoutMs: Int32) {
    reader.take(records, timeoutMs: timeoutMs)
    var end = 0
    for i in 0..<records.count {
      let record = records[i]
      if let topic, record.isRecord, record.value != nil, record.isOf(topic) {
        end = append(keeper.keep(of: record.handle), at: end)
      }
      ends[i] = end
    }
  }

  private func append(_ headers: UnsafeRawBufferPointer, at start: Int) -> Int {
    let end = start + headers.count
    if end > kept.count {
      let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * end, alignment: 8)
      larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: kept[..<start]))
      kept.deallocate()
      kept = larger
    }
    UnsafeMutableRawBufferPointer(rebasing: kept[start..<end]).copyMemory(from: headers)
    return end
  }

  /// As `HeaderKeeper.keep` gives them; empty where none are kept. Live as long as the record does.
  func headers(of index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: kept[(index == 0 ? 0 : ends[index - 1])..<ends[index]])
  }
}
