import Gate

/// One row of the audit as JSON.
public enum AuditDocument {
  /// For the user and for support: with the ids as they are.
  public static func text(_ row: AuditRow) -> String { text(row) { $0.text } }

  /// For `preferences.audit`: every id by its pseudonym, so that nobody finds an erased user's trail
  /// by guessing ids.
  public static func text(_ row: AuditRow, pseudonym: (Identifier) -> String) -> String {
    var object = JSONObject()
    object.add("sequence", raw: "\(row.sequence)")
    object.add("user_id", row.userID.map(pseudonym))
    object.add("scope", row.scope == .account ? "account" : "device")
    object.add("device_id", row.scope.deviceID.map(pseudonym))
    object.add("kind", row.kind.rawValue)
    object.add("category", row.category.map { "\($0.name)" })
    object.add("subject", row.subject?.text)
    object.add("before", row.before)
    object.add("after", row.after)
    object.add("at", instant: row.atMs)
    object.add("recorded_at", instant: row.recordedAtMs)
    object.add("source", row.source.map { "\($0.name)" })
    object.add("event_id", pseudonym(row.eventID))
    object.add("outcome", row.outcome.rawValue)
    object.add("reason", row.reason)
    return object.text
  }
}
