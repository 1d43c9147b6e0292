import Gate
import Preferences
import Testing

@testable import Evidence
@testable import Web

/// What pages, API and command line are made of.
@Suite struct DeskTests {
  private func now(_ world: ConsoleWorld, _ user: String = "u-1") throws -> NowAnswer {
    try world.api.desk.now(Identifier(user), try world.api.service.user(Identifier(user)))
  }

  private func choose(_ world: ConsoleWorld, _ category: String, _ state: String) {
    let reply = world.api.ask(
      "PUT", "/v1/users/u-1/choices/\(category)", .app,
      body: #"{"state":"\#(state)","source":"in_app_settings"}"#)
    precondition(reply.status == 200, reply.body)
  }

  @Test func theNowPanelIsTheGatesOwnAnswer() throws {
    try withConsole { world in
      func reasons() throws -> [String] {
        let answer = try now(world)
        return Category.allCases.map { answer["d-1", $0]?.reason ?? "-" }
      }
      // 22:30 UTC, 23:30 in Berlin.
      #expect(try reasons() == ["ok", "ok", "ok", "no_gdpr_consent"])
      choose(world, "marketing", "user-on")
      choose(world, "social", "user-off")
      world.api.clock.advance(ms: 1)
      #expect(try reasons() == ["ok", "ok", "account_opted_out", "ok"])
      let quiet = world.api.ask(
        "PUT", "/v1/users/u-1/quiet-hours", .app,
        body: """
          {"quiet_hours":{"start":"22:00","end":"07:00"},"source":"in_app_settings"}
          """)
      #expect(quiet.status == 200, "\(quiet.body)")
      #expect(
        try reasons()
          == [
            "quiet_hours_deferred", "quiet_hours_bypassed", "account_opted_out",
            "quiet_hours_dropped",
          ])
      let held = try #require(try now(world)["d-1", .transactional])
      #expect(held.deliverAfterMs == Instant.parse(text: "2026-03-10T06:00:00Z"))
      #expect(held.values.quietHours.timezone == "Europe/Berlin")
      #expect(
        try now(world)["d-1", .social]?.blockedBy == ["account_opted_out", "quiet_hours_dropped"])
    }
  }

  @Test func clocksElsewhere() throws {
    try withConsole { world in
      let panel = world.api.desk.panel
      let ms = try #require(Instant.parse(text: "2026-03-09T22:30:00Z"))
      #expect(panel.localTime(ms, in: "Europe/Berlin") == "2026-03-09 23:30")
      #expect(panel.localTime(ms, in: "America/New_York") == "2026-03-09 18:30")
      for zone in ["", "Europe/Nowhere", "<b>", "europe/berlin"] {
        #expect(panel.localTime(ms, in: zone) == nil)
      }
    }
  }

  @Test func theNowPanelKnowsDefaultsAndForgetsUsers() throws {
    try withConsole { world in
      #expect(try now(world)["d-1", .social]?.reason == "ok")
      let reply = world.api.ask(
        "PUT", "/v1/defaults/social", .admin,
        body: #"{"default":"off","regulated_default":"off"}"#)
      #expect(reply.status == 200)
      #expect(try now(world)["d-1", .social]?.reason == "category_default_off")
      world.api.clock.advance(ms: 5)
      #expect(world.api.ask("DELETE", "/v1/defaults/social", .admin).status == 200)
      #expect(try now(world)["d-1", .social]?.reason == "ok")
      let unknown = try now(world, "nobody")
      #expect(unknown.devices == [nil])
      #expect(unknown.decisions.map(\.reason) == Array(repeating: "unknown_user", count: 4))
      #expect(unknown.preferenceVersion == nil)
      #expect(world.api.ask("DELETE", "/v1/users/u-1/devices/d-1", .admin).status == 204)
      #expect(try now(world).decisions.map(\.reason) == Array(repeating: "no_devices", count: 4))
      #expect(world.api.ask("DELETE", "/v1/users/u-1", .admin).status == 204)
      #expect(try now(world).decisions.allSatisfy { $0.reason == "unknown_user" })
    }
  }

  @Test func idsOfEveryKindReachTheNowPanel() throws {
    try withConsole { world in
      for id in ["\"", "\\", "é", "a/b", "中", String(repeating: "x", count: 128)] {
        world.device("d", of: PercentText.encode(id))
        let panel = try now(world, id)
        #expect(panel["d", .security]?.reason == "ok", "\(id)")
      }
    }
  }

  // MARK: Figures

  /// Against the gate's own verdict for each user at each hour.
  @Test func theQuietMapCountsWhomTheGateWouldKeepWaiting() throws {
    try withConsole { world in
      let windows = [
        nil, #"{"start":"22:00","end":"07:00"}"#, #"{"start":"09:00","end":"09:30"}"#,
        #"{"start":"00:00","end":"24:00","days":["tue"]}"#,
      ]
      for (index, window) in windows.enumerated() {
        let user = "q-\(index)"
        world.device("q-d-\(index)", of: user)
        guard let window else { continue }
        let reply = world.api.ask(
          "PUT", "/v1/users/\(user)/quiet-hours", .app,
          body: #"{"quiet_hours":\#(window),"source":"in_app_settings"}"#)
        #expect(reply.status == 200, "\(reply.body)")
      }
      // A second device whose own setting is that it is never quiet there.
      world.device("d-9", of: "q-1")
      let none = world.api.ask(
        "PUT", "/v1/users/q-1/quiet-hours", .app,
        body: #"{"quiet_hours":null,"device_id":"d-9","source":"in_app_settings"}"#)
      #expect(none.status == 200, "\(none.body)")
      let map = world.api.desk.quietMap
      #expect(map.answer == nil)
      try map.renew(while: { false })
      #expect(map.answer == nil, "half a count is none")
      try map.renew(while: { true })
      let answer = try #require(map.answer)
      // u-1 has no window; q-0 neither.
      #expect(answer.population == 5)
      let began = world.nowMs / 3_600_000 * 3_600_000
      #expect(answer.fromMs == began)
      for hour in 0..<24 {
        world.api.clock.advance(ms: began + Int64(hour) * 3_600_000 - world.nowMs)
        let quiet = try ["u-1", "q-0", "q-1", "q-2", "q-3"].count { user in
          try now(world, user).decisions.contains { $0.values.quietHours.isInside == true }
        }
        #expect(answer.users[hour] == quiet, "\(hour)")
      }
      #expect(Set(answer.users).count > 1)
      world.api.clock.advance(ms: 3_600_000)
      world.signIn()
      #expect(world.get("/console/charts").body.contains("over 5 users"))
    }
  }

  @Test func decisionsByReasonKeepEveryCount() {
    let reasons = ReasonRegistry.shared.entries.map(\.code)
    let counts = reasons.enumerated().map { index, reason in
      OutcomeCount(
        hourMs: Int64(index % 24) * 3_600_000, outcome: .dropped, category: "social",
        reason: reason, count: Int64(index + 1))
    }
    let series = ChartsPage.series(
      OutcomeFigures(fromMs: 0, hours: 24, counts: counts), other: "others")
    #expect(series.count == 9)
    #expect(Set(series.map(\.tone)).count == 9)
    #expect(series[0].name == "ok" && series[1].name == "quiet_hours_deferred")
    #expect(series.last?.name == "others")
    let total = series.flatMap(\.values).reduce(0, +)
    #expect(total == counts.map(\.count).reduce(0, +))
    #expect(ChartsPage.series(OutcomeFigures(fromMs: 0, hours: 24, counts: []), other: "").isEmpty)
  }

  @Test func chartsHaveRoundNumbers() {
    for value in [1, 4, 5, 9, 11, 13, 99, 100, 101, 5_001, 123_456_789] as [Int64] {
      let top = BarChart.ceiling(value)
      #expect(top >= value && top < value * 4 + 4 && top % 4 == 0, "\(value) \(top)")
    }
    #expect(BarChart.grouped(1_234_567) == "1,234,567")
    #expect(BarChart.grouped(12) == "12")
    #expect(BarChart.text(-0.04) == "0" && BarChart.text(12.34) == "12.3")
  }

  @Test func holdsOfTheComingDayAreByTheHour() throws {
    try withConsole { world in
      let began = world.nowMs / 3_600_000 * 3_600_000
      world.evidence.set {
        $0.holds = [-1, 0, 0, 23, 24].map {
          HoldsDue(hourMs: began + $0 * 3_600_000, count: 2)
        }
      }
      let figures = try world.api.desk.holdsDue()
      #expect(figures.counts == [4] + Array(repeating: 0, count: 22) + [2])
      let body = world.get("/console/charts").body
      #expect(body.contains("6 in all; most in one hour: 4"))
    }
  }

  // MARK: Pages

  /// More changes than fit on a page, with decisions among them: every one of both is on some page, once.
  @Test func noChangeIsLeftOutBetweenPages() throws {
    try withConsole { world in
      var attempts: [EvidenceAttempt] = []
      let count = SupportDesk.pageChanges * 2 + 30
      for number in 0..<count {
        world.api.clock.advance(ms: 1)
        choose(world, "social", number % 2 == 0 ? "user-off" : "user-on")
        if number % 50 == 0 {
          attempts.append(.made(Int64(number + 1), notification: "n-\(number)", atMs: world.nowMs))
        }
      }
      world.evidence.set { $0.attempts = attempts }
      var changes: [Int64] = []
      var decisions: [Int64] = []
      var place: (before: EvidenceCursor, untilMs: Int64)?
      repeat {
        let story = try #require(
          try world.api.desk.user(
            Identifier("u-1"), before: place?.before, untilMs: place?.untilMs ?? .max))
        for item in story.timeline.items {
          switch item {
          case .decisions(let group): decisions += group.map(\.sequence)
          case .change(let row): changes.append(row.sequence)
          }
        }
        place = story.next.map { ($0, story.nextUntilMs) }
      } while place != nil && changes.count < 2 * count
      let all = try #require(
        try world.api.service.audit(of: Identifier("u-1"), limit: 10 * count))
      #expect(changes == all.map(\.sequence).reversed())
      #expect(decisions == attempts.map(\.sequence).reversed())
    }
  }

  // MARK: The same as JSON and on a terminal

  @Test func theAPISaysTheSameWithoutWhatIsPrivate() throws {
    try withConsole { world in
      world.evidence.set {
        $0.attempts = [
          ConsoleEscapingTests.attempt("x\"\\\u{1}y", .approved, atMs: world.nowMs)
        ]
      }
      for path in [
        "users/u-1", "users/u-1/now", "outcomes?hours=3", "holds-due",
        "state",
      ] {
        let reply = world.api.ask("GET", "/v1/evidence/\(path)", .support)
        #expect(reply.status == 200, "\(path) \(reply.body)")
        #expect(JSONNode(Array(reply.body.utf8)) != nil, "\(path)")
        #expect(!reply.body.contains("secret"), "\(path)")
      }
      let story = try #require(
        JSONNode(Array(world.api.ask("GET", "/v1/evidence/users/u-1").body.utf8)))
      let decision = try #require(story["items"].elements.first?["decision"])
      #expect(decision["reason"].text == "x\"\\\u{1}y")
      #expect(decision["receipts"].elements.count == 4)
      #expect(story["items"].elements.contains { $0["change"]["kind"].text == "device_claimed" })
      #expect(story["now"]["decisions"].elements.count == 4)
      #expect(world.api.ask("GET", "/v1/evidence/quiet-hours").code == "not_counted")
      #expect(world.api.ask("GET", "/v1/evidence/users/nobody").code == "unknown_user")
      #expect(world.api.ask("GET", "/v1/evidence/notifications/no").code == "unknown_notification")
      #expect(world.api.ask("GET", "/v1/evidence/devices/no").code == "unknown_device")
      #expect(world.api.ask("GET", "/v1/evidence/users/nobody/now").status == 200)
      for bad in ["before=1", "before=01-2", "limit=0", "limit=501", "until=-1", "x=1"] {
        #expect(world.api.ask("GET", "/v1/evidence/users/u-1?\(bad)").status == 400, "\(bad)")
      }
    }
  }

  @Test func theTerminalSaysTheSame() throws {
    try withConsole { world in
      let at = world.nowMs - 5_000
      world.evidence.set {
        $0.attempts = [
          .made(1, notification: "n-no", atMs: at),
          EvidenceAttempt.made(2, .approved, reason: "ok", notification: "n-yes", atMs: at + 1)
            .with { $0.receipts = [.made(.accepted, atMs: at + 2)] },
        ]
      }
      let text = ExplainText(desk: world.api.desk, language: "en")
      let story = try #require(try text.user(Identifier("u-1"), limit: 10))
      for words in [
        "What would happen now", "Marketing: Dropped, no_gdpr_consent", "n-no",
        "The user switched this category off for the account.", "Who can act: the user",
        "Accepted by the provider: ", "Not reported as seen", "Device came to the user",
      ] { #expect(story.contains(words), "\(words)") }
      let one = try #require(try text.notification(Identifier("n-no"), user: Identifier("u-1")))
      #expect(one.contains("n-no") && !one.contains("n-yes"))
      #expect(try text.notification(Identifier("n-no"), user: Identifier("other")) == nil)
      #expect(try text.user(Identifier("nobody"), limit: 10) == nil)
      #expect(story.contains("System permission: –") && story.contains("UTC"))
      #expect(story.contains("has not said how far it is"), "an index that is behind says so")
      world.evidence.set {
        $0.lag = EvidenceLag(freshAtMs: world.nowMs, recordsBehind: 0, newestMs: nil)
        $0.attempts = (0..<600).map { number in
          .made(Int64(number), notification: "same", user: "u-\(number)", atMs: world.nowMs)
        }
      }
      let fresh = try #require(try text.user(Identifier("u-1"), limit: 1))
      #expect(!fresh.contains("has not said"))
      let late = try text.notification(Identifier("same"), user: Identifier("u-599"))
      #expect(late?.contains("account_opted_out") == true, "one of very many of the same id")
      let page = world.get("/console/notifications/same").body
      #expect(page.contains("Only the first 500 decisions are shown."))
      let chinese = ExplainText(desk: world.api.desk, language: "zh")
      #expect(try #require(try chinese.user(Identifier("u-1"), limit: 1)).contains("此刻会发生什么"))
    }
  }
}
