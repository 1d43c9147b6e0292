/// What became of an event.
public struct EventAnswer: Sendable, Equatable {
  /// Why it was refused.
  public struct RefusalNote: Sendable, Equatable {
    /// `Refusal.code`.
    public var code: String
    /// In words, with what to do.
    public var words: String

    public init(code: String, words: String) {
      self.code = code
      self.words = words
    }
  }

  public var outcome: EventOutcome
  public var refusal: RefusalNote?
  /// Of the user's document after it; 0 where there is none.
  public var version: Int64
  /// The event was seen before: nothing was done, and this is the answer given then.
  public var isRepeat: Bool

  public init(
    outcome: EventOutcome, refusal: RefusalNote?, version: Int64, isRepeat: Bool = false
  ) {
    self.outcome = outcome
    self.refusal = refusal
    self.version = version
    self.isRepeat = isRepeat
  }
}

/// The events of the last weeks and their answers. By user, so that nobody can use up an id that
/// another user's app will send.
struct EventIDTable {
  let connection: any SQLConnection
  /// Under which events are kept that concern no user.
  static let nobody: Int64 = 0

  func answer(to event: Identifier, userKey: Int64) throws(SQLError) -> EventAnswer? {
    try connection.first(
      """
      SELECT outcome, refusal_code, refusal_words, version FROM event_ids
      WHERE user_key = $1 AND event_id = $2
      """, [.integer(userKey), SQLValue(event)]
    ) { row throws(SQLError) in
      EventAnswer(
        outcome: try row.value(0, of: Stored.outcomes),
        refusal: row.optionalText(1).map { .init(code: $0, words: row.text(2)) },
        version: row.integer(3), isRepeat: true)
    }
  }

  func add(
    _ event: Identifier, userKey: Int64, answer: EventAnswer, isOfLink: Bool = false, nowMs: Int64
  ) throws(SQLError) {
    try connection.run(
      """
      INSERT INTO event_ids (user_key, event_id, outcome, refusal_code, refusal_words, version,
        recorded_at_ms, is_of_link)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      """,
      [
        .integer(userKey), SQLValue(event), SQLValue(answer.outcome, in: Stored.outcomes),
        SQLValue(answer.refusal?.code), SQLValue(answer.refusal?.words), .integer(answer.version),
        .integer(nowMs), SQLValue(isOfLink),
      ])
  }

  /// Forgets what was recorded before, of links or of all others; at most about `limit` at once, so that
  /// nobody waits behind it for long. Returns whether there may be more.
  func forget(ofLinks: Bool, recordedBeforeMs: Int64, limit: Int) throws(SQLError) -> Bool {
    let last = try connection.first(
      """
      SELECT recorded_at_ms FROM event_ids WHERE is_of_link = $1 AND recorded_at_ms < $2
      ORDER BY recorded_at_ms LIMIT 1 OFFSET $3
      """, [SQLValue(ofLinks), .integer(recordedBeforeMs), .integer(Int64(limit))]
    ) { $0.integer(0) }
    try connection.run(
      "DELETE FROM event_ids WHERE is_of_link = $1 AND recorded_at_ms < $2",
      [
        SQLValue(ofLinks),
        .integer(last.map { min($0 + 1, recordedBeforeMs) } ?? recordedBeforeMs),
      ])
    return last != nil
  }
}
