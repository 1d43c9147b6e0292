import Preferences

/// What became of an event, as an answer.
enum EventReply {
  static let unknownUser = Problem(404, "unknown_user", "nothing is kept of such a user")

  /// Applies an event that the bearer may send, under `If-Match` where it is there.
  static func apply(
    _ event: PreferenceEvent, _ call: APICall, _ service: PreferenceService
  ) throws(Problem) -> HTTPResponse {
    try checkRights(call.role, event)
    let condition = try EntityTag.condition("If-Match", of: call.request)
    return try reply(
      try Conditional.apply(event, condition, service), to: event.eventID, hasVersion: true)
  }

  static func checkRights(_ role: Role, _ event: PreferenceEvent) throws(Problem) {
    if let denial = EventRights.denial(role, event) { throw .forbidden(denial.words) }
  }

  /// - Parameter hasVersion: the answer is about a user, who has one.
  static func reply(
    _ answer: EventAnswer, to event: Identifier, hasVersion: Bool
  ) throws(Problem) -> HTTPResponse {
    if let refusal = answer.refusal {
      guard refusal.code != Refusal.unknownUser.code else { throw unknownUser }
      throw Problem(422, refusal.code, refusal.words)
    }
    var json = JSONMembers()
    json.add("event_id", event.text)
    json.add("outcome", answer.outcome.rawValue)
    json.add("version", Int(answer.version))
    json.add("repeated", answer.isRepeat)
    let response = HTTPResponse.json(200, json.bytes)
    return hasVersion
      ? response.adding("ETag", EntityTag.text(version: answer.version)) : response
  }
}
