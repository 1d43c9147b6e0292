import Gate

/// The defaults that were set, over the policy's (requirements C3).
struct DefaultsTable {
  let connection: any SQLConnection

  func state() throws(SQLError) -> DefaultsState {
    var state = DefaultsState()
    try connection.query(
      "SELECT category, is_on, is_on_where_regulated, at_ms FROM defaults", []
    ) { row throws(SQLError) in
      let value: CategoryDefault? =
        row.optionalInteger(1) == nil
        ? nil : CategoryDefault(isOn: row.flag(1), isOnWhereRegulated: row.flag(2))
      state.entries[try row.value(0, of: Stored.categories)] = DefaultsState.Entry(
        value: value, atMs: row.integer(3))
    }
    return state
  }

  func save(_ new: DefaultsState, over old: DefaultsState) throws(SQLError) {
    for (category, entry) in new.entries where entry != old.entries[category] {
      try connection.run(
        """
        INSERT INTO defaults (category, is_on, is_on_where_regulated, at_ms)
        VALUES ($1, $2, $3, $4)
        ON CONFLICT (category) DO UPDATE SET is_on = excluded.is_on,
          is_on_where_regulated = excluded.is_on_where_regulated, at_ms = excluded.at_ms
        """,
        [
          SQLValue(category, in: Stored.categories), entry.value.map { SQLValue($0.isOn) } ?? .null,
          entry.value.map { SQLValue($0.isOnWhereRegulated) } ?? .null, .integer(entry.atMs),
        ])
    }
  }
}

extension EventWriter {
  func apply(_ event: DefaultEvent) throws(SQLError) -> EventAnswer {
    let eventIDs = EventIDTable(connection: connection)
    if let answer = try eventIDs.answer(to: event.eventID, userKey: EventIDTable.nobody) {
      return answer
    }
    let table = DefaultsTable(connection: connection)
    let state = try table.state()
    let transition = machine.apply(event, to: state, nowMs: nowMs)
    if let new = transition.state { try table.save(new, over: state) }
    try record(transition.rows, of: [])
    if let record = transition.record {
      try OutboxTable(connection: connection).append(
        .defaults, key: "\(record.category.name)", value: record.text, userKey: nil, nowMs: nowMs)
    }
    let answer = EventAnswer(
      outcome: transition.outcome,
      refusal: transition.refusal.map { .init(code: $0.code, words: $0.words) }, version: 0)
    try eventIDs.add(
      event.eventID, userKey: EventIDTable.nobody, answer: answer, nowMs: nowMs)
    return answer
  }
}
