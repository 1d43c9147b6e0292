import Gate
import Preferences
import Telemetry
import Testing

@testable import Web

/// Who gets in, how long, and that nobody changes anything in here.
@Suite struct ConsoleAccessTests {
  static let paths = [
    "/console", "/console?q=u-1", "/console/users/u-1", "/console/notifications/n-1",
    "/console/devices/d-1", "/console/charts", "/console/selftest", "/console/reasons",
    "/console/nothing", "/console/users/%ff",
  ]

  @Test func withoutASessionThereIsNoPage() throws {
    try withConsole { world in
      world.cookie = nil
      for path in Self.paths where !path.contains("%ff") {
        for made in [nil, "sendgate_console=", "sendgate_console=guessed", "other=x"] {
          world.cookie = made
          let reply = world.get(path)
          #expect(reply.status == 401, "\(path)")
          #expect(reply.body.contains("name=\"token\""), "\(path)")
          #expect(!reply.body.contains("role=\"search\""), "\(path)")
          #expect(!reply.body.contains("d-1") || path.contains("d-1"), "\(path)")
        }
      }
      // The bearer's header is the API's and opens nothing here.
      world.cookie = nil
      let reply = world.ask("GET", "/console/users/u-1", headers: [world.api.bearer(.admin)])
      #expect(reply.status == 401)
    }
  }

  @Test func rolesAndTokens() throws {
    try withConsole { world in
      for role in Role.allCases {
        world.cookie = nil
        let reply = world.signIn(role)
        let mayEnter = role == .support || role == .admin
        #expect(reply.status == (mayEnter ? 303 : 403), "\(role)")
        #expect((world.cookie != nil) == mayEnter, "\(role)")
        #expect(world.get("/console").status == (mayEnter ? 200 : 401), "\(role)")
      }
      for token in ["", "sgt_unknown", "%", "u-1"] {
        world.cookie = nil
        let reply = world.ask("POST", "/console/login", form: "token=\(token)")
        #expect(reply.status == 401)
        #expect(reply.header("Set-Cookie") == nil)
        #expect(reply.body.contains("role=\"alert\""))
      }
    }
  }

  @Test(arguments: [true, false]) func theCookieIsForTheConsoleAlone(isSecure: Bool) throws {
    try withAPI { api in
      let world = ConsoleWorld(api, isSecure: isSecure)
      let set = try #require(world.signIn().header("Set-Cookie"))
      let parts = set.split(separator: "; ")
      #expect(
        parts.dropFirst().sorted().map(String.init)
          == (["HttpOnly", "Path=/console", "SameSite=Strict"] + (isSecure ? ["Secure"] : [])))
      let id = parts[0].dropFirst("sendgate_console=".count)
      #expect(id.utf8.count == 43)
      #expect(!set.contains(world.api.token(.support)))
      #expect(world.signIn().header("Set-Cookie") != set, "a new one each time")
    }
  }

  @Test func aSessionEnds() throws {
    try withConsole { world in
      #expect(world.get("/console").status == 200)
      // By rest, but not by use.
      for _ in 0..<3 {
        world.api.clock.advance(ms: ConsoleSessions.idleMsMax - 60_000)
        #expect(world.get("/console").status == 200)
      }
      world.api.clock.advance(ms: ConsoleSessions.idleMsMax)
      let over = world.get("/console")
      #expect(over.status == 401)
      #expect(over.body.contains("You were signed out"))
      // By its age.
      world.signIn()
      for _ in 0..<(ConsoleSessions.lifetimeMsMax / 60_000 / 20 - 1) {
        world.api.clock.advance(ms: 20 * 60_000)
        #expect(world.get("/console").status == 200)
      }
      world.api.clock.advance(ms: 20 * 60_000)
      #expect(world.get("/console").status == 401)
      // By signing out.
      world.signIn()
      let cookie = world.cookie
      let out = world.ask("POST", "/console/logout", form: "")
      #expect(out.status == 303)
      #expect(out.header("Set-Cookie")?.contains("Max-Age=0") == true)
      world.cookie = cookie
      #expect(world.get("/console").status == 401)
      // By signing in again: the one before is no longer good.
      world.signIn()
      let first = world.cookie
      world.signIn()
      world.cookie = first
      #expect(world.get("/console").status == 401)
    }
  }

  @Test func aTokenThatIsTakenAwayEndsItsSessions() throws {
    try withConsole { world in
      #expect(world.get("/console").status == 200)
      let others = "web app \(String(repeating: "ab", count: 32))"
      world.api.keeper.replace(try TokenTable(parsing: others))
      #expect(world.get("/console").status == 401)
    }
  }

  @Test func ofTooManySessionsTheOneLongestIdleMakesWay() throws {
    let table = try TokenTable(parsing: TokenTable.line(id: "a", role: .support, token: "t"))
    let entry = try #require(table.entry(for: "t"))
    let sessions = ConsoleSessions()
    let first = sessions.begin(entry, nowMs: 0)
    let second = sessions.begin(entry, nowMs: 1)
    for i in 2..<Int64(ConsoleSessions.countMax) { _ = sessions.begin(entry, nowMs: i) }
    #expect(sessions.bearer(first, nowMs: 5_000) != nil)
    _ = sessions.begin(entry, nowMs: 6_000)
    #expect(sessions.bearer(first, nowMs: 6_001) != nil)
    #expect(sessions.bearer(second, nowMs: 6_001) == nil)
  }

  @Test func formsOfOtherSitesAreRefused() throws {
    try withConsole { world in
      for site in ["cross-site", "same-site"] {
        for path in ["/console/login", "/console/logout"] {
          let reply = world.ask(
            "POST", path, form: "token=\(world.api.token(.support))",
            headers: [HTTPField("Sec-Fetch-Site", site)])
          #expect(reply.status == 403)
          #expect(reply.header("Set-Cookie") == nil)
        }
      }
      #expect(world.get("/console").status == 200, "still signed in")
    }
  }

  @Test(arguments: [
    ("/console", "/console"),
    ("/console/users/u%2F1?before=1-2", "/console/users/u%2F1?before=1-2"),
    ("/console?q=x", "/console?q=x"), ("", "/console"), ("https://evil.example/", "/console"),
    ("//evil.example", "/console"), ("/consolex", "/console"), ("/u/token", "/console"),
    ("/console/\r\nSet-Cookie: a=b", "/console"), ("/console/ü", "/console"),
  ]) func afterSigningInOneIsWhereOneWanted(next: String, expected: String) throws {
    try withConsole { world in
      let reply = world.signIn(next: next)
      let location = try #require(reply.header("Location"))
      #expect(location.hasPrefix(expected))
      #expect(
        location.dropFirst(expected.count) == (expected.contains("?") ? "&lang=en" : "?lang=en"))
    }
  }

  /// Looking changes nothing, and there is nothing to change with.
  @Test func nothingCanBeChangedHere() throws {
    try withConsole { world in
      func everything() -> String {
        world.api.ask("GET", "/v1/users/u-1/preferences").body
          + world.api.ask("GET", "/v1/users/u-1/audit").body
          + world.api.ask("GET", "/v1/defaults").body
      }
      let before = everything()
      world.signIn(.admin)
      for path in Self.paths {
        for method in ["POST", "PUT", "DELETE", "PATCH"] {
          let reply = world.ask(method, path, form: "category=marketing&to=on")
          #expect(reply.status == 405 || reply.status == 400, "\(method) \(path)")
        }
        let page = world.get(path)
        let forms = page.body.split(separator: "<form ").dropFirst()
        for form in forms {
          #expect(form.contains("action=\"/console") && !form.contains("/v1/"), "\(path)")
          let posts = form.prefix { $0 != ">" }.contains("method=\"post\"")
          #expect(!posts || form.contains("/console/logout") || form.contains("/console/login"))
        }
      }
      #expect(everything() == before)
    }
  }

  /// An agent's token opens the console; over HTTP it may look and hold, and choose for nobody.
  @Test func anAgentsTokenCannotChangePreferences() throws {
    try withConsole { world in
      let choice = #"{"state":"user-on","source":"in_app_settings"}"#
      let changes: [(String, String, String?)] = [
        ("PUT", "/v1/users/u-1/choices/marketing", choice),
        ("PUT", "/v1/users/u-1/quiet-hours", #"{"quiet_hours":null,"source":"in_app_settings"}"#),
        (
          "POST", "/v1/users/u-1/events",
          """
          {"event_id":"e","type":"choice_set","category":"marketing","state":"user-on",\
          "source":"admin_override","at":"2026-03-09T22:00:00Z"}
          """
        ),
        ("PUT", "/v1/users/u-1/devices/d-1", #"{"platform":"ios","os_permission":"denied"}"#),
        ("DELETE", "/v1/users/u-1/devices/d-1", nil), ("DELETE", "/v1/users/u-1", nil),
        ("DELETE", "/v1/defaults/social", nil),
        ("PUT", "/v1/defaults/social", #"{"default":"off","regulated_default":"off"}"#),
      ]
      let before = world.api.ask("GET", "/v1/users/u-1/preferences").body
      for (method, path, body) in changes {
        let reply = world.api.ask(method, path, .support, body: body)
        #expect(reply.status == 403, "\(method) \(path): \(reply.body)")
      }
      #expect(world.api.ask("GET", "/v1/users/u-1/preferences").body == before)
    }
  }

  @Test func whoGuessesTokensIsSlowedDown() throws {
    var limits = Gatekeeper.Limits()
    limits.perAddress = RequestRate(perSecond: 1, burst: 3)
    try withAPI(limits: limits) { api in
      let world = ConsoleWorld(api)
      let guesses = (0..<4).map { world.ask("POST", "/console/login", form: "token=g\($0)").status }
      #expect(guesses == [401, 401, 401, 429])
      #expect(world.signIn().status == 303, "who knows a token is let in")
    }
  }

  @Test func methodsAndHeaders() throws {
    try withConsole { world in
      #expect(world.ask("OPTIONS", "/console").header("Allow") == "GET, HEAD, OPTIONS")
      #expect(world.ask("OPTIONS", "/console/login").header("Allow") == "POST, OPTIONS")
      #expect(world.get("/console/login").status == 405)
      #expect(world.ask("HEAD", "/console/users/u-1").status == 200)
      for path in Self.paths {
        let reply = world.get(path)
        let policy = try #require(reply.header("Content-Security-Policy"))
        #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-"), "\(path)")
        #expect(!policy.contains("unsafe") && !policy.contains("script-src"), "\(path)")
        #expect(policy.hasSuffix("form-action 'self'; base-uri 'none'; frame-ancestors 'none'"))
        #expect(reply.header("Referrer-Policy") == "no-referrer")
        for piece in ["<script", " style=", " onclick=", "javascript:", "http-equiv"] {
          #expect(!reply.body.contains(piece), "\(path)")
        }
      }
      #expect(world.get("/console/users/%ff").status == 400)
      #expect(world.get("/console/nothing").status == 404)
      #expect(
        world.console.respond(to: HTTPRequest(method: "GET", path: "/consolex")) == nil)
    }
  }

  @Test func aStoreThatIsGoneIsAPageAndNoCrash() throws {
    try withConsole { world in
      world.evidence.set { $0.failure = .overloaded(waiting: 1) }
      let reply = world.get("/console/users/u-1")
      #expect(reply.status == 503)
      #expect(reply.body.contains("That did not work just now"))
    }
  }
}
