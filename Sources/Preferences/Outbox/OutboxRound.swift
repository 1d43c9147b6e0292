/// What is written to one topic at once, and what of it is over with afterwards. No I/O.
struct OutboxRound {
  /// In the order of the outbox.
  let rows: [OutboxTable.Row]
  /// Which of them are written, in order, and by what instant.
  let written: [(index: Int, timestampMs: Int64)]
  private let isNewestEnough: Bool

  var writtenKeys: [String] { written.map { rows[$0.index].key } }

  /// - Parameters:
  ///   - isNewestEnough: of several documents of a key the last alone is written, dated as the first: it
  ///     says all, and since then the topic has lacked something. A null value is written in any case.
  ///   - refusedKeys: whose earlier rows were refused and are still there. A later one must not go first.
  init(_ rows: [OutboxTable.Row], isNewestEnough: Bool, refusedKeys: Set<String>) {
    self.isNewestEnough = isNewestEnough
    guard isNewestEnough else {
      self.rows = rows
      written = rows.indices.filter { !refusedKeys.contains(rows[$0].key) }
        .map { ($0, rows[$0].createdAtMs) }
      return
    }
    var last: [String: Int] = [:]
    var firstAtMs: [String: Int64] = [:]
    var end = rows.count
    for (index, row) in rows.enumerated() where !refusedKeys.contains(row.key) {
      if let before = last[row.key], rows[before].value == nil {
        // What comes behind a null value is for the next round: were this one refused and that one not,
        // writing this one again would take the newer document away.
        end = index
        break
      }
      last[row.key] = index
      firstAtMs[row.key] = min(firstAtMs[row.key] ?? row.createdAtMs, row.createdAtMs)
    }
    self.rows = Array(rows[..<end])
    written = last.sorted { $0.value < $1.value }.map { ($0.value, firstAtMs[$0.key]!) }
  }

  /// The rows that are over with, where `failed` of the written ones were not delivered: sequences from
  /// the first to the last of each run. A row stays that failed, or stands behind one of its key that did.
  func done(failed: Set<Int>, refusedKeys: Set<String>) -> [ClosedRange<Int64>] {
    var kept = refusedKeys
    if isNewestEnough { kept.formUnion(failed.map { rows[$0].key }) }
    var runs: [ClosedRange<Int64>] = []
    var isRunning = false
    for (index, row) in rows.enumerated() {
      if failed.contains(index) { kept.insert(row.key) }
      if kept.contains(row.key) {
        isRunning = false
      } else if isRunning {
        runs[runs.count - 1] = runs[runs.count - 1].lowerBound...row.sequence
      } else {
        runs.append(row.sequence...row.sequence)
        isRunning = true
      }
    }
    return runs
  }
}
