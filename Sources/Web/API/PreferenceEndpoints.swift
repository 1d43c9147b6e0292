import Gate
import Preferences

/// A user's choices: read, changed by events, changed in short.
struct PreferenceEndpoints: Sendable {
  let service: PreferenceService
  let nowMs: @Sendable () -> Int64

  func add(to router: inout Router<Endpoint>) {
    router.add(
      "GET", "/v1/users/{user_id}/preferences",
      Endpoint(access: .roles([.app, .support, .admin]), run: read))
    router.add(
      "POST", "/v1/users/{user_id}/events",
      Endpoint(access: .roles([.app, .support, .admin]), body: .json, run: post))
    router.add(
      "PUT", "/v1/users/{user_id}/choices/{category}",
      Endpoint(access: .roles([.app, .admin]), body: .json, run: setChoice))
    router.add(
      "PUT", "/v1/users/{user_id}/quiet-hours",
      Endpoint(access: .roles([.app, .admin]), body: .json, run: setQuietHours))
  }

  private func read(_ call: APICall) throws(Problem) -> HTTPResponse {
    let id = try call.id("user_id")
    let condition = try EntityTag.condition("If-None-Match", of: call.request)
    let user = try Failures.named { () throws(StoreError) in try service.user(id) }
    // Of a user of whom only refusals are on record there is no document.
    guard let user, user.version > 0 else { throw EventReply.unknownUser }
    let tag = HTTPField("ETag", EntityTag.text(version: user.version))
    if let condition, condition.matchesWeakly(version: user.version) {
      return HTTPResponse(status: 304, headers: [tag])
    }
    var answer = HTTPResponse.json(200, Array(PreferenceDocument.text(user).utf8))
    answer.headers.append(tag)
    return answer
  }

  private func post(_ call: APICall) throws(Problem) -> HTTPResponse {
    try EventReply.apply(try RequestEvents.whole(call), call, service)
  }

  private func setChoice(_ call: APICall) throws(Problem) -> HTTPResponse {
    let category = try call.categoryOfPath()
    let event = try RequestEvents.shortOfUser(
      call, type: "choice_set", said: [("category", .string("\(category.name)"))], hasScope: true,
      nowMs: nowMs())
    return try EventReply.apply(event, call, service)
  }

  private func setQuietHours(_ call: APICall) throws(Problem) -> HTTPResponse {
    let event = try RequestEvents.shortOfUser(
      call, type: "quiet_hours_set", hasScope: true, nowMs: nowMs())
    return try EventReply.apply(event, call, service)
  }
}
