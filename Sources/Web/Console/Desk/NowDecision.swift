import Evidence
import Gate

/// What the gate said of one category on one device, read from the record it wrote.
struct NowDecision: Sendable, Equatable {
  var category: Category
  /// Nil where no device was looked at.
  var deviceID: String?
  var outcome: Outcome
  var reason: String
  /// Every reason that holds, strictest first.
  var blockedBy: [String]
  var values: EvidenceValues
  var deliverAfterMs: Int64?
  var sendBeforeMs: Int64?
  var interruption: String?

  /// Nil where it is no record of a decision, which the gate's own always is.
  init?(_ category: Category, record: [UInt8]) {
    guard let node = JSONNode(record), let reason = node["reason"].text,
      let outcome = Outcome.allCases.first(where: { "\($0.name)" == node["outcome"].text })
    else { return nil }
    self.category = category
    self.outcome = outcome
    self.reason = reason
    deviceID = node["device_id"].text
    blockedBy = node["blocked_by"].elements.compactMap(\.text)
    deliverAfterMs = node["deliver_after"].instantMs
    sendBeforeMs = node["send_before"].instantMs
    interruption = node["interruption"].text
    values = Self.values(node["evidence"])
  }

  private static func values(_ node: JSONNode) -> EvidenceValues {
    var values = EvidenceValues()
    let choice = node["user_category_opt_in"]
    values.accountChoice = choice["account"].text
    values.deviceChoice = choice["device"].text
    values.effectiveChoice = choice["effective"].bool
    values.osPermission = node["os_permission"].text
    values.tokenStatus = node["device_token_status"].text
    values.suppression = node["suppression_reason"].text
    let quiet = node["quiet_hours"]
    values.quietHours.start = quiet["start"].text
    values.quietHours.end = quiet["end"].text
    values.quietHours.days = quiet["days"].elements.compactMap(\.text)
    values.quietHours.timezone = quiet["timezone"].text
    values.quietHours.timezoneSource = quiet["timezone_source"].text
    values.quietHours.isInside = quiet["in_window"].bool
    values.quietHours.endsAtMs = quiet["ends_at"].instantMs
    values.quietHours.isInvalid = quiet["invalid"].bool ?? false
    return values
  }
}
