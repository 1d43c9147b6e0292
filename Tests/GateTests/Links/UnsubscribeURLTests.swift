import Testing

@testable import Gate

/// What approvals carry (requirements U1).
@Suite struct UnsubscribeURLTests {
  static let base = "https://example.com/prefs"
  static let links = LinkSettings(keys: LinkTests.keys, baseURL: base, lifetimeSeconds: 3600)
  static let noon = "2026-03-09T12:00:00Z"

  private func gate(links: LinkSettings? = links, lane: Lane = .ordinary) -> TestGate {
    let choices = Category.allCases.filter { $0 != .security }.map {
      #""\#($0.name)":{"state":"user-on","at":"2025-01-01T00:00:00Z","source":"in_app_settings"}"#
    }
    return TestGate(
      lane: lane,
      documents: [
        documentJSON(
          account: ["categories": "{\(choices.joined(separator: ","))}"],
          device: ["region": #""US""#])
      ], links: links)
  }

  /// The token of an approval; nil where it is null.
  private func token(_ record: Decided) throws -> String? {
    #expect(record.outcome == .approved)
    if try #require(record["unsubscribe_url"]) == .null { return nil }
    let url = try #require(record["unsubscribe_url"]?.text)
    let beginning = "\(Self.base)/u/"
    #expect(url.hasPrefix(beginning))
    return String(url.dropFirst(beginning.count))
  }

  @Test(arguments: Category.allCases) func marketingAndSocialCarryOne(_ category: Gate.Category)
    throws
  {
    let gate = gate(lane: category == .security ? .security : .ordinary)
    let value = candidateJSON([
      "category": "\"\(category.name)\"", "notification_id": "\"n \\\" é\"",
    ])
    let token = try token(gate.decide(value, at: Self.noon)[0])
    guard category == .marketing || category == .social else {
      #expect(token == nil)
      return
    }
    let noon = instant(Self.noon)
    let expected = Link(
      purpose: .unsubscribe, category: category, userID: "u-1", notificationID: "n \" é",
      expiresAtSeconds: noon + 3600)
    #expect(LinkTests.verifier.verify(try #require(token), nowSeconds: noon) == .success(expected))
  }

  @Test func noneWithoutAKey() throws {
    let value = candidateJSON(["category": "\"marketing\""])
    #expect(try token(gate(links: nil).decide(value, at: Self.noon)[0]) == nil)
  }

  /// A whole batch of the longest ids, each with the most that its members may need.
  @Test func thereIsRoomForTheLongest() throws {
    let id = String(repeating: "\\\"", count: 128)
    let gate = TestGate(
      documents: [
        documentJSON(
          ["user_id": "\"\(id)\""],
          device: ["device_id": "\"\(id)\"", "region": #""US""#])
      ],
      links: LinkSettings(
        keys: LinkTests.keys, baseURL: "https://" + String(repeating: "x", count: 504),
        lifetimeSeconds: 1))
    for size in [0, 4_000] {
      let value = candidateJSON([
        "category": "\"social\"", "user_id": "\"\(id)\"", "notification_id": "\"\(id)\"",
        "payload": "{\"t\":\"\(String(repeating: "y", count: size))\"}",
      ])
      let record = gate.decide(value, at: Self.noon)[0]
      #expect(record.reason == .ok)
      #expect(record["notification"] == (try? StrictParser.parse(value)))
    }
  }

  /// The link lives from the release on, not from when it was held.
  @Test func aReleasedHoldCarriesOne() throws {
    let policy = DuplicateTests.policy {
      $0.replacing(#""quiet_hours_rule": "drop""#, with: #""quiet_hours_rule": "defer""#)
    }
    let bench = HoldBench(policy: policy, documents: [HoldBench.document()], links: Self.links)
    let social = HoldBench.candidate().replacing("transactional", with: "social")
    let hold = bench.hold(social, at: ReleaserTests.night)
    #expect(hold["unsubscribe_url"] == nil)
    let released = try #require(bench.release(hold, at: ReleaserTests.morning).record)
    let morning = instant(ReleaserTests.morning)
    let expected = Link(
      purpose: .unsubscribe, category: .social, userID: "u", notificationID: "n",
      expiresAtSeconds: morning + 3600)
    let token = try #require(try token(released))
    #expect(LinkTests.verifier.verify(token, nowSeconds: morning) == .success(expected))
    // Of the built-in policy only transactional is held, and carries none.
    let plain = HoldBench(documents: [HoldBench.document()], links: Self.links)
    let other = plain.hold(HoldBench.candidate(), at: ReleaserTests.night)
    #expect(plain.release(other, at: ReleaserTests.morning).record?["unsubscribe_url"] == .null)
  }

  @Test func urlsAreMadeFromSettings() {
    let url = Self.links.url(
      .settings, category: nil, userID: "u-1", notificationID: nil, nowSeconds: 1_000)
    let token = String(url.dropFirst(Self.base.count + 3))
    let link = Link(
      purpose: .settings, category: nil, userID: "u-1", notificationID: nil,
      expiresAtSeconds: 4_600)
    #expect(LinkTests.verifier.verify(token, nowSeconds: 1_000) == .success(link))
  }
}
