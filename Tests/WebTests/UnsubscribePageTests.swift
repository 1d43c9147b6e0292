import Gate
import Preferences
import Testing

@testable import Web

@Test func muteUndoAndAllSettings() throws {
  try withPages { world in
    let token = world.token()
    let asked = world.ask("GET", "/u/\(token)")
    #expect(asked.status == 200)
    #expect(asked.body.contains("Mute Marketing notifications?"))
    #expect(asked.formToken == token)
    #expect(world.choice(.marketing) == .unset)

    let muted = world.ask("POST", "/u/\(token)", body: "")
    #expect(muted.status == 200)
    #expect(muted.body.contains("<h1>Marketing notifications are now muted</h1>"))
    #expect(world.choice(.marketing) == .userOff)
    #expect(world.choice(.social) == .unset)
    let consent = world.api.ask(
      "GET", "/v1/users/u-1/consent?category=marketing&at=\(world.api.clock.read())")
    #expect(consent.body.contains(#""source":"unsubscribe_link""#))

    let settings = world.ask("GET", "/s/" + (muted.value(after: "href=\"../s/") ?? ""))
    #expect(settings.status == 200 && settings.body.contains("Notification settings"))

    let undo = muted.formToken ?? ""
    #expect(undo != token)
    #expect(world.ask("GET", "/u/\(undo)").body.contains("Undo muting"))
    #expect(world.choice(.marketing) == .userOff, "opening an undo link undoes nothing")
    let undone = world.ask("POST", "/u/\(undo)", body: "once=\(muted.once ?? "")")
    #expect(undone.body.contains("<h1>Undone</h1>"))
    #expect(world.choice(.marketing) == .unset)
    #expect(world.ask("GET", "/u/\(undo)").body.contains("<h1>Undone</h1>"))
  }
}

/// The consent of before comes back with the time and the source it had.
@Test func undoingBringsBackWhatWasThere() throws {
  try withPages { world in
    world.choose("social", "user-on")
    let before = world.user?.account.choices[.social]?.inForce
    let muted = world.ask("POST", "/u/\(world.token(.unsubscribe, .social))")
    _ = world.ask("POST", "/u/\(muted.formToken ?? "")", body: "once=\(muted.once ?? "")")
    #expect(
      world.user?.account.choices[.social]?.inForce == before)
    #expect(before?.source == .inAppSettings)
  }
}

@Test func aRepeatChangesNothing() throws {
  try withPages { world in
    let token = world.token()
    let first = world.ask("POST", "/u/\(token)", body: "List-Unsubscribe=One-Click")
    let after = world.everything()
    for _ in 0..<3 {
      let again = world.ask("POST", "/u/\(token)", body: "List-Unsubscribe=One-Click")
      #expect(again.body.contains("are now muted"))
      #expect(world.everything() == after)
    }
    // A used link does not undo an undo, and says so; its page can mute again.
    let undo = first.formToken ?? ""
    let form = "once=\(first.once ?? "")"
    _ = world.ask("POST", "/u/\(undo)", body: form)
    let undone = world.everything()
    let used = world.ask("POST", "/u/\(token)")
    #expect(used.body.contains("Marketing notifications are not muted"))
    _ = world.ask("POST", "/u/\(undo)", body: form)
    #expect(world.everything() == undone)

    let again = world.ask("POST", "/u/\(token)", body: "once=\(used.once ?? "")")
    #expect(again.body.contains("are now muted"))
    #expect(world.choice(.marketing) == .userOff)
    let muted = world.everything()
    // The old undo form again: it was for the mute before.
    let late = world.ask("POST", "/u/\(undo)", body: form)
    #expect(late.body.contains("Undo muting"), "it says what is, and leaves it")
    #expect(world.everything() == muted)
  }
}

@Test(arguments: [
  ("List-Unsubscribe=One-Click", "application/x-www-form-urlencoded"),
  (
    "--b\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--b--\r\n",
    "multipart/form-data; boundary=b"
  ), ("", "application/x-www-form-urlencoded"), ("\u{0}%%%&&==", "text/plain"),
])
func anyBodyOfAPostMutes(body: String, type: String) throws {
  try withPages { world in
    let reply = world.ask("POST", "/u/\(world.token())", body: body, type: type)
    #expect(reply.status == 200)
    #expect(world.choice(.marketing) == .userOff)
  }
}

/// RFC 8058: somebody pressed a button just now, whatever was chosen since the link was first used.
@Test(arguments: [
  ("List-Unsubscribe=One-Click", "application/x-www-form-urlencoded"),
  (
    "--b\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--b--\r\n",
    "multipart/form-data; boundary=b"
  ),
])
func aOneClickMutesWhateverWasChosenSince(body: String, type: String) throws {
  try withPages { world in
    let path = "/u/\(world.token())"
    for _ in 0..<3 {
      let muted = world.ask("POST", path, body: body, type: type)
      #expect(muted.status == 200 && muted.body.contains("are now muted"))
      #expect(world.choice(.marketing) == .userOff)
      let before = world.everything()
      _ = world.ask("POST", path, body: body, type: type)
      #expect(world.everything() == before, "off already")
      world.choose("marketing", "user-on")
      #expect(world.ask("POST", path).body.contains("are not muted"), "a page loaded again")
      #expect(world.choice(.marketing) == .userOn)
    }
    // Also where it was undone, and the undoing leads back to what was before.
    let muted = world.ask("POST", path, body: body, type: type)
    let undo = "/u/\(muted.formToken ?? "")"
    _ = world.ask("POST", undo, body: "once=\(muted.once ?? "")")
    #expect(world.choice(.marketing) == .userOn)
    _ = world.ask("POST", path, body: body, type: type)
    #expect(world.choice(.marketing) == .userOff)
  }
}

@Test func onlyAPostChangesAnything() throws {
  try withPages { world in
    let before = world.everything()
    for (path, status) in [
      ("/u/\(world.token())", 200), ("/u/\(world.token(.undo))", 200),
      ("/s/\(world.token(.settings, nil))", 200),
      ("/s/\(world.token(.settings, nil))?category=social&to=off&changed=social", 200),
    ] {
      for method in ["GET", "HEAD"] {
        #expect(world.ask(method, path).status == status)
        #expect(world.ask(method, path, body: "category=social&to=off").status == status)
      }
      #expect(world.ask("OPTIONS", path).header("Allow") == "GET, HEAD, POST, OPTIONS")
      for method in ["PUT", "DELETE", "PATCH", "get", "PROPFIND"] {
        #expect(world.ask(method, path).status == 405)
      }
    }
    #expect(world.everything() == before)
  }
}

/// One page whatever is wrong, and nothing is written.
@Test func aLinkThatIsNoGood() throws {
  try withPages { world in
    let good = world.token()
    let other = LinkKeys(secrets: [7: [UInt8](repeating: 8, count: 32)], signingID: 7)
    let unknown = LinkKeys(secrets: [9: [UInt8](repeating: 7, count: 32)], signingID: 9)
    var bad = [
      "/u/" + world.token(keys: other), "/u/" + world.token(keys: unknown),
      "/u/" + world.token(livesSeconds: 0), "/u/" + world.token(user: "u-2"),
      "/u/" + world.token(.settings, nil), "/u/" + world.token(.unsubscribe, .security),
      "/u/" + world.token(.unsubscribe, .transactional), "/u/" + world.token(.undo, .security),
      "/u/" + world.token(.unsubscribe, nil), "/s/" + good, "/s/" + world.token(.undo),
      "/s/" + world.token(.settings, .marketing), "/s/" + world.token(.settings, nil, user: "u-2"),
      "/u/" + good + "A", "/u/" + good + "/", "/u/%", "/u/%00", "/u/é", "/u/", "/u", "/s/", "/s",
      "/u/" + String(repeating: "A", count: 5_000),
    ]
    bad += good.indices.map { "/u/" + good[..<$0] }
    bad += good.indices.map { at in
      var changed = good
      changed.replaceSubrange(at...at, with: changed[at] == "B" ? "C" : "B")
      return "/u/" + changed
    }
    let before = world.everything()
    var pages: Set<String> = []
    for path in bad {
      for method in ["GET", "POST"] {
        let reply = world.ask(method, path, body: "category=social&to=off&once=")
        #expect(reply.status == 404, "\(method) \(path)")
        pages.insert(reply.body)
      }
    }
    #expect(pages.count == 1)
    #expect(pages.first?.contains("This link is no longer good") == true)
    #expect(world.everything() == before)
  }
}

@Test func anErasedUserHasNoLinks() throws {
  try withPages { world in
    let (token, settings) = (world.token(), world.token(.settings, nil))
    _ = world.ask("POST", "/u/\(token)")
    world.api.clock.advance(ms: 1_000)
    #expect(world.api.ask("DELETE", "/v1/users/u-1").status == 204)
    for (method, path) in [
      ("GET", "/u/\(token)"), ("POST", "/u/\(token)"), ("GET", "/s/\(settings)"),
      ("POST", "/s/\(settings)"),
    ] {
      #expect(world.ask(method, path).status == 404)
    }
    #expect(world.user == nil)
  }
}

/// A phone whose clock is ahead has made a choice; who mutes after that has muted.
@Test func aClockAheadDoesNotOutrankTheLink() throws {
  try withPages { world in
    let at = world.api.clock.read() + 200_000
    let on =
      #"{"event_id":"e","at":\#(at),"type":"choice_set","scope":"account","category":"social","#
      + #""state":"user-on","source":"in_app_settings"}"#
    #expect(world.api.ask("POST", "/v1/users/u-1/events", body: on).status == 200)
    let muted = world.ask("POST", "/u/\(world.token(.unsubscribe, .social))")
    #expect(world.choice(.social) == .userOff)
    _ = world.ask("POST", "/u/\(muted.formToken ?? "")")
    #expect(world.choice(.social) == .userOn)
  }
}

@Test func whatWasMutedElsewhereHasNoUndo() throws {
  try withPages { world in
    let token = world.token()
    _ = world.ask("POST", "/u/\(token)")
    world.choose("marketing", "user-off")
    let again = world.ask("POST", "/u/\(token)")
    #expect(again.body.contains("are now muted"))
    #expect(again.formToken == nil)
  }
}

@Test func whoComesTooOftenWaits() throws {
  try withAPI { api in
    var limits = Gatekeeper.Limits()
    limits.perAddress = RequestRate(perSecond: 1, burst: 2)
    let world = try PagesWorld(api, limits: limits)
    world.device()
    let answers = (0..<3).map { _ in
      world.ask("POST", "/u/x", headers: [HTTPField("Accept-Language", "zh")])
    }
    #expect(answers.map(\.status) == [404, 404, 429])
    #expect(answers[2].header("Retry-After") != nil)
    #expect(answers[2].body.contains("<h1>请求过于频繁</h1>"))
  }
}

/// The token stands in the address, so that no page may tell it to anybody.
@Test func everyPageIsShutIn() throws {
  try withPages { world in
    let token = world.token()
    let settings = world.token(.settings, nil)
    let replies = [
      world.ask("GET", "/u/\(token)"), world.ask("POST", "/u/\(token)"),
      world.ask("GET", "/s/\(settings)"), world.ask("GET", "/u/none"),
      world.ask("POST", "/s/\(settings)"),
      world.ask(
        "POST", "/s/\(settings)", body: "category=social&to=off&once=\(LinkActions.newOnce())"),
    ]
    #expect(replies.map(\.status) == [200, 200, 200, 404, 400, 303])
    for reply in replies {
      let policy = reply.header("Content-Security-Policy") ?? ""
      #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-"))
      #expect(policy.hasSuffix("form-action 'self'; base-uri 'none'; frame-ancestors 'none'"))
      #expect(!policy.contains("unsafe"))
      #expect(reply.header("Referrer-Policy") == "no-referrer")
      #expect(reply.header("X-Robots-Tag") == "noindex, nofollow")
      #expect(reply.header("Set-Cookie") == nil)
      guard let main = reply.body.firstRange(of: "<main>") else { continue }
      // Nothing of elsewhere, nothing inline that the policy does not name.
      var shown = reply.body[main.lowerBound...]
      if let script = shown.firstRange(of: "<script>") { shown = shown[..<script.lowerBound] }
      for part in ["http:", "https:", "//", " style=", "<img", "<link", "<iframe"] {
        #expect(!shown.contains(part), "\(part)")
      }
      #expect(!shown.contains(/\son[a-z]+ *=/))
    }
    #expect(replies[0].body.contains("<script>") && !replies[1].body.contains("<script>"))
  }
}

@Test func thePagesSpeakTheVisitorsLanguage() throws {
  try withPages { world in
    let token = world.token()
    let chinese = [HTTPField("Accept-Language", "zh-CN,zh;q=0.9")]
    let asked = world.ask("GET", "/u/\(token)", headers: chinese)
    #expect(asked.body.contains("<html lang=\"zh-Hans\">"))
    #expect(asked.header("Content-Language") == "zh-Hans")
    #expect(asked.body.contains("\(token)?lang=zh\""), "the form keeps the language")
    let muted = world.ask("POST", "/u/\(token)?lang=zh")
    #expect(muted.body.contains("<h1>营销通知现已关闭</h1>"))
    #expect(muted.body.contains("?lang=en\" hreflang=\"en\" lang=\"en\">English"))
    let english = world.ask("POST", "/u/\(token)?lang=en", headers: chinese)
    #expect(english.body.contains("Marketing notifications are now muted"))
  }
}
