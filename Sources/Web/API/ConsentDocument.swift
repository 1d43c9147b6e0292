import Gate
import Preferences

/// The answer to whether a user had opted in at an instant, as JSON.
public enum ConsentDocument {
  public static func text(
    _ consent: AuditHistory.Consent, user: Identifier, category: Category, atMs: Int64
  ) -> String {
    var json = JSONMembers()
    json.add("user_id", user.text)
    json.add("category", "\(category.name)")
    json.add("at", Instant.text(atMs))
    json.add("consented", consent.isOptedIn)
    json.add("account", json: answer(consent.account))
    json.add("device", json: consent.device.map(answer) ?? Array("null".utf8))
    return String(decoding: json.bytes, as: UTF8.self)
  }

  public static func sms(_ found: AuditHistory.Answer, user: Identifier, atMs: Int64) -> String {
    var json = JSONMembers()
    json.add("user_id", user.text)
    json.add("at", Instant.text(atMs))
    json.add("consented", found.state == .userOn)
    json.add("account", json: answer(found))
    return String(decoding: json.bytes, as: UTF8.self)
  }

  private static func answer(_ answer: AuditHistory.Answer) -> [UInt8] {
    var json = JSONMembers()
    json.add("state", "\(answer.state.name)")
    json.add("since", answer.sinceMs.map(Instant.text))
    json.add("source", answer.source.map { "\($0.name)" })
    json.add("row", json: Array((answer.row.map(AuditDocument.text) ?? "null").utf8))
    return json.bytes
  }
}
