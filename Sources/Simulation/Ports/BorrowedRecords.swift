import Broker
import Gate

/// Records in the form of the loop, whose bytes live until they are released.
final class BorrowedRecords {
  private var bytes: [UnsafeMutableRawBufferPointer] = []
  private var records = UnsafeMutableBufferPointer<InputRecord>.allocate(capacity: 64)
  private var isHeld = false

  deinit {
    release()
    records.deallocate()
  }

  func take(
    _ taken: [(partition: Int32, record: Record)]
  ) -> UnsafeMutableBufferPointer<InputRecord> {
    precondition(!isHeld, "polled with a batch in hand")
    isHeld = true
    if taken.count > records.count {
      records.deallocate()
      records = .allocate(capacity: taken.count)
    }
    for (index, one) in taken.enumerated() {
      (records.baseAddress! + index).initialize(
        to: InputRecord(
          partition: one.partition, offset: one.record.offset,
          timestampMs: one.record.timestampMs, key: keep(one.record.key),
          value: keep(one.record.value), handle: nil))
    }
    return UnsafeMutableBufferPointer(rebasing: records[..<taken.count])
  }

  private func keep(_ content: [UInt8]?) -> UnsafeRawBufferPointer? {
    guard let content else { return nil }
    let copy = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(1, content.count), alignment: 8)
    copy.copyBytes(from: content)
    bytes.append(copy)
    return UnsafeRawBufferPointer(rebasing: copy[..<content.count])
  }

  func release() {
    // Overwritten, so that whoever still looks at them shows.
    for one in bytes {
      for i in one.indices { one[i] = 0xDB }
      one.deallocate()
    }
    bytes.removeAll()
    isHeld = false
  }
}
