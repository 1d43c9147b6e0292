import Gate

/// Copies of state records, until it is time to write them.
struct KeptStateRecords {
  private struct Kept {
    var partition: Int32
    var keyBytes: Int
    /// Nil for a null value.
    var valueBytes: Int?
  }

  private var bytes: [UInt8] = []
  private var kept: [Kept] = []

  var isEmpty: Bool { kept.isEmpty }

  mutating func append(_ record: StateRecord) {
    bytes.append(contentsOf: record.key)
    if let value = record.value { bytes.append(contentsOf: value) }
    kept.append(
      Kept(
        partition: record.partition, keyBytes: record.key.count, valueBytes: record.value?.count))
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    kept.removeAll(keepingCapacity: true)
  }

  func withRecords<R>(_ body: (UnsafeBufferPointer<StateRecord>) -> R) -> R {
    bytes.withUnsafeBytes { all in
      var at = 0
      func next(_ count: Int) -> UnsafeRawBufferPointer {
        defer { at += count }
        return UnsafeRawBufferPointer(rebasing: all[at..<(at + count)])
      }
      let records = kept.map { one in
        let key = next(one.keyBytes)
        return StateRecord(
          partition: one.partition, key: key, value: one.valueBytes.map { next($0) })
      }
      return records.withUnsafeBufferPointer(body)
    }
  }
}
