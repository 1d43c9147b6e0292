import Gate
import Preferences
import Testing

@testable import Evidence
@testable import Web

/// What the pages say.
@Suite struct ConsolePagesTests {
  private func approved(
    _ sequence: Int64, _ receipts: [EvidenceReceipt], atMs: Int64
  ) -> EvidenceAttempt {
    EvidenceAttempt.made(sequence, .approved, reason: "ok", atMs: atMs)
      .with { $0.receipts = receipts }
  }

  @Test func acceptedAndSeenAreTwoMarks() throws {
    try withConsole { world in
      let at = world.nowMs - 60_000
      let accepted = EvidenceReceipt.made(.accepted, atMs: at + 1)
      let seen = EvidenceReceipt.made(.userObserved, atMs: at + 2, via: "tap")
      let rejected = EvidenceReceipt.made(.rejected, atMs: at + 1, code: "BadDeviceToken")
      // What is asked for: filled provider's, filled user's, in words.
      let table: [([EvidenceReceipt], [String], [String])] = [
        ([], ["No answer of the provider", "Not reported as seen"], ["is-given", "is-saw"]),
        ([accepted], ["is-given", "Not reported as seen", "APNs"], ["is-saw", "No answer"]),
        ([accepted, seen], ["is-given", "is-saw", "by a tap"], ["No answer", "Not reported"]),
        ([seen], ["No answer of the provider", "is-saw"], ["is-given"]),
        ([rejected], ["is-refused", "BadDeviceToken", "Not reported as seen"], ["is-given"]),
        ([rejected, accepted], ["is-given"], ["is-refused"]),
      ]
      for (receipts, there, absent) in table {
        world.evidence.set { $0.attempts = [approved(1, receipts, atMs: at)] }
        for path in ["/console/users/u-1", "/console/notifications/n-1", "/console/devices/d-1"] {
          let body = world.get(path).body
          let track = try #require(body.split(separator: "<ol class=\"track\">").last)
          let own = String(track.split(separator: "</ol>")[0])
          for text in there { #expect(own.contains(text), "\(path) \(text)") }
          for text in absent { #expect(!own.contains(text), "\(path) \(text)") }
          #expect(body.contains("That says nothing of a phone having shown it."))
        }
      }
    }
  }

  @Test func everyReasonIsShownInWords() throws {
    try withConsole { world in
      for (index, entry) in ReasonRegistry.shared.entries.enumerated() {
        let outcome = EvidenceAttempt.Outcome(rawValue: "\(entry.outcome.name)")!
        world.evidence.set {
          $0.attempts = [
            .made(Int64(index), outcome, reason: entry.code, atMs: world.nowMs - 1_000)
          ]
        }
        for language in PageLanguage.allCases {
          let body = world.get("/console/users/u-1?lang=\(language.rawValue)").body
          #expect(body.contains(HTML.marked(entry.words[language]).text), "\(entry.code)")
          guard outcome != .approved else { continue }
          #expect(body.contains(HTML.marked(entry.remedy[language]).text), "\(entry.code)")
          for who in entry.who { #expect(body.contains(HTML.escaped(who[language]))) }
        }
      }
    }
  }

  @Test func changesStandBetweenTheDecisions() throws {
    try withConsole { world in
      let before = world.nowMs - 10
      world.api.clock.advance(ms: 1_000)
      let reply = world.api.ask(
        "PUT", "/v1/users/u-1/choices/marketing", .app,
        body: #"{"state":"user-off","source":"in_app_settings"}"#)
      #expect(reply.status == 200)
      world.api.clock.advance(ms: 1_000)
      world.evidence.set {
        $0.attempts = [
          .made(1, .approved, reason: "ok", notification: "n-old", atMs: before),
          .made(2, notification: "n-new", atMs: world.nowMs),
        ]
      }
      let body = world.get("/console/users/u-1").body
      let new = try #require(body.firstRange(of: "notifications/n-new"))
      let change = try #require(body.firstRange(of: "off, by the user</bdi>"))
      let old = try #require(body.firstRange(of: "notifications/n-old"))
      #expect(new.lowerBound < change.lowerBound && change.lowerBound < old.lowerBound)
    }
  }

  @Test func holdAndReleaseLeadToEachOther() throws {
    try withConsole { world in
      let at = world.nowMs - 3_600_000
      let hold = EvidenceAttempt.made(11, .deferred, reason: "quiet_hours_deferred", atMs: at)
        .with {
          $0.deliverAfterMs = at + 60_000
          $0.releasedAs = 12
        }
      let released = EvidenceAttempt.made(12, .approved, reason: "released", atMs: at + 60_000)
        .with {
          $0.held = EvidenceHold(decidedAtMs: at, deliverAfterMs: at + 60_000)
          $0.heldAs = 11
        }
      world.evidence.set { $0.attempts = [hold, released] }
      for path in ["/console/users/u-1", "/console/notifications/n-1"] {
        let body = world.get(path).body
        for sequence in [11, 12] {
          #expect(body.contains("/console/notifications/n-1?lang=en#a\(sequence)\""), "\(path)")
          #expect(body.contains("id=\"a\(sequence)\""), "\(path)")
        }
      }
      world.evidence.set {
        $0.attempts = [
          hold.with {
            $0.releasedAs = nil
            $0.isOpenHold = true
          }
        ]
      }
      #expect(world.get("/console/users/u-1").body.contains("Still waiting"))
    }
  }

  @Test func searchLeadsToWhatItFinds() throws {
    try withConsole { world in
      world.evidence.set {
        $0.attempts = [.made(1, notification: "same", user: "same", atMs: world.nowMs)]
      }
      #expect(
        world.get("/console?q=u-1").header("Location") == "/console/users/u-1?lang=en")
      #expect(world.get("/console?q=d-1").header("Location") == "/console/devices/d-1?lang=en")
      let several = world.get("/console?q=same")
      #expect(several.status == 200)
      #expect(several.body.contains("/console/users/same?"))
      #expect(several.body.contains("/console/notifications/same?"))
      #expect(!several.body.contains("/console/devices/same?"))
      let nothing = world.get("/console?q=nobody%22")
      #expect(nothing.status == 200)
      #expect(nothing.body.contains("Nothing is kept under nobody&quot;."))
      #expect(world.get("/console?q=%00").status == 200)
      #expect(world.get("/console/users/nobody").status == 404)
      #expect(world.get("/console/notifications/nobody").status == 404)
      #expect(world.get("/console/devices/nobody").status == 404)
    }
  }

  @Test func pagesLeadToOlderOnesAndBack() throws {
    try withConsole { world in
      let at = world.nowMs - 1_000_000
      let count = SupportDesk.pageAttempts + 5
      world.evidence.set {
        $0.attempts = (0..<count).map {
          .made(Int64($0), notification: "n-\($0)", atMs: at + Int64($0) * 100)
        }
      }
      let first = world.get("/console/users/u-1").body
      let link = try #require(
        first.split(separator: "\"").first { $0.contains("before=") }.map(String.init))
      let second = world.get(link.replacing("&amp;", with: "&"))
      #expect(second.status == 200)
      for index in 0..<count {
        let isNew = index >= count - SupportDesk.pageAttempts
        #expect(first.contains("notifications/n-\(index)?") == isNew, "\(index)")
        #expect(second.body.contains("notifications/n-\(index)?") == !isNew, "\(index)")
      }
      #expect(!second.body.contains("before=\(at)") && second.body.contains("Newest"))
      #expect(world.get("/console/users/u-1?before=x").status == 400)
    }
  }

  @Test func theIndexSaysHowFarItIs() throws {
    try withConsole { world in
      let now = world.nowMs
      let table: [(EvidenceLag, String)] = [
        (EvidenceLag(freshAtMs: nil, recordsBehind: nil, newestMs: nil), "has not said"),
        (EvidenceLag(freshAtMs: now, recordsBehind: 0, newestMs: now), "is up to date"),
        (EvidenceLag(freshAtMs: now - 60_000, recordsBehind: 812, newestMs: now), "812 records"),
        (EvidenceLag(freshAtMs: now - 60_000, recordsBehind: 0, newestMs: now), "is not known"),
        (EvidenceLag(freshAtMs: now - 4_000, recordsBehind: 3, newestMs: now), "is up to date"),
        (EvidenceLag(freshAtMs: now - 5_000, recordsBehind: 500, newestMs: now), "500 records"),
      ]
      for (lag, words) in table {
        world.evidence.set { $0.lag = lag }
        for path in ["users/u-1", "devices/d-1", "notifications/gone"] {
          let body = world.get("/console/\(path)").body
          #expect(body.contains(words), "\(path)")
          // At the top too, where whoever misses something looks.
          let isTold = body.contains("What was decided or received since is not shown yet.")
          #expect(isTold == !words.contains("up to date"), "\(path) \(words)")
        }
        #expect(world.get("/console?q=gone").body.contains(words))
      }
    }
  }

  @Test func theSelfTestIsShownAsItReported() throws {
    try withConsole { world in
      #expect(world.get("/console/selftest").body.contains("None has been run yet"))
      world.evidence.set {
        $0.selfTests = [
          SelfTestRun(
            atMs: world.nowMs, version: "0.1.0", outcome: .failed,
            report: #"{"checks":[{"name":"index","ok":false,"problem":"<b>stopped</b>"}]}"#),
          SelfTestRun(
            atMs: 1_773_000_000_000, version: "0.0.9", outcome: .passed, report: "no JSON"),
        ]
      }
      let body = world.get("/console/selftest").body
      #expect(body.contains("&lt;b&gt;stopped&lt;/b&gt;"))
      #expect(body.contains("0.0.9"))
      world.evidence.set {
        $0.selfTests[0].report = """
          {"passed":false,"states":{"token_expired":{"agrees":false,"user_id":"sendgate-selftest.e",\
          "expected":{"outcome":"dropped","reason":"token_expired"},\
          "found":{"outcome":"approved","reason":"ok"}}},"disagreements":[{"state":"token_expired",\
          "what":"decision.reason","expected":"token_expired","found":"ok","look":"<i>gate</i>"}]}
          """
      }
      let told = world.get("/console/selftest").body
      for words in [
        "What does not agree", "decision.reason", "&lt;i&gt;gate&lt;/i&gt;",
        "Dropped <code>token_expired",
        "Approved <code>ok", "/console/users/sendgate-selftest.e?", "Differs",
      ] { #expect(told.contains(words), "\(words)") }
      #expect(world.get("/console/users/u-1").body.contains("Self-test failed"))
    }
  }

  @Test func withoutAnIndexThereIsStillTheNowPanel() throws {
    try withAPI(limits: PagesWorld.plenty) { api in
      let desk = SupportDesk(
        service: api.service, evidence: nil, panel: api.desk.panel, quietMap: api.desk.quietMap,
        nowMs: api.clock.read)
      let world = ConsoleWorld(api, desk: desk)
      world.device()
      world.signIn()
      let page = UserPage(
        context: ConsoleContext(
          words: ConsoleWords(language: .english), nowMs: world.nowMs, bearer: "x", here: "/console"
        ), story: try #require(try desk.user(Identifier("u-1"))))
      let body = String(decoding: page.bytes, as: UTF8.self)
      #expect(body.contains("There is no index of evidence here"))
      #expect(body.contains("What would happen now"))
      #expect(try desk.notification("n-1") == nil)
      for path in ["notifications/n-1", "devices/other", "users/other"] {
        let answer = world.get("/console/\(path)")
        #expect(answer.status == 404 && answer.body.contains("There is no index of evidence here"))
      }
    }
  }
}
