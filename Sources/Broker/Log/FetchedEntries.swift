/// What stands in a log: a record, or the end of a transaction.
public enum LogEntry {
  /// `producerId`: below 0 where it has none.
  case record(Record, producerId: Int64, isTransactional: Bool)
  case marker(offset: Int64, producerId: Int64, isCommit: Bool)
}

extension FetchedPartition {
  /// Everything that was fetched, in order, from `offset` on: batches come whole, and may begin
  /// before it. Also the offset to go on from. Of batches compressed other than by lz4, nothing.
  public func entries(from offset: Int64) -> (entries: [LogEntry], next: Int64) {
    var entries: [LogEntry] = []
    var next = offset
    for slice in records ?? [] {
      let bytes = slice.bytes
      var at = 0
      while at < bytes.count {
        let batch = BatchView(bytes.baseAddress! + at)
        at += batch.totalSize
        next = max(next, batch.lastOffset + 1)
        if let isCommit = batch.markerIsCommit {
          guard batch.baseOffset >= offset else { continue }
          entries.append(
            .marker(offset: batch.baseOffset, producerId: batch.producerId, isCommit: isCommit))
        } else {
          for record in batch.decodeRecords() ?? [] where record.offset >= offset {
            entries.append(
              .record(
                record, producerId: batch.producerId, isTransactional: batch.isTransactional))
          }
        }
      }
    }
    return (entries, next)
  }

  /// What a reader of committed records shows of it: aborted ones are dropped as KIP-98 tells clients to.
  public func committedRecords(from offset: Int64) -> (records: [Record], next: Int64) {
    var ahead = (abortedTransactions ?? []).sorted { $0.firstOffset < $1.firstOffset }[...]
    var aborting: Set<Int64> = []
    var shown: [Record] = []
    let (entries, next) = entries(from: offset)
    /// Also at a marker: the records before it may have been compacted away.
    func begin(upTo offset: Int64) {
      while let first = ahead.first, first.firstOffset <= offset {
        aborting.insert(first.producerId)
        ahead.removeFirst()
      }
    }
    for entry in entries {
      switch entry {
      case .record(let record, let producer, let isTransactional):
        begin(upTo: record.offset)
        if !(isTransactional && aborting.contains(producer)) { shown.append(record) }
      case .marker(let offset, let producer, let isCommit):
        begin(upTo: offset)
        if !isCommit { aborting.remove(producer) }
      }
    }
    return (shown, next)
  }
}
