import Gate
import Preferences

/// What was chosen when and how, everything that is kept, and its end.
struct EvidenceEndpoints: Sendable {
  let service: PreferenceService
  let nowMs: @Sendable () -> Int64
  private static let pageRows: Int64 = 100
  private static let pageRowsMax: Int64 = 1_000

  init(service: PreferenceService, nowMs: @escaping @Sendable () -> Int64) {
    self.service = service
    self.nowMs = nowMs
  }

  func add(to router: inout Router<Endpoint>) {
    router.add(
      "GET", "/v1/users/{user_id}/audit",
      Endpoint(
        access: .roles([.support, .admin]), arguments: ["category", "after", "limit"], run: audit))
    router.add(
      "GET", "/v1/users/{user_id}/consent",
      Endpoint(
        access: .roles([.support, .admin]), arguments: ["category", "at", "device_id"],
        run: consent))
    router.add(
      "GET", "/v1/users/{user_id}/sms-consent",
      Endpoint(access: .roles([.support, .admin]), arguments: ["at"], run: smsConsent))
    router.add(
      "GET", "/v1/users/{user_id}/export",
      Endpoint(access: .roles([.support, .admin]), run: export))
    router.add("DELETE", "/v1/users/{user_id}", Endpoint(access: .roles([.admin]), run: erase))
  }

  private func audit(_ call: APICall) throws(Problem) -> HTTPResponse {
    let id = try call.id("user_id")
    let category = try call.categoryOfQuery()
    let after = try call.integer("after", 0...Int64.max) ?? 0
    let limit = Int(try call.integer("limit", 1...Self.pageRowsMax) ?? Self.pageRows)
    let found = try Failures.named { () throws(StoreError) in
      try service.audit(of: id, category, after: after, limit: limit) ?? []
    }
    // Where the page is full, what follows begins behind its last row.
    let next = found.count == limit ? found.last?.sequence : nil
    var json = JSONMembers()
    json.add("rows", json: Array("[\(found.map(AuditDocument.text).joined(separator: ","))]".utf8))
    json.add("next", number: next)
    return .json(200, json.bytes)
  }

  private func consent(_ call: APICall) throws(Problem) -> HTTPResponse {
    let id = try call.id("user_id")
    guard let category = try call.categoryOfQuery() else {
      throw Problem(400, "missing", "the argument category is missing")
    }
    let atMs = try call.requiredInstant("at")
    let device = try call.optionalID("device_id")
    let found = try Failures.named { () throws(StoreError) in
      try service.consent(of: id, category, device: device, atMs: atMs)
    }
    guard let found else { throw EventReply.unknownUser }
    return .json(
      200, Array(ConsentDocument.text(found, user: id, category: category, atMs: atMs).utf8))
  }

  private func smsConsent(_ call: APICall) throws(Problem) -> HTTPResponse {
    let id = try call.id("user_id")
    let atMs = try call.requiredInstant("at")
    let found = try Failures.named { () throws(StoreError) in
      try service.smsConsent(of: id, atMs: atMs)
    }
    guard let found else { throw EventReply.unknownUser }
    return .json(200, Array(ConsentDocument.sms(found, user: id, atMs: atMs).utf8))
  }

  private func export(_ call: APICall) throws(Problem) -> HTTPResponse {
    let id = try call.id("user_id")
    let text = try Failures.named { () throws(StoreError) in try service.export(id) }
    guard let text else { throw EventReply.unknownUser }
    return .json(200, Array(text.utf8))
  }

  private func erase(_ call: APICall) throws(Problem) -> HTTPResponse {
    let event = PreferenceEvent(
      eventID: Identifier(NewEventID.make("http")), userID: try call.id("user_id"), atMs: nowMs(),
      isOfNow: true, body: .userErased)
    let condition = try EntityTag.condition("If-Match", of: call.request)
    let answer = try Conditional.apply(event, condition, service)
    // Never 204 for somebody who is still there.
    if let refusal = answer.refusal { throw Problem(422, refusal.code, refusal.words) }
    return HTTPResponse(status: 204)
  }
}
