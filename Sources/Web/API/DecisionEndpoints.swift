import Evidence
import Preferences

/// What the gate decided, what became of it, and what it would decide now: the console's data.
struct DecisionEndpoints: Sendable {
  let desk: SupportDesk

  func add(to router: inout Router<Endpoint>) {
    func get(
      _ path: String, _ arguments: [String] = [],
      _ run: @escaping @Sendable (APICall) throws(Problem) -> HTTPResponse
    ) {
      router.add(
        "GET", "/v1/evidence/\(path)",
        Endpoint(access: .roles([.support, .admin]), arguments: arguments, run: run))
    }
    get("users/{user_id}", ["before", "until", "limit"], user)
    get("users/{user_id}/now", [], now)
    get("notifications/{notification_id}", [], notification)
    get("devices/{device_id}", ["before", "limit"], device)
    get("outcomes", ["hours"], outcomes)
    get("holds-due", [], holdsDue)
    get("quiet-hours", [], quietHours)
    get("state", [], state)
  }

  private func user(_ call: APICall) throws(Problem) -> HTTPResponse {
    let id = try call.id("user_id")
    let before = try cursor(call)
    let until = try call.integer("until", 0...Int64.max) ?? .max
    let limit = try limit(call)
    let story = try Failures.named { () throws(StoreError) in
      try desk.user(id, before: before, untilMs: until, limit: limit)
    }
    guard let story else { throw EventReply.unknownUser }
    return .json(200, EvidenceJSON.user(story))
  }

  /// Of somebody unknown too: that is what the gate would say.
  private func now(_ call: APICall) throws(Problem) -> HTTPResponse {
    let id = try call.id("user_id")
    let answer = try Failures.named { () throws(StoreError) in
      try desk.now(id, try desk.service.user(id))
    }
    return .json(200, EvidenceJSON.now(answer))
  }

  private func notification(_ call: APICall) throws(Problem) -> HTTPResponse {
    try checkIndex()
    let id = try call.id("notification_id")
    let story = try Failures.named { () throws(StoreError) in try desk.notification(id.text) }
    guard let story else {
      throw Problem(404, "unknown_notification", "nothing is on record of such a notification")
    }
    return .json(200, EvidenceJSON.notification(story))
  }

  private func device(_ call: APICall) throws(Problem) -> HTTPResponse {
    let id = try call.id("device_id")
    let before = try cursor(call)
    let limit = try limit(call)
    let story = try Failures.named { () throws(StoreError) in
      try desk.device(id.text, before: before, limit: limit)
    }
    guard let story else {
      throw Problem(404, "unknown_device", "nothing is on record of such a device")
    }
    return .json(200, EvidenceJSON.device(story))
  }

  private func outcomes(_ call: APICall) throws(Problem) -> HTTPResponse {
    try checkIndex()
    let hours = Int(try call.integer("hours", 1...2_400) ?? 24)
    let figures = try Failures.named { () throws(StoreError) in try desk.outcomes(hours: hours) }
    return .json(200, EvidenceJSON.outcomes(figures))
  }

  private func holdsDue(_ call: APICall) throws(Problem) -> HTTPResponse {
    try checkIndex()
    let figures = try Failures.named { () throws(StoreError) in try desk.holdsDue() }
    return .json(200, EvidenceJSON.holds(figures))
  }

  private func quietHours(_ call: APICall) throws(Problem) -> HTTPResponse {
    guard let answer = desk.quietMap.answer else {
      throw Problem(404, "not_counted", "it is still being counted: come again in a moment")
    }
    return .json(200, EvidenceJSON.quiet(answer))
  }

  private func state(_ call: APICall) throws(Problem) -> HTTPResponse {
    let state = try Failures.named { () throws(StoreError) in try desk.state() }
    guard let state else { throw Self.noIndex }
    return .json(200, EvidenceJSON.state(state))
  }

  private static let noIndex = Problem(
    404, "no_index", "no index of evidence is kept here: evidence.database is not set")

  private func checkIndex() throws(Problem) {
    if desk.evidence == nil { throw Self.noIndex }
  }

  private func limit(_ call: APICall) throws(Problem) -> Int {
    Int(
      try call.integer("limit", 1...Int64(SupportDesk.pageAttemptsMax))
        ?? Int64(SupportDesk.pageAttempts))
  }

  private func cursor(_ call: APICall) throws(Problem) -> EvidenceCursor? {
    guard let text = call.arguments["before"] else { return nil }
    guard let cursor = EvidenceCursor(text), cursor.text == text else {
      throw Problem(400, "malformed_argument", "before is none that an answer has named")
    }
    return cursor
  }
}
