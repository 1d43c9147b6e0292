/// What the two Kafka sides do in the store.
extension PreferenceService {
  func outboxRows(limit: Int) throws(StoreError) -> [OutboxTable.Row] {
    try store.readers.read { connection throws(SQLError) in
      try OutboxTable(connection: connection).rows(after: 0, limit: limit)
    }
  }

  /// Takes rows away that are all on Kafka. False where the turn was lost while they were published.
  /// Another process may have published since, and these records may have come behind its newer ones:
  /// what they speak of is then put at the end again, as it is now, so that the last record of each key
  /// is the newest whoever publishes it.
  func settleOutbox(_ rows: [OutboxTable.Row]) throws(StoreError) -> Bool {
    guard let last = rows.last else { return true }
    let now = nowMs()
    return try store.writer.perform { connection throws(SQLError) in
      let outbox = OutboxTable(connection: connection)
      if connection.holds(Turn.outbox.name) {
        try outbox.remove(through: last.sequence)
        return true
      }
      for key in Set(rows.filter { $0.topic == .state }.map(\.key)).sorted() {
        let user = try UserReader(connection: connection).user(Identifier(key))
        try outbox.append(
          .state, key: key, value: user.map { PreferenceDocument.text($0.preferences) },
          userKey: user?.key, nowMs: now)
      }
      let defaults = try DefaultsTable(connection: connection).state()
      for key in Set(rows.filter { $0.topic == .defaults }.map(\.key)).sorted() {
        guard let category = Stored.categories.value(key) else { continue }
        try outbox.append(
          .defaults, key: key, value: DefaultDocument.text(category, defaults[category]),
          userKey: nil, nowMs: now)
      }
      return false
    }
  }

  /// Where to go on reading, by partition; what is not here was never read.
  func intakeOffsets(_ topic: String) throws(StoreError) -> [Int32: Int64] {
    try store.readers.read { connection throws(SQLError) in
      try OffsetTable(connection: connection).offsets(topic)
    }
  }

  /// The partition is read from another place: what stands there was lost or made anew.
  func resetIntake(_ topic: String, _ partition: Int32, to offset: Int64) throws(StoreError) {
    try store.writer.perform { connection throws(SQLError) in
      try OffsetTable(connection: connection).set(topic, partition, offset)
    }
  }

  /// Applies what was read and remembers that it was read, in one transaction: whatever happens,
  /// nothing is applied twice and nothing is lost. Records that were applied before are passed over.
  func take(_ records: [IntakeRecord], ends: [IntakeEnd]) throws(StoreError) {
    try store.writer.perform { [self] connection throws(SQLError) in
      let writer = eventWriter(connection)
      let offsets = OffsetTable(connection: connection)
      var next: [IntakePartition: Int64] = [:]
      for end in ends {
        next[end.partition] = try offsets.next(end.partition.topic, end.partition.number) ?? 0
      }
      for record in records where record.offset >= next[record.partition] ?? 0 {
        try take(record, writer)
      }
      for end in ends where end.nextOffset > next[end.partition] ?? 0 {
        try offsets.set(end.partition.topic, end.partition.number, end.nextOffset)
      }
    }
  }

  private func take(_ record: IntakeRecord, _ writer: EventWriter) throws(SQLError) {
    switch record.content {
    case .user(let event): _ = try writer.apply(event)
    case .defaults(let event): _ = try writer.apply(event)
    case .unreadable(let fault): try writer.recordUnreadable(fault, record)
    }
  }
}

/// One partition of a topic that is read.
struct IntakePartition: Hashable, Sendable {
  var topic: String
  var number: Int32
}

/// Up to where a partition was read.
struct IntakeEnd: Sendable, Equatable {
  var partition: IntakePartition
  var nextOffset: Int64
}

/// One record that has an effect.
struct IntakeRecord: Sendable {
  enum Content: Sendable {
    case user(PreferenceEvent)
    case defaults(DefaultEvent)
    case unreadable(EventFault)
  }
  var partition: IntakePartition
  var offset: Int64
  var content: Content

  /// The same for the same record whenever it is read.
  var place: Identifier { Identifier("\(partition.topic)/\(partition.number)/\(offset)") }
}

/// Up to where the topics were read.
struct OffsetTable {
  let connection: any SQLConnection

  func offsets(_ topic: String) throws(SQLError) -> [Int32: Int64] {
    var found: [Int32: Int64] = [:]
    try connection.query(
      "SELECT partition_number, next_offset FROM kafka_offsets WHERE topic = $1", [.text(topic)]
    ) { row in
      found[Int32(row.integer(0))] = row.integer(1)
    }
    return found
  }

  func next(_ topic: String, _ partition: Int32) throws(SQLError) -> Int64? {
    try connection.first(
      "SELECT next_offset FROM kafka_offsets WHERE topic = $1 AND partition_number = $2",
      [.text(topic), .integer(Int64(partition))]
    ) { $0.integer(0) }
  }

  func set(_ topic: String, _ partition: Int32, _ offset: Int64) throws(SQLError) {
    try connection.run(
      """
      INSERT INTO kafka_offsets (topic, partition_number, next_offset) VALUES ($1, $2, $3)
      ON CONFLICT (topic, partition_number) DO UPDATE SET next_offset = excluded.next_offset
      """, [.text(topic), .integer(Int64(partition)), .integer(offset)])
  }
}

extension EventWriter {
  /// An event that could not be read is on record all the same: with its user, where that is known.
  func recordUnreadable(_ fault: EventFault, _ record: IntakeRecord) throws(SQLError) {
    let user = try fault.userID.flatMap { (id) throws(SQLError) in
      try UserReader(connection: connection).user(id)
    }
    let row = AuditRow(
      userID: user?.preferences.userID, scope: .account, kind: .unreadable,
      subject: record.place, before: nil, after: fault.description, atMs: nowMs,
      recordedAtMs: nowMs, source: nil, eventID: fault.eventID ?? record.place,
      outcome: .refused, reason: fault.code.rawValue)
    try self.record([row], of: [user].compactMap { $0 })
  }
}
