import Preferences

/// A record as a topic has it, for those who write into the index without a broker: benchmarks and
/// tests.
package struct DirectRecord: Sendable {
  package var offset: Int64
  package var timestampMs: Int64
  package var key: [UInt8]?
  package var value: [UInt8]?

  package init(offset: Int64, timestampMs: Int64, key: [UInt8]?, value: [UInt8]?) {
    self.offset = offset
    self.timestampMs = timestampMs
    self.key = key
    self.value = value
  }
}

/// What is decoded of one partition, in the same way as from Kafka.
package struct DirectIntake: ~Copyable {
  private let index: EvidenceIndex
  private var intake: IndexIntake

  /// - Parameter content: `approved`, `deferred`, `dropped`, `receipts` or `preferences`; also what
  ///   the topic is called.
  package init(_ index: EvidenceIndex, content: String) throws(StoreError) {
    guard let content = EvidenceTopic.Content(rawValue: content) else {
      preconditionFailure("no such content: \(content)")
    }
    let topic = EvidenceTopic(name: content.rawValue, content: content)
    let source = try index.store.writer.perform { connection throws(SQLError) in
      try SourceTable(connection: connection).open(topic, 0)
    }
    self.index = index
    intake = IndexIntake(
      topics: [topic], erased: index.store.erased, counters: index.counters, nowMs: index.nowMs())
    intake.set([IndexPartition(topic: 0, number: 0, source: source)])
  }

  /// Decodes records and writes them in one transaction, which ends as the ones from Kafka do.
  package mutating func take(_ records: [DirectRecord]) throws(StoreError) {
    for (number, record) in records.enumerated() {
      Self.borrowed(record.key) { key in
        Self.borrowed(record.value) { value in
          let borrowed = BorrowedRecord(
            offset: record.offset, timestampMs: record.timestampMs, key: key, value: value)
          if intake.take(borrowed, 0), number == records.count - 1 { intake.mark(borrowed, 0) }
        }
      }
    }
    let batch = intake.takeBatch()
    let erased = index.store.erased
    let nowMs = index.nowMs()
    try index.store.writer.perform { connection throws(SQLError) in
      try BatchWriter(connection: connection).write(batch, erased: erased, nowMs: nowMs)
    }
  }

  private static func borrowed(
    _ bytes: [UInt8]?, _ body: (UnsafeRawBufferPointer?) -> Void
  ) {
    guard let bytes else { return body(nil) }
    bytes.withUnsafeBytes { body($0) }
  }
}
