import Preferences

/// Answers from the index. Every method may be called from any thread and blocks its caller for a few
/// look-ups; each answer is of one instant.
public final class EvidenceReader: Sendable {
  private let readers: ReaderPool
  /// Of the index in this process, which knows more than could be written while it cannot write.
  private let counters: IndexCounters?

  private static let hourMs: Int64 = 3_600_000
  /// Behind everything.
  private static let newest = EvidenceCursor(atMs: .max, sequence: .max)

  /// Of an index of this process, with which it is closed.
  init(_ readers: ReaderPool, _ counters: IndexCounters) {
    self.readers = readers
    self.counters = counters
  }

  /// Opens an index that is there, beside whoever writes it, and writes nothing to it. The one that
  /// `EvidenceIndex` gives needs no opening.
  public init(reading database: EvidenceDatabase) throws(StoreError) {
    readers = try EvidenceStore.readers(database, count: 1)
    counters = nil
  }

  /// Of one that was opened. Nothing may be called afterwards.
  public func close() { readers.close() }

  /// A user's attempts, newest first.
  ///
  /// - Parameter limit: at most so many.
  public func timeline(
    user: String, before: EvidenceCursor? = nil, limit: Int
  ) throws(StoreError) -> EvidencePage {
    try readers.read { connection throws(SQLError) in
      let rows = try AttemptTable(connection: connection).ofUser(
        user, before: before ?? Self.newest, limit: limit)
      return try Self.page(rows, limit: limit, connection)
    }
  }

  /// A device's attempts, of whatever user, newest first.
  public func device(
    _ id: String, before: EvidenceCursor? = nil, limit: Int
  ) throws(StoreError) -> EvidencePage {
    try readers.read { connection throws(SQLError) in
      let rows = try AttemptTable(connection: connection).ofDevice(
        id, before: before ?? Self.newest, limit: limit)
      return try Self.page(rows, limit: limit, connection)
    }
  }

  private static func page(
    _ rows: [AttemptRow], limit: Int, _ connection: any SQLConnection
  ) throws(SQLError) -> EvidencePage {
    let attempts = try AttemptLinks(connection: connection).linked(rows)
    let next = rows.count < limit ? nil : rows.last
    return EvidencePage(
      attempts: attempts,
      next: next.map { EvidenceCursor(atMs: $0.atMs, sequence: $0.sequence) })
  }

  /// Everything of a notification, at most `limit` records of each kind; nil where nothing is indexed.
  ///
  /// - Parameter user: only what was decided of this one.
  public func notification(
    _ id: String, user: String? = nil, limit: Int = 1000
  ) throws(StoreError) -> EvidenceNotification? {
    try readers.read { connection throws(SQLError) in
      let table = AttemptTable(connection: connection)
      let rows =
        if let user { try table.ofNotification(id, user: user, limit: limit) } else {
          try table.ofNotification(id, limit: limit)
        }
      let attempts = try AttemptLinks(connection: connection).linked(rows)
      let others = try ReceiptTable(connection: connection).ofNoApproval(id, limit: limit)
        .filter { user == nil || $0.userID == user }.map(EvidenceReceipt.init)
      guard !attempts.isEmpty || !others.isEmpty else { return nil }
      return EvidenceNotification(attempts: attempts, otherReceipts: others)
    }
  }

  /// Decisions by hour, outcome, category and reason, of the hours that begin in `fromMs ..< toMs`.
  /// They name nobody, and outlive the records: erasure leaves them as they are.
  public func outcomes(fromMs: Int64, toMs: Int64) throws(StoreError) -> [OutcomeCount] {
    try readers.read { connection throws(SQLError) in
      try connection.all(
        """
        SELECT hour_ms, outcome, category, reason, n FROM counts
        WHERE hour_ms >= $1 AND hour_ms < $2 ORDER BY hour_ms, outcome, category, reason
        """, [.integer(fromMs), .integer(toMs)]
      ) { row in
        // The column holds nothing else: whatever counts has one of the three outcomes.
        OutcomeCount(
          hourMs: row.integer(0), outcome: EvidenceAttempt.Outcome(rawValue: row.text(1))!,
          category: row.text(2), reason: row.text(3), count: row.integer(4))
      }
    }
  }

  /// Open holds by the hour in which they are due, those due in `fromMs ..< toMs`.
  public func holdsDue(fromMs: Int64, toMs: Int64) throws(StoreError) -> [HoldsDue] {
    try readers.read { connection throws(SQLError) in
      try connection.all(
        """
        SELECT due_ms / 3600000, count(*) FROM holds_open WHERE due_ms >= $1 AND due_ms < $2
        GROUP BY due_ms / 3600000 ORDER BY due_ms / 3600000
        """, [.integer(fromMs), .integer(toMs)]
      ) { HoldsDue(hourMs: $0.integer(0) * Self.hourMs, count: $0.integer(1)) }
    }
  }

  public func lag() throws(StoreError) -> EvidenceLag {
    var lag = try written()
    if let behind = counters?.recordsBehind { lag.recordsBehind = behind }
    return lag
  }

  private func written() throws(StoreError) -> EvidenceLag {
    try readers.read { connection throws(SQLError) in
      try connection.first(
        "SELECT fresh_at_ms, records_behind, newest_ms FROM progress WHERE id = 1", []
      ) {
        EvidenceLag(
          freshAtMs: $0.optionalInteger(0), recordsBehind: $0.optionalInteger(1),
          newestMs: $0.optionalInteger(2))
      } ?? EvidenceLag(freshAtMs: nil, recordsBehind: nil, newestMs: nil)
    }
  }

  /// The newest runs, newest first.
  public func selfTests(limit: Int) throws(StoreError) -> [SelfTestRun] {
    try readers.read { connection throws(SQLError) in
      try SelfTestTable(connection: connection).newest(limit: limit)
    }
  }

  public func latestSelfTest() throws(StoreError) -> SelfTestRun? {
    try selfTests(limit: 1).first
  }
}
