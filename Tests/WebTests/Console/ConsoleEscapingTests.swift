import Gate
import Preferences
import Testing

@testable import Evidence
@testable import Web

/// Whatever stands in a record, a receipt, the audit or an address: it is text on a page.
@Suite struct ConsoleEscapingTests {
  static let corpus = [
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'><svg onload=alert(1)>",
    "</title><script>alert(1)</script>", "</style><script>alert(1)</script>", "<!--", "]]>",
    "javascript:alert(1)", "\" autofocus onfocus=alert(1) x=\"", "&lt;b&gt;", "`<b>`",
    "\u{202E}abc", "a\u{2066}\u{202A}b", "\u{2069}\u{202C}abc",
    "a/../b", "..", "?lang=zh#x", "%3Cscript%3E", "{id}", "{name}", "é\u{301}", "<plaintext>",
  ]

  /// An attempt that has `text` in every field that a record can carry.
  static func attempt(_ text: String, _ outcome: EvidenceAttempt.Outcome, atMs: Int64)
    -> EvidenceAttempt
  {
    var values = EvidenceValues()
    values.accountChoice = text
    values.deviceChoice = text
    values.osPermission = text
    values.tokenStatus = text
    values.suppression = text
    values.quietHours.start = text
    values.quietHours.end = text
    values.quietHours.days = [text]
    values.quietHours.timezone = text
    values.quietHours.timezoneSource = text
    values.quietHours.isInside = true
    var versions = EvidenceVersions()
    versions.policy = text
    versions.zones = text
    versions.gate = text
    versions.preferences = 1
    var approval = EvidenceApproval()
    approval.platform = text
    approval.interruption = text
    approval.collapseKey = text
    approval.unsubscribeURL = "https://example.com/u/secret-\(text)"
    approval.smsFallback = text
    approval.sendBeforeMs = atMs
    let receipts = EvidenceReceipt.Kind.allCases.map {
      EvidenceReceipt.made($0, atMs: atMs, provider: text, code: text, via: text, device: text)
    }
    return EvidenceAttempt.made(
      1, outcome, reason: text, notification: text, device: text, atMs: atMs
    ).with {
      $0.place.topic = text
      $0.category = text
      $0.subtype = text
      $0.event = text
      $0.blockedBy = [text, "ok"]
      $0.versions = versions
      $0.values = values
      $0.approval = outcome == .approved ? approval : nil
      $0.supersededBy = text
      $0.cap = EvidenceCap(name: text, freesAtMs: atMs)
      $0.detail = text
      $0.detailMember = text
      $0.receipts = receipts
      $0.record = Array(#"{"notification":{"payload":{"secret":"payload-of-the-user"}}}"#.utf8)
    }
  }

  @Test func nothingStoredIsMarkup() throws {
    try withConsole { world in
      for text in Self.corpus {
        for outcome in EvidenceAttempt.Outcome.allCases {
          world.evidence.set {
            $0.attempts = [Self.attempt(text, outcome, atMs: world.nowMs - 1_000)]
            $0.otherReceipts = [
              .made(.other, atMs: world.nowMs, code: text, notification: text, device: text)
            ]
            $0.outcomes = [
              OutcomeCount(
                hourMs: world.nowMs / 3_600_000 * 3_600_000, outcome: outcome, category: text,
                reason: text, count: 3)
            ]
            $0.selfTests = [
              SelfTestRun(
                atMs: world.nowMs, version: text, outcome: .failed,
                report: String(decoding: report(text), as: UTF8.self))
            ]
          }
          let id = PercentText.encode(text)
          for path in [
            "/console/users/u-1", "/console/notifications/\(id)", "/console/devices/\(id)",
            "/console/charts", "/console/selftest", "/console?q=\(id)", "/console/users/\(id)",
            "/console/charts?\(id)=\(id)",
          ] {
            let reply = world.get(path)
            check(reply.body, text, "\(path) \(outcome)")
            #expect(!reply.body.contains("secret"), "\(path)")
          }
        }
      }
    }
  }

  private func report(_ text: String) -> [UInt8] {
    var json = JSONMembers()
    json.add(text, text)
    json.add("list", json: JSONMembers.array([text]))
    return json.bytes
  }

  /// Every `<` of a page begins one of our own elements, and every attribute is one of ours.
  private func check(_ body: String, _ text: String, _ place: String) {
    let own: Set<String> = [
      "!DOCTYPE", "html", "head", "meta", "title", "style", "body", "a", "header", "form", "label",
      "input", "button", "nav", "main", "footer", "div", "span", "h1", "h2", "h3", "p", "b", "bdi",
      "time", "code", "svg", "path", "circle", "rect", "line", "text", "ol", "ul", "li", "small",
      "article", "section", "table", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd", "br",
      "details", "summary",
    ]
    var elements: Set<String> = []
    for piece in body.split(separator: "<").dropFirst(body.hasPrefix("<") ? 0 : 1) {
      let name = piece.drop { $0 == "/" }.prefix { $0.isLetter || $0.isNumber || $0 == "!" }
      elements.insert(String(name))
      let tag = piece.prefix { $0 != ">" }
      for attribute in ["onerror", "onload", "onfocus", "javascript:"] where tag.contains(attribute)
      {
        // Only inside a value that our own quotes hold.
        let before = tag.split(separator: attribute)[0].count { $0 == "\"" }
        #expect(before % 2 == 1, "\(place): \(tag)")
      }
    }
    #expect(elements.subtracting(own) == [], "\(place)")
    #expect(!body.contains("href=\"javascript"), "\(place)")
    if text.contains("<") { #expect(!body.contains(text), "\(place)") }
    checkDirections(body, place)
  }

  /// Nothing turns the direction of what is beside it, but within a field.
  private func checkDirections(_ body: String, _ place: String) {
    let field = "name=\"q\" value=\""
    let parts = body.split(separator: field, omittingEmptySubsequences: false)
    for (number, part) in parts.enumerated() {
      let shown = number == 0 ? part : part[(part.firstIndex(of: "\"") ?? part.endIndex)...]
      let isTurned = shown.unicodeScalars.contains {
        (0x202A...0x202E).contains($0.value) || (0x2066...0x2069).contains($0.value)
      }
      #expect(!isTurned, "\(place)")
    }
  }

  @Test func whatTurnsTheDirectionIsShownAsItsCodePoint() throws {
    let id = "a\u{2066}\u{202E}b"
    #expect(HTML.escaped(id) == "a[U+2066][U+202E]b")
    try withConsole { world in
      world.evidence.set { $0.attempts = [.made(1, notification: id, atMs: world.nowMs)] }
      let body = world.get("/console/users/u-1").body
      #expect(body.contains("<bdi>a[U+2066][U+202E]b</bdi>"))
      #expect(body.contains("/console/notifications/\(PercentText.encode(id))?"))
      // What is looked for again is the id itself.
      let page = world.get("/console/notifications/\(PercentText.encode(id))").body
      #expect(page.contains("value=\"\(id)\""))
    }
  }

  /// The audit's texts are the store's own, ids and zones the user's.
  @Test func whatUsersChoseIsText() throws {
    try withConsole { world in
      let user = "<img src=x onerror=alert(1)>"
      let device = "\"><script>alert(2)</script>"
      let path = "/v1/users/\(PercentText.encode(user))"
      let reply = world.api.ask(
        "PUT", "\(path)/devices/\(PercentText.encode(device))", .app,
        body: #"{"platform":"ios","os_permission":"granted","region":"DE"}"#)
      #expect(reply.status == 200)
      let page = world.get("/console/users/\(PercentText.encode(user))")
      #expect(page.status == 200)
      check(page.body, user, "the user's page")
      #expect(!page.body.contains(device))
      #expect(page.body.contains("&lt;img src=x onerror=alert(1)&gt;"))
    }
  }

  @Test func aTerminalIsToldNothingButText() {
    #expect(
      ExplainText.plain("a\u{1B}[31mb\u{202E}\n\r\u{7}c")
        == "a\u{FFFD}[31mb\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}c")
    #expect(ExplainText.plain("é 中 🎉") == "é 中 🎉")
  }
}
