import Gate
import Preferences

/// What a device says of itself, and what it may show.
struct DeviceEndpoints: Sendable {
  let service: PreferenceService
  let nowMs: @Sendable () -> Int64

  func add(to router: inout Router<Endpoint>) {
    let device = "/v1/users/{user_id}/devices/{device_id}"
    router.add("PUT", device, Endpoint(access: .roles([.app, .admin]), body: .json, run: sync))
    router.add("DELETE", device, Endpoint(access: .roles([.app, .admin]), run: remove))
    router.add(
      "GET", "\(device)/settings",
      Endpoint(access: .roles([.app, .support, .admin]), run: settings))
    router.add(
      "GET", "\(device)/prompt",
      Endpoint(access: .roles([.app, .admin]), arguments: ["moment"], run: askPrompt))
    router.add(
      "POST", "\(device)/prompt",
      Endpoint(access: .roles([.app, .admin]), body: .json, run: recordPrompt))
    router.add(
      "POST", "/v1/users/{user_id}/observed",
      Endpoint(access: .roles([.app, .admin]), body: .json, run: observed))
  }

  private func sync(_ call: APICall) throws(Problem) -> HTTPResponse {
    try apply(call, type: "device_seen")
  }

  private func recordPrompt(_ call: APICall) throws(Problem) -> HTTPResponse {
    try apply(call, type: "permission_prompt_shown")
  }

  private func apply(_ call: APICall, type: String) throws(Problem) -> HTTPResponse {
    let device = try call.id("device_id")
    let event = try RequestEvents.shortOfUser(
      call, type: type, said: [("device_id", .string(device.text))], nowMs: nowMs())
    return try EventReply.apply(event, call, service)
  }

  private func observed(_ call: APICall) throws(Problem) -> HTTPResponse {
    let event = try RequestEvents.shortOfUser(call, type: "user_observed", nowMs: nowMs())
    return try EventReply.apply(event, call, service)
  }

  /// Of a device that the user does not have, and of a user who is not there, it is true already.
  private func remove(_ call: APICall) throws(Problem) -> HTTPResponse {
    let event = PreferenceEvent(
      eventID: Identifier(NewEventID.make("http")), userID: try call.id("user_id"), atMs: nowMs(),
      isOfNow: true, body: .deviceRemoved(try call.id("device_id")))
    try EventReply.checkRights(call.role, event)
    let condition = try EntityTag.condition("If-Match", of: call.request)
    let answer = try Conditional.apply(event, condition, service)
    if let refusal = answer.refusal, refusal.code != Refusal.unknownUser.code {
      throw Problem(422, refusal.code, refusal.words)
    }
    return HTTPResponse(status: 204)
  }

  private func settings(_ call: APICall) throws(Problem) -> HTTPResponse {
    let user = try call.id("user_id")
    let device = try call.id("device_id")
    let view = try Failures.named { () throws(StoreError) in
      try service.settings(of: user, device: device)
    }
    guard let view else {
      throw Problem(404, "unknown_device", "the user has no such device")
    }
    return .json(200, Array(view.text.utf8))
  }

  private func askPrompt(_ call: APICall) throws(Problem) -> HTTPResponse {
    let user = try call.id("user_id")
    let device = try call.id("device_id")
    let moment = try call.requiredID("moment")
    let answer = try Failures.named { () throws(StoreError) in
      try service.mayPrompt(user, device: device, moment: moment)
    }
    var json = JSONMembers()
    json.add("may_prompt", answer.isAllowed)
    switch answer {
    case .allowed:
      json.add("reason", nil)
      json.add("instead", nil)
    case .inAppPage(let refusal):
      json.add("reason", refusal.rawValue)
      json.add("instead", "in_app_page")
    case .nothing(let refusal):
      json.add("reason", refusal.rawValue)
      json.add("instead", nil)
    }
    return .json(200, json.bytes)
  }
}
