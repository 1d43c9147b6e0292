import Gate

/// One event, whole: reads what the machine has to know, and writes what it answers: state, audit,
/// what is to be published, and the event's id. In one transaction, so that none is there without the
/// others.
struct EventWriter {
  let connection: any SQLConnection
  let machine: PreferenceMachine
  let erased: ErasedUsers
  let nowMs: Int64

  private var reader: UserReader { UserReader(connection: connection) }
  private var writer: UserWriter { UserWriter(connection: connection) }
  private var outbox: OutboxTable { OutboxTable(connection: connection) }
  private var eventIDs: EventIDTable { EventIDTable(connection: connection) }

  func apply(_ event: PreferenceEvent) throws(SQLError) -> EventAnswer {
    let stored = try reader.user(event.userID)
    if let stored, let answer = try eventIDs.answer(to: event.eventID, userKey: stored.key) {
      return answer
    }
    var known = KnownState(user: stored?.preferences)
    known.userErasedAtMs = try erased.erasedAtMs(event.userID)
    var holder: StoredUser?
    if let device = event.deviceID {
      known.device = try reader.device(device)
      if let id = known.device?.holder, id != event.userID {
        holder = try reader.user(id)
        known.holder = holder?.preferences
      }
    }
    return try write(
      machine.apply(event, to: known, nowMs: nowMs), event, stored: stored, holder: holder)
  }

  private func write(
    _ transition: Transition, _ event: PreferenceEvent, stored: StoredUser?, holder: StoredUser?
  ) throws(SQLError) -> EventAnswer {
    var user = stored
    if let erasedAtMs = transition.erasedAtMs {
      user = try erase(event.userID, transition, stored, erasedAtMs: erasedAtMs)
    } else if let stored {
      let eraser = UserEraser(connection: connection)
      for device in transition.releasedDevices { try eraser.release(device, of: stored) }
    }
    if user == nil, transition.user != nil {
      user = try writer.add(event.userID, nowMs: nowMs)
    }
    if let user, let new = transition.user {
      try writer.save(new, over: user.preferences, key: user.key)
    }
    if let holder, let new = transition.holder {
      try writer.save(new, over: holder.preferences, key: holder.key)
    }
    let users = [user, holder].compactMap { $0 }
    if let device = transition.device {
      let key = users.first { $0.preferences.userID == device.holder }?.key
      precondition(
        device.holder == nil || key != nil, "a device's holder is neither the user nor the holder")
      try writer.save(device, holderKey: key)
    }
    try record(transition.rows, of: users)
    try publish(transition, user: user, holder: holder)

    let version = (transition.user ?? user?.preferences)?.version ?? 0
    let answer = EventAnswer(
      outcome: transition.outcome,
      refusal: transition.refusal.map { .init(code: $0.code, words: $0.words) }, version: version)
    // Of somebody of whom nothing is kept, no event is either.
    if let user {
      try eventIDs.add(
        event.eventID, userKey: user.key, answer: answer,
        isOfLink: event.source == .unsubscribeLink, nowMs: nowMs)
    }
    return answer
  }

  /// Returns what is left of the user in the tables.
  private func erase(
    _ id: Identifier, _ transition: Transition, _ stored: StoredUser?, erasedAtMs: Int64
  ) throws(SQLError) -> StoredUser? {
    try erased.remember(id, erasedAtMs: erasedAtMs, nowMs: nowMs)
    let eraser = UserEraser(connection: connection)
    var left: StoredUser?
    if let stored {
      for device in transition.releasedDevices { try eraser.release(device, of: stored) }
      if transition.isErased {
        try eraser.erase(stored)
      } else {
        left = try eraser.erase(stored, through: transition.erasedThroughMs!)
      }
    }
    // Also where nothing was kept: whatever is on the topic has to go. Also where something is left:
    // what a gate holds for the user of before ends by the tombstone alone.
    try outbox.append(.state, key: id.text, value: nil, userKey: nil, nowMs: nowMs)
    return left
  }

  func record(_ rows: [AuditRow], of users: [StoredUser]) throws(SQLError) {
    let numbered = try AuditTable(connection: connection).append(rows) { id in
      users.first { $0.preferences.userID == id }?.key
    }
    for row in numbered {
      // Without a user there is nobody to hide.
      guard let user = users.first(where: { $0.preferences.userID == row.userID }) else {
        try outbox.append(
          .audit, key: row.category.map { "\($0.name)" } ?? row.kind.rawValue,
          value: AuditDocument.text(row), userKey: nil, nowMs: nowMs)
        continue
      }
      let pseudonym = Pseudonym(secret: user.secret)
      try outbox.append(
        .audit, key: pseudonym.text(user.preferences.userID),
        value: AuditDocument.text(row, pseudonym: pseudonym.text), userKey: nil, nowMs: nowMs)
    }
  }

  private func publish(
    _ transition: Transition, user: StoredUser?, holder: StoredUser?
  ) throws(SQLError) {
    // The loser first: at no time is a device in two documents that were both published last.
    for (document, owner) in [
      (transition.holderDocument, holder), (transition.userDocument, user),
    ] {
      guard let document, let owner else { continue }
      try outbox.append(
        .state, key: owner.preferences.userID.text, value: document, userKey: owner.key,
        nowMs: nowMs)
    }
    if let observed = transition.observed {
      try outbox.append(
        .receipts, key: observed.userID.text, value: ReceiptDocument.text(observed),
        userKey: user?.key, atMs: observed.atMs, nowMs: nowMs)
    }
  }
}

/// Ids as the audit topic shows them: by a keyed hash whose key the erasure destroys, so that what was
/// published leads back to nobody.
struct Pseudonym {
  let secret: [UInt8]

  func text(_ id: Identifier) -> String {
    Hex.text(Secrets.authenticate(id.text.utf8, key: secret))
  }
}
