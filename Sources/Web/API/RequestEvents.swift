import Gate
import Preferences

/// Events out of requests: a whole one in the body, or one in short, whose other members the path
/// says.
enum RequestEvents {
  /// The event that the body holds. Its `user_id` may be left out, and must not be another's.
  static func whole(_ call: APICall) throws(Problem) -> PreferenceEvent {
    let userID = try call.id("user_id")
    var members = try members(of: call.request)
    if isAbsent("user_id", members) {
      members = without("user_id", members) + [("user_id", .string(userID.text))]
    }
    guard case .user(let event) = try decode(members) else {
      throw Problem(400, "unknown_type", "a default is set by PUT /v1/defaults/{category}")
    }
    guard event.userID == userID else {
      throw Problem(400, "other_user", "the user_id of the body is not the one of the path")
    }
    return event
  }

  /// An event in short.
  ///
  /// - Parameters:
  ///   - said: what the path says, and the body therefore must not.
  ///   - hasScope: a `device_id` in the body means that device, none the account.
  static func short(
    _ call: APICall, type: String, said: [(String, JSONValue)], hasScope: Bool, nowMs: Int64
  ) throws(Problem) -> DecodedEvent {
    var members = call.request.body == .none ? [] : try members(of: call.request)
    var said = said + [("type", .string(type))]
    if hasScope {
      let isAccount = isAbsent("device_id", members)
      said.append(("scope", .string(isAccount ? "account" : "device")))
    }
    for (name, _) in said where members.contains(where: { $0.name == name }) {
      throw Problem(400, "contradictory", "leave out \(name): it is said already")
    }
    if isAbsent("event_id", members) {
      members = without("event_id", members) + [("event_id", .string(NewEventID.make("http")))]
    }
    let isOfNow = isAbsent("at", members)
    if isOfNow { members = without("at", members) + [("at", .number("\(nowMs)"))] }
    switch try decode(members + said) {
    case .user(var event):
      event.isOfNow = isOfNow
      return .user(event)
    case .defaults(var event):
      event.isOfNow = isOfNow
      return .defaults(event)
    }
  }

  /// The same, of a user.
  static func shortOfUser(
    _ call: APICall, type: String, said: [(String, JSONValue)] = [], hasScope: Bool = false,
    nowMs: Int64
  ) throws(Problem) -> PreferenceEvent {
    let userID = try call.id("user_id")
    let decoded = try short(
      call, type: type, said: said + [("user_id", .string(userID.text))], hasScope: hasScope,
      nowMs: nowMs)
    guard case .user(let event) = decoded else { preconditionFailure("\(type) has a user") }
    return event
  }

  private typealias Members = [(name: String, value: JSONValue)]

  private static func members(of request: HTTPRequest) throws(Problem) -> Members {
    guard case .whole(let bytes) = request.body else {
      throw Problem(400, "malformed_json", "the body is empty")
    }
    let parsed = bytes.withUnsafeBytes { bytes in
      Result { () throws(JSONFault) in try JSONValue(bytes) }
    }
    switch parsed {
    case .success(.object(let members)): return members
    case .success: throw Problem(400, "malformed_json", "the body is not one JSON object")
    case .failure(let fault): throw Problem(400, "malformed_json", "the body \(fault.words)")
    }
  }

  private static func isAbsent(_ name: String, _ members: Members) -> Bool {
    guard let member = members.first(where: { $0.name == name }) else { return true }
    if case .null = member.value { return true }
    return false
  }

  private static func without(_ name: String, _ members: Members) -> Members {
    members.filter { $0.name != name }
  }

  private static func decode(_ members: Members) throws(Problem) -> DecodedEvent {
    do throws(EventFault) {
      return try EventDecoder.decode(.object(members))
    } catch {
      throw Problem(400, error.code.rawValue, error.description)
    }
  }
}
