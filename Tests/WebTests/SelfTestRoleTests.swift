import Preferences
import Testing

@testable import Web

private let own = "/v1/users/sendgate-selftest.active"
private let device = "\(own)/devices/sendgate-selftest.d"
private let seen = #"{"platform":"ios","os_permission":"granted"}"#
private let choice = #"{"state":"user-on","source":"in_app_settings"}"#

@Test func theSelfTestMayDoWithItsOwnUsersWhatAnybodyMay() throws {
  try withAPI { world in
    for (method, path, body) in [
      ("PUT", device, seen), ("PUT", "\(own)/choices/social", choice),
      ("GET", "\(own)/preferences", nil), ("GET", "\(device)/settings", nil),
      ("PUT", "\(own)/suppressions/abuse_hold", nil), ("GET", "\(own)/audit", nil),
      ("GET", "\(own)/export", nil), ("DELETE", own, nil),
    ] as [(String, String, String?)] {
      let answer = world.ask(method, path, .selftest, body: body)
      #expect(answer.status == 200 || answer.status == 204, "\(method) \(path) \(answer.body)")
    }
  }
}

@Test func theSelfTestMayTouchNobodyElse() throws {
  try withAPI { world in
    for (method, path, body) in [
      ("PUT", "/v1/users/u/devices/d", seen), ("GET", "/v1/users/u/preferences", nil),
      ("GET", "/v1/users/u/export", nil), ("DELETE", "/v1/users/u", nil),
      ("GET", "/v1/users/sendgate-selftest/preferences", nil),
      ("PUT", "/v1/defaults/social", #"{"default":"on","regulated_default":"off"}"#),
      ("POST", "/v1/users/u/events", "{}"),
    ] as [(String, String, String?)] {
      #expect(world.ask(method, path, .selftest, body: body).status == 403, "\(method) \(path)")
    }
    // A body cannot name another user than the path.
    let event = """
      {"event_id":"e","user_id":"u","at":"2026-03-09T22:00:00Z","type":"device_removed",\
      "device_id":"d"}
      """
    #expect(world.ask("POST", "\(own)/events", .selftest, body: event).code == "other_user")
  }
}

@Test func nobodyElseButAdminChangesItsUsers() throws {
  try withAPI { world in
    let event = """
      {"event_id":"e","at":"2026-03-09T22:00:00Z","type":"device_removed",\
      "device_id":"sendgate-selftest.d"}
      """
    for role in [Role.app, .support, .admin] {
      let isAdmin = role == .admin
      for (method, path, body) in [
        ("PUT", device, seen), ("PUT", "\(own)/choices/social", choice),
        ("PUT", "\(own)/suppressions/abuse_hold", nil), ("POST", "\(own)/events", event),
        ("DELETE", device, nil), ("DELETE", own, nil),
      ] as [(String, String, String?)] {
        let status = world.ask(method, path, role, body: body).status
        #expect((status == 403) == !isAdmin, "\(role) \(method) \(path) \(status)")
      }
    }
    // Admin has erased the user: what is not of a later instant stays away.
    world.clock.advance(ms: 1_000)
    let again = world.ask("PUT", device, .selftest, body: seen)
    #expect(again.status == 200, "\(again.body)")
    for role in [Role.app, .support, .admin] {
      #expect(world.ask("GET", "\(own)/preferences", role).status == 200, "reading hurts nobody")
    }
    // However the path writes it.
    #expect(
      world.ask("PUT", "/v1/users/sendgate%2Dselftest.x/devices/d", .app, body: seen).status == 403)
  }
}

/// A device belongs to one account: who names somebody else's would take it, or what it may be asked.
@Test func aRealDeviceIsNoSelfTestsAndTheOtherWayRound() throws {
  try withAPI { world in
    func device(_ user: String, _ id: String) -> String { "/v1/users/\(user)/devices/\(id)" }
    let (thief, own) = ("sendgate-selftest.thief", "sendgate-selftest.d")
    #expect(world.ask("PUT", device("victim", "phone"), .app, body: seen).status == 200)
    #expect(world.ask("PUT", device(thief, own), .selftest, body: seen).status == 200)
    for (role, user, id) in [(Role.selftest, thief, "phone"), (.app, "victim", own)] {
      let event = """
        {"event_id":"e","at":"2026-03-09T22:00:00Z","type":"device_seen","device_id":"\(id)",\
        "platform":"ios","os_permission":"granted","source":"os_settings_sync"}
        """
      let ofDevice = """
        {"state":"user-off","source":"in_app_settings","device_id":"\(id)"}
        """
      for (method, path, body) in [
        ("PUT", device(user, id), seen), ("DELETE", device(user, id), nil),
        ("POST", "\(device(user, id))/prompt", #"{"moment":"first_order"}"#),
        ("POST", "/v1/users/\(user)/events", event),
        ("PUT", "/v1/users/\(user)/choices/social", ofDevice),
      ] as [(String, String, String?)] {
        let answer = world.ask(method, path, role, body: body)
        #expect(answer.status == 403, "\(role) \(method) \(path) \(answer.body)")
      }
    }
    for (user, id) in [("victim", "phone"), (thief, own)] {
      let kept = world.ask("GET", "/v1/users/\(user)/preferences", .support).body
      #expect(kept.contains("\"\(id)\"") && kept.contains("\"granted\""), "\(kept)")
    }
    #expect(world.ask("PUT", device(thief, own), .admin, body: seen).status == 200)
  }
}
