import Gate
import Preferences
import Testing

@testable import Web

private let on = #"{"state":"user-on","source":"in_app_settings"}"#
private let off = #"{"state":"user-off","source":"in_app_settings"}"#
private let phone = #"{"platform":"android","os_permission":"denied","region":"DE"}"#

@Test func aChoiceIsMadeReadAndProven() throws {
  try withAPI { world in
    #expect(world.ask("GET", "/v1/users/u-1/preferences").status == 404)
    let made = world.ask("PUT", "/v1/users/u-1/choices/marketing", .app, body: on)
    #expect(made.status == 200)
    #expect(made.header("ETag") == "\"1\"")
    #expect(made.body.contains(#""outcome":"applied","version":1,"repeated":false"#))

    let read = world.ask("GET", "/v1/users/u-1/preferences", .app)
    #expect(read.header("ETag") == "\"1\"")
    #expect(
      read.body
        == #"{"user_id":"u-1","version":1,"account":{"categories":{"marketing":{"state":"user-on","#
        + #""at":"2026-03-09T22:30:00.000Z","source":"in_app_settings"}}},"devices":[]}"#)

    let consent = "/v1/users/u-1/consent?category=marketing&at="
    let before = world.ask("GET", consent + "2026-03-09T22:29:59.999Z", .support)
    #expect(before.body.contains(#""consented":false"#))
    #expect(before.body.contains(#""row":null"#))
    for at in ["2026-03-09T22:30:00Z", "1773095400000", "2026-03-09T23:30:00%2B01:00"] {
      let after = world.ask("GET", consent + at, .support)
      #expect(after.body.contains(#""consented":true"#), "\(at)")
      #expect(after.body.contains(#""row":{"sequence":1,"#))
    }
    #expect(world.ask("GET", consent + "2026-03-09", .support).code == "malformed_instant")
    #expect(
      world.ask("GET", "/v1/users/u-1/consent?category=marketing", .support).code == "missing")
    let sms = world.ask("GET", "/v1/users/u-1/sms-consent?at=2026-03-10T00:00:00Z", .support)
    #expect(sms.body.contains(#""consented":false"#), "push is not SMS")
    #expect(
      world.ask("GET", "/v1/users/u-2/consent?category=social&at=0").code == "malformed_instant")
    #expect(world.ask("GET", consent.replacing("u-1", with: "u-2") + "1773095400000").status == 404)
  }
}

/// Requirements C6: refused with a clear reason, and on record.
@Test func securityStaysOn() throws {
  try withAPI { world in
    let refused = world.ask("PUT", "/v1/users/u-1/choices/security", .app, body: off)
    #expect(refused.status == 422)
    #expect(refused.code == "security_needs_admin")
    let rows = world.ask("GET", "/v1/users/u-1/audit", .support)
    #expect(rows.body.contains(#""outcome":"refused","reason":"security_needs_admin""#))
    // An app may not call itself an administrator; that is judged before the rules are asked.
    let override = #"{"state":"user-off","source":"admin_override"}"#
    #expect(world.ask("PUT", "/v1/users/u-1/choices/security", .app, body: override).status == 403)
    #expect(
      world.ask("PUT", "/v1/users/u-1/choices/security", .admin, body: override).status == 200)
    let event =
      #"{"event_id":"e","at":1773095400000,"type":"choice_set","scope":"account","#
      + #""category":"security","state":"user-off","source":"admin_override"}"#
    #expect(world.ask("POST", "/v1/users/u-2/events", .app, body: event).status == 403)
    #expect(world.ask("GET", "/v1/users/u-2/preferences").status == 404)
  }
}

@Test func aDeviceShowsItsSettings() throws {
  try withAPI { world in
    #expect(world.ask("PUT", "/v1/users/u-1/devices/d-1", .app, body: phone).status == 200)
    let view = world.ask("GET", "/v1/users/u-1/devices/d-1/settings", .app)
    #expect(view.status == 200)
    #expect(view.body.split(separator: #""state":"blocked_at_os_level""#).count == 5)
    #expect(view.body.split(separator: #""action":"open_os_settings""#).count == 5)
    #expect(view.body.contains("APP_NOTIFICATION_SETTINGS"))
    #expect(world.ask("GET", "/v1/users/u-1/devices/d-2/settings", .app).code == "unknown_device")
    #expect(world.ask("GET", "/v1/users/u-2/devices/d-1/settings", .app).code == "unknown_device")

    // It goes to another account, and is not the first one's any more (requirements D1).
    world.clock.advance(ms: 1_000)
    #expect(world.ask("PUT", "/v1/users/u-2/devices/d-1", .app, body: phone).status == 200)
    #expect(world.ask("GET", "/v1/users/u-1/devices/d-1/settings", .app).status == 404)
    #expect(world.ask("GET", "/v1/users/u-1/audit").body.contains("device_lost"))

    world.clock.advance(ms: 1_000)
    #expect(world.ask("DELETE", "/v1/users/u-2/devices/d-1", .app).status == 204)
    #expect(world.ask("DELETE", "/v1/users/u-2/devices/d-1", .app).status == 204)
    #expect(world.ask("DELETE", "/v1/users/nobody/devices/d-1", .app).status == 204)
    #expect(world.ask("GET", "/v1/users/nobody/preferences").status == 404)
    #expect(world.ask("GET", "/v1/users/u-2/devices/d-1/settings", .app).status == 404)
  }
}

@Test func thePromptIsAskedForAndRecorded() throws {
  try withAPI { world in
    let ready = #"{"platform":"ios","os_permission":"provisional"}"#
    let prompt = "/v1/users/u-1/devices/d-1/prompt"
    func ask(_ moment: String) -> String {
      world.ask("GET", "\(prompt)?moment=\(moment)", .app).body
    }
    let moment = world.policy.promptMoments[0]
    #expect(ask(moment) == #"{"may_prompt":false,"reason":"unknown_device","instead":null}"#)
    #expect(world.ask("PUT", "/v1/users/u-1/devices/d-1", .app, body: ready).status == 200)
    #expect(ask(moment) == #"{"may_prompt":false,"reason":"first_launch","instead":null}"#)
    world.clock.advance(ms: 600_000)
    #expect(world.ask("PUT", "/v1/users/u-1/devices/d-1", .app, body: ready).status == 200)
    #expect(
      ask("at_start") == #"{"may_prompt":false,"reason":"moment_not_in_policy","instead":null}"#)
    #expect(ask(moment) == #"{"may_prompt":true,"reason":null,"instead":null}"#)
    #expect(world.ask("GET", prompt, .app).code == "missing")
    let shown = world.ask("POST", prompt, .app, body: #"{"moment":"\#(moment)"}"#)
    #expect(shown.status == 200)
    #expect(
      ask(moment) == #"{"may_prompt":false,"reason":"already_prompted","instead":"in_app_page"}"#)
  }
}

/// A phone whose clock is fast has dated something ahead; what is said now, without an instant, takes
/// its place all the same, and is not answered 200 for nothing.
@Test func whatIsSaidNowComesBehindAFastClock() throws {
  try withAPI { world in
    let at = world.clock.read() + 300_000
    func put(_ path: String, _ body: String, _ role: Role = .app) -> APIWorld.Reply {
      world.ask("PUT", "/v1/users/u-1/\(path)", role, body: body)
    }
    func dated(_ body: String) -> String { #"{"at":\#(at),\#(body.dropFirst())"# }
    func document() -> String { world.ask("GET", "/v1/users/u-1/preferences").body }
    #expect(put("devices/d-1", dated(phone)).status == 200)
    #expect(put("choices/social", dated(on)).status == 200)
    let hours = #"{"source":"in_app_settings","quiet_hours":{"start":"22:00","end":"08:00"}}"#
    #expect(put("quiet-hours", dated(hours)).status == 200)

    #expect(put("choices/social", off).body.contains(#""outcome":"applied""#))
    #expect(document().contains(#""social":{"state":"user-off""#))
    let none = #"{"source":"in_app_settings","quiet_hours":null}"#
    #expect(put("quiet-hours", none).body.contains(#""outcome":"applied""#))
    #expect(!document().contains("quiet_hours"))
    #expect(world.ask("DELETE", "/v1/users/u-1/devices/d-1", .app).status == 204)
    #expect(document().contains(#""devices":[]"#))
    #expect(put("devices/d-1", phone).status == 200)
    #expect(document().contains(#""device_id":"d-1""#), "and is back")
    // Who has the device now says so without an instant too.
    #expect(world.ask("PUT", "/v1/users/u-2/devices/d-1", .app, body: phone).status == 200)
    #expect(world.ask("GET", "/v1/users/u-2/devices/d-1/settings", .app).status == 200)
    // With an instant, that instant counts.
    let now = #"{"state":"user-on","source":"in_app_settings","at":\#(world.clock.read())}"#
    #expect(put("choices/social", now).body.contains(#""outcome":"late""#))
  }
}

/// What got lost on the way is sent again, and changes nothing.
@Test func aRepeatedEventIsAnsweredAsTheFirstTime() throws {
  try withAPI { world in
    let body = #"{"state":"user-off","source":"in_app_settings","event_id":"e-1"}"#
    let first = world.ask("PUT", "/v1/users/u-1/choices/social", .app, body: body)
    let other = world.ask("PUT", "/v1/users/u-1/choices/marketing", .app, body: on)
    #expect(other.header("ETag") == "\"2\"")
    let again = world.ask("PUT", "/v1/users/u-1/choices/social", .app, body: body)
    #expect(again.status == 200)
    #expect(again.body == first.body.replacing("\"repeated\":false", with: "\"repeated\":true"))
    // Under the version from before it, as whoever lost the answer sends it.
    let under = world.ask(
      "PUT", "/v1/users/u-1/choices/social", .app, body: body,
      headers: [HTTPField("If-Match", "\"1\"")])
    #expect(under.status == 200)
  }
}

@Test func aChangeUnderAVersionIsOfThatVersion() throws {
  try withAPI { world in
    func put(_ state: String, _ match: String) -> APIWorld.Reply {
      world.clock.advance(ms: 1)
      return world.ask(
        "PUT", "/v1/users/u-1/choices/social", .app,
        body: #"{"state":"\#(state)","source":"in_app_settings"}"#,
        headers: [HTTPField("If-Match", match)])
    }
    for match in ["*", "\"1\"", "\"0\"", "W/\"0\""] {
      #expect(put("user-off", match).code == "version_changed", "there is no user: \(match)")
    }
    #expect(world.ask("PUT", "/v1/users/u-1/choices/social", .app, body: off).status == 200)
    #expect(put("user-on", "\"7\"").status == 412)
    #expect(put("user-on", "W/\"1\"").status == 412)
    #expect(put("user-on", "\"01\"").status == 412)
    #expect(put("user-on", "x").code == "malformed_precondition")
    #expect(put("user-on", "\"1\"").header("ETag") == "\"2\"")
    #expect(put("user-off", "\"1\"").status == 412)
    #expect(put("user-off", "\"1\", \"2\"").header("ETag") == "\"3\"")
    #expect(put("user-on", "*").header("ETag") == "\"4\"")
    let read = world.ask(
      "GET", "/v1/users/u-1/preferences", headers: [HTTPField("If-None-Match", "W/\"4\"")])
    #expect(read.status == 304 && read.body.isEmpty && read.header("ETag") == "\"4\"")
  }
}

@Test func bodiesAreJudgedBeforeAnybodyLooksInside() throws {
  try withAPI { world in
    let path = "/v1/users/u-1/choices/social"
    func put(
      _ body: HTTPRequest.Body, _ headers: [(String, String)], path: String = path,
      method: String = "PUT"
    ) -> HTTPResponse {
      let bearer = world.bearer(.admin)
      return world.api.respond(
        to: HTTPRequest(
          method: method, path: path, headers: [bearer] + headers.map { HTTPField($0, $1) },
          body: body))
    }
    let json = ("Content-Type", "application/json")
    let length = ("Content-Length", "47")
    let good = HTTPRequest.Body.whole(Array(on.utf8))
    #expect(put(.none, [json]).status == 411)
    #expect(put(.lengthUnknown, [json, ("Transfer-Encoding", "chunked")]).status == 411)
    #expect(put(.none, [json, ("Content-Length", "0")]).status == 400)
    #expect(put(.tooLarge, [json, ("Content-Length", "70000")]).status == 413)
    #expect(put(.ambiguous, [json, length, length]).status == 400)
    for type in [
      "text/plain", "application/jsonx", "application/json; charset=latin1", "",
      "application/problem+json", "application/json, text/plain",
    ] {
      let answer = put(good, [("Content-Type", type), length])
      #expect(answer.status == 415, "\(type)")
      #expect(answer.header("accept") == "application/json")
    }
    #expect(put(good, [length]).status == 415, "no type")
    #expect(put(good, [json, json, length]).status == 415, "two types")
    #expect(put(good, [json, length, ("Content-Encoding", "gzip")]).status == 415)
    for type in [
      "application/json", "APPLICATION/JSON", "application/json;charset=UTF-8",
      "application/json ; charset=\"utf-8\"",
    ] {
      #expect(put(good, [("content-type", type), length]).status == 200, "\(type)")
    }
    // What takes none refuses one: it would seem to have counted.
    let suppression = "/v1/users/u-1/suppressions/bounced"
    #expect(put(good, [json, length], path: suppression).status == 400)
    #expect(put(.tooLarge, [json], path: "/v1/users/u-1/preferences", method: "GET").status == 400)
  }
}

@Test func whatABodySaysIsReadStrictly() throws {
  try withAPI { world in
    func code(_ body: String, _ path: String = "/v1/users/u-1/choices/social") -> String? {
      world.ask("PUT", path, .app, body: body).code
    }
    #expect(code("[]") == "malformed_json")
    #expect(code("nonsense") == "malformed_json")
    #expect(
      code(#"{"state":"user-on","state":"user-off","source":"in_app_settings"}"#)
        == "malformed_json")
    #expect(code(String(repeating: "[", count: 60_000)) == "malformed_json")
    #expect(code(#"{"state":"user-on"}"#) == "missing")
    #expect(code(#"{"state":"on","source":"in_app_settings"}"#) == "unknown_value")
    #expect(code(#"{"state":"withdrawn ","source":"in_app_settings"}"#) == "unknown_value")
    #expect(code(#"{"state":null,"source":"in_app_settings"}"#) == "missing")
    #expect(code(#"{"state":"user-off","source":"link_get"}"#) == "unknown_value")
    #expect(code(#"{"state":"user-on","source":"in_app_settings","at":1}"#) == "malformed_instant")
    // What the path says is not said again.
    #expect(
      code(#"{"state":"user-on","source":"in_app_settings","category":"social"}"#)
        == "contradictory")
    #expect(
      code(#"{"state":"user-on","source":"in_app_settings","user_id":"u-1"}"#) == "contradictory")
    #expect(
      code(#"{"state":"user-on","source":"in_app_settings","type":"user_erased"}"#)
        == "contradictory")
    // Null counts as absent, and what is not known is passed over.
    #expect(
      code(#"{"state":"user-on","source":"in_app_settings","device_id":null,"at":null,"x":{}}"#)
        == nil)
    #expect(code(on, "/v1/users/u-1/choices/news") == "unknown_value")
    #expect(code(on, "/v1/users/%00/choices/social") == "malformed_id")
    #expect(
      code(on, "/v1/users/\(String(repeating: "u", count: 129))/choices/social") == "malformed_id")
    #expect(code(on, "/v1/users/%ff/choices/social") == "malformed_path")
    let prompt = world.ask(
      "POST", "/v1/users/u-1/devices/d-1/prompt", .app, body: #"{"moment":"a\u0000b"}"#)
    #expect(prompt.status == 400 && prompt.code == "malformed_id")
    #expect(code(on, "/v1/users/u/choices/social?x=1") == "unknown_argument")
  }
}

@Test func aWholeEventIsTheSameRecordAsOnKafka() throws {
  try withAPI { world in
    let event =
      #"{"event_id":"e-1","at":"2026-03-09T22:00:00Z","type":"quiet_hours_set","scope":"account","#
      + #""source":"in_app_settings","quiet_hours":{"start":"22:00","end":"08:00"}"#
    func post(_ body: String, _ role: Role = .app) -> APIWorld.Reply {
      world.ask("POST", "/v1/users/u%2F1/events", role, body: body)
    }
    #expect(post(event + "}").status == 200)
    #expect(post(event + #","user_id":"u/1"}"#).body.contains(#""repeated":true"#))
    #expect(post(event + #","user_id":null}"#).body.contains(#""repeated":true"#))
    #expect(post(event + #","user_id":"u/2"}"#).code == "other_user")
    #expect(post(event + #","user_id":7}"#).code == "wrong_type")
    #expect(
      post(#"{"event_id":"e","at":1773095400000,"type":"default_set","category":"social"}"#, .admin)
        .code == "unknown_type")
    #expect(world.ask("GET", "/v1/users/u%2F1/preferences").body.contains(#""user_id":"u/1""#))
    #expect(world.ask("GET", "/v1/users/u/1/preferences").status == 404)
  }
}

@Test func supportHoldsBackAndReadsButDoesNotChoose() throws {
  try withAPI { world in
    _ = world.ask("PUT", "/v1/users/u-1/devices/d-1", .app, body: phone)
    #expect(world.ask("PUT", "/v1/users/u-1/suppressions/abuse_hold", .support).status == 200)
    #expect(
      world.ask("PUT", "/v1/users/u-1/suppressions/bounced?device_id=d-1", .support).status == 200)
    let held = world.ask("GET", "/v1/users/u-1/preferences").body
    #expect(held.contains(#""suppressions":["abuse_hold"]"#))
    #expect(held.contains(#""suppressions":["bounced"]"#))
    world.clock.advance(ms: 1)
    #expect(world.ask("DELETE", "/v1/users/u-1/suppressions/abuse_hold", .support).status == 200)
    #expect(!world.ask("GET", "/v1/users/u-1/preferences").body.contains("abuse_hold"))
    #expect(world.ask("DELETE", "/v1/users/nobody/suppressions/bounced", .support).status == 404)
    #expect(world.ask("PUT", "/v1/users/u-1/suppressions/grudge", .support).code == "unknown_value")
    let event =
      #"{"event_id":"e","at":1773095400000,"type":"choice_set","scope":"account","#
      + #""category":"social","state":"user-off","source":"in_app_settings"}"#
    #expect(world.ask("POST", "/v1/users/u-1/events", .support, body: event).status == 403)
  }
}

@Test func defaultsChangeWhileRunningAndNeverASecuritysToOff() throws {
  try withAPI { world in
    let both = #"{"default":"off","regulated_default":"off"}"#
    #expect(world.ask("PUT", "/v1/defaults/social", body: both).status == 200)
    let read = world.ask("GET", "/v1/defaults", .app).body
    #expect(
      read.contains(
        #"{"category":"social","default":"off","regulated_default":"off","is_policys":false}"#))
    #expect(
      read.contains(
        #"{"category":"marketing","default":"on","regulated_default":"off","is_policys":true}"#))
    #expect(world.ask("PUT", "/v1/defaults/security", body: both).code == "security_default_off")
    #expect(world.ask("PUT", "/v1/defaults/social", body: "{}").code == "missing")
    #expect(world.ask("PUT", "/v1/defaults/social", body: #"{"default":"on"}"#).code == "missing")
    world.clock.advance(ms: 1)
    #expect(world.ask("DELETE", "/v1/defaults/social").status == 200)
    #expect(!world.ask("GET", "/v1/defaults", .app).body.contains(#""is_policys":false"#))
  }
}

@Test func aDefaultSaidNowComesBehindOneThatIsDatedAhead() throws {
  try withAPI { world in
    func put(_ state: String, at ms: Int64? = nil) -> APIWorld.Reply {
      let at = ms.map { ",\"at\":\($0)" } ?? ""
      return world.ask(
        "PUT", "/v1/defaults/social",
        body: #"{"default":"\#(state)","regulated_default":"\#(state)"\#(at)}"#)
    }
    func set() -> String { world.ask("GET", "/v1/defaults", .app).body }
    let off = #""category":"social","default":"off""#
    #expect(put("on", at: world.clock.read() + 240_000).body.contains("applied"))
    #expect(put("off").body.contains(#""outcome":"applied""#))
    #expect(set().contains(off))
    #expect(put("on", at: world.clock.read()).body.contains(#""outcome":"late""#))
    #expect(world.ask("DELETE", "/v1/defaults/social").body.contains(#""outcome":"applied""#))
    #expect(!set().contains(off) && !set().contains(#""is_policys":false"#))
  }
}

/// Requirements L4.
@Test func aUserIsExportedAndErased() throws {
  try withAPI { world in
    _ = world.ask("PUT", "/v1/users/u-1/choices/marketing", .app, body: on)
    let export = world.ask("GET", "/v1/users/u-1/export", .support)
    #expect(export.status == 200)
    #expect(export.body.contains(#""audit":[{"sequence":1"#))
    world.clock.advance(ms: 1)
    #expect(world.ask("DELETE", "/v1/users/u-1", .support).status == 403)
    #expect(world.ask("DELETE", "/v1/users/u-1").status == 204)
    #expect(world.ask("GET", "/v1/users/u-1/preferences").status == 404)
    #expect(world.ask("GET", "/v1/users/u-1/export").status == 404)
    #expect(world.ask("GET", "/v1/users/u-1/audit").body == #"{"rows":[],"next":null}"#)
    #expect(world.ask("DELETE", "/v1/users/u-1").status == 204, "and once more")
    let late = #"{"state":"user-on","source":"in_app_settings","at":"2026-03-09T22:30:00Z"}"#
    #expect(world.ask("PUT", "/v1/users/u-1/choices/marketing", .app, body: late).code == "erased")
  }
}

/// Whoever asks to be erased is, though the clock was set back since: nothing dated ahead stays.
@Test func anErasureTakesWhatAClockDatedAhead() throws {
  let world = try APIWorld(aheadMs: 300_001)
  defer { world.close() }
  let dated = #"{"state":"user-on","source":"in_app_settings","at":1773095400000}"#
  #expect(world.ask("PUT", "/v1/users/u-1/choices/marketing", .app, body: dated).status == 200)
  #expect(world.ask("DELETE", "/v1/users/u-1").status == 204)
  #expect(world.ask("GET", "/v1/users/u-1/preferences").status == 404)
}

@Test func anErasureUnderAnotherVersionIsNotDone() throws {
  try withAPI { world in
    let body = #"{"state":"user-on","source":"in_app_settings"}"#
    #expect(world.ask("PUT", "/v1/users/u-1/choices/social", .app, body: body).status == 200)
    func erase(_ tag: String) -> Int {
      world.ask("DELETE", "/v1/users/u-1", headers: [HTTPField("If-Match", tag)]).status
    }
    #expect(erase(#""7""#) == 412)
    #expect(world.ask("GET", "/v1/users/u-1/preferences").status == 200)
    #expect(erase(#""1""#) == 204)
    #expect(world.ask("GET", "/v1/users/u-1/preferences").status == 404)
  }
}

@Test func aDeviceIsRemovedUnderTheVersionThatWasRead() throws {
  try withAPI { world in
    func remove(_ tag: String, _ user: String = "u-1") -> APIWorld.Reply {
      world.clock.advance(ms: 1)
      return world.ask(
        "DELETE", "/v1/users/\(user)/devices/d-1", .app, headers: [HTTPField("If-Match", tag)])
    }
    #expect(world.ask("PUT", "/v1/users/u-1/devices/d-1", .app, body: phone).status == 200)
    #expect(remove(#""7""#).code == "version_changed")
    #expect(remove("x").code == "malformed_precondition")
    #expect(remove("*", "nobody").status == 412)
    #expect(world.ask("GET", "/v1/users/u-1/devices/d-1/settings").status == 200)
    #expect(remove(#""1""#).status == 204)
    #expect(world.ask("GET", "/v1/users/u-1/devices/d-1/settings").status == 404)
    #expect(remove("*").status == 204)
  }
}

@Test func aDefaultHasNoVersionToNameAndAlwaysExists() throws {
  try withAPI { world in
    let both = #"{"default":"off","regulated_default":"off"}"#
    for (method, body) in [("PUT", both), ("DELETE", nil)] {
      for (tag, status) in [(#""1""#, 412), (#"W/"1""#, 412), ("x", 400), ("*", 200)] {
        let before = world.ask("GET", "/v1/defaults").body
        let reply = world.ask(
          method, "/v1/defaults/social", body: body, headers: [HTTPField("If-Match", tag)])
        #expect(reply.status == status, "\(method) \(tag)")
        if status == 412 { #expect(reply.code == "no_version") }
        #expect((world.ask("GET", "/v1/defaults").body == before) == (status != 200))
      }
    }
  }
}

@Test func theAuditIsReadPageByPage() throws {
  try withAPI { world in
    for i in 0..<25 {
      world.clock.advance(ms: 1)
      let category = i % 5 == 0 ? "social" : "marketing"
      let body = i % 2 == 0 ? on : off
      #expect(
        world.ask("PUT", "/v1/users/u-1/choices/\(category)", .app, body: body).status == 200)
    }
    func rows(_ query: String) -> (sequences: [Int], next: Int?) {
      let body = world.ask("GET", "/v1/users/u-1/audit?\(query)", .support).body
      let sequences = body.split(separator: "\"sequence\":").dropFirst().map {
        Int($0.prefix { $0.isNumber })!
      }
      let next = body.split(separator: "\"next\":")[1].dropLast()
      return (sequences, Int(next))
    }
    #expect(rows("").sequences == Array(1...25))
    #expect(rows("limit=10").next == 10)
    for (query, wanted) in [
      ("", Array(1...25)), ("category=social&", stride(from: 1, through: 25, by: 5).map { $0 }),
      ("category=marketing&", (1...25).filter { $0 % 5 != 1 }), ("category=security&", []),
    ] {
      for limit in [1, 2, 3, 7, 24, 25, 26, 1000] {
        var found: [Int] = []
        var after = 0
        while true {
          let page = rows("\(query)limit=\(limit)&after=\(after)")
          #expect(page.sequences.count <= limit)
          found += page.sequences
          guard let next = page.next else { break }
          after = next
        }
        #expect(found == wanted, "\(query) \(limit)")
      }
    }
    for bad in [
      "limit=0", "limit=1001", "limit=x", "after=-1", "limit=1&limit=2", "category=x", "after=%3",
    ] {
      #expect(world.ask("GET", "/v1/users/u-1/audit?\(bad)", .support).status == 400, "\(bad)")
    }
  }
}
