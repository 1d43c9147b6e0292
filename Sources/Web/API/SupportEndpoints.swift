import Gate
import Preferences

/// Suppressions, and the defaults of those who chose nothing.
struct SupportEndpoints: Sendable {
  let service: PreferenceService
  let policy: Policy
  let nowMs: @Sendable () -> Int64

  func add(to router: inout Router<Endpoint>) {
    let suppression = "/v1/users/{user_id}/suppressions/{suppression}"
    router.add(
      "PUT", suppression,
      Endpoint(access: .roles([.support, .admin]), arguments: ["device_id"]) {
        (call) throws(Problem) in
        try change(call) { EventBody.suppressionSet($0, $1) }
      })
    router.add(
      "DELETE", suppression,
      Endpoint(access: .roles([.support, .admin]), arguments: ["device_id"]) {
        (call) throws(Problem) in
        try change(call) { EventBody.suppressionCleared($0, $1) }
      })
    router.add(
      "GET", "/v1/defaults", Endpoint(access: .roles([.app, .support, .admin]), run: readDefaults))
    router.add(
      "PUT", "/v1/defaults/{category}",
      Endpoint(access: .roles([.admin]), body: .json, run: setDefault))
    router.add(
      "DELETE", "/v1/defaults/{category}", Endpoint(access: .roles([.admin]), run: clearDefault))
  }

  private func change(
    _ call: APICall, _ body: (PreferenceScope, Suppression) -> EventBody
  ) throws(Problem) -> HTTPResponse {
    let suppression = try call.value(
      "suppression", of: Suppression.allCases, inPath: true, { "\($0.name)" })!
    let device = try call.optionalID("device_id")
    let event = PreferenceEvent(
      eventID: Identifier(NewEventID.make("http")), userID: try call.id("user_id"), atMs: nowMs(),
      isOfNow: true, body: body(device.map { .device($0) } ?? .account, suppression))
    return try EventReply.apply(event, call, service)
  }

  private func readDefaults(_ call: APICall) throws(Problem) -> HTTPResponse {
    let set = try Failures.named { () throws(StoreError) in try service.defaults() }
    let defaults = Category.allCases.map { category in
      let value =
        set[category]
        ?? CategoryDefault(
          isOn: policy.isOnByDefault(category, regulated: false),
          isOnWhereRegulated: policy.isOnByDefault(category, regulated: true))
      var json = JSONMembers()
      json.add("category", "\(category.name)")
      json.add("default", value.isOn ? "on" : "off")
      json.add("regulated_default", value.isOnWhereRegulated ? "on" : "off")
      json.add("is_policys", set[category] == nil)
      return String(decoding: json.bytes, as: UTF8.self)
    }
    var json = JSONMembers()
    json.add("defaults", json: Array("[\(defaults.joined(separator: ","))]".utf8))
    return .json(200, json.bytes)
  }

  private func setDefault(_ call: APICall) throws(Problem) -> HTTPResponse {
    let category = try call.categoryOfPath()
    let decoded = try RequestEvents.short(
      call, type: "default_set", said: [("category", .string("\(category.name)"))],
      hasScope: false, nowMs: nowMs())
    guard case .defaults(let event) = decoded else { preconditionFailure("a default has no user") }
    guard event.value != nil else {
      throw Problem(
        400, "missing", "write default and regulated_default; DELETE goes back to the policy's")
    }
    return try apply(event, call)
  }

  private func clearDefault(_ call: APICall) throws(Problem) -> HTTPResponse {
    let event = DefaultEvent(
      eventID: Identifier(NewEventID.make("http")), atMs: nowMs(), isOfNow: true,
      category: try call.categoryOfPath(), value: nil)
    return try apply(event, call)
  }

  /// There always is a default, so that `*` holds; it has no tag, so that no other condition does
  /// (RFC 9110, section 13.1.1).
  private func apply(_ event: DefaultEvent, _ call: APICall) throws(Problem) -> HTTPResponse {
    if case .tags = try EntityTag.condition("If-Match", of: call.request) {
      throw Problem(412, "no_version", "a default has no version; leave out If-Match")
    }
    let answer = try Failures.named { () throws(StoreError) in try service.apply(event) }
    return try EventReply.reply(answer, to: event.eventID, hasVersion: false)
  }
}
