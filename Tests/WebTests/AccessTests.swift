import Preferences
import Synchronization
import Testing

@testable import Web

private let token = "sgt_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

private func request(
  _ authorization: [String], client: ClientAddress = .v4(1), forwarded: [String] = []
) -> HTTPRequest {
  HTTPRequest(
    method: "GET", path: "/",
    headers: authorization.map { HTTPField("authorization", $0) }
      + forwarded.map { HTTPField("X-Forwarded-For", $0) }, client: client)
}

private func status(_ keeper: Gatekeeper, _ request: HTTPRequest) -> Int {
  do throws(Problem) {
    _ = try keeper.admit(request)
    return 200
  } catch {
    return error.status
  }
}

/// A clock that a test turns.
private final class Clock: Sendable {
  let ns = Mutex<Int64>(1_000_000_000_000)
  func advance(ms: Int64) { ns.withLock { $0 += ms * 1_000_000 } }
  func read() -> Int64 { ns.withLock { $0 } }
}

@Test func tokensAreMadeOnceAndKeptAsHashes() throws {
  let made = AccessToken.make()
  #expect(made.hasPrefix("sgt_") && made.utf8.count == 4 + 43)
  #expect(made != AccessToken.make())
  #expect(
    made.dropFirst(4).utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
        || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
    })
  let line = TokenTable.line(id: "web", role: .app, token: made)
  #expect(!line.contains(made.dropFirst(4)))
  let table = try TokenTable(parsing: "# tokens\n\n" + line + "\r\n")
  #expect(table.entry(for: made)?.id == "web")
  #expect(table.entry(for: made)?.role == .app)
  for other in ["", "sgt_", String(made.dropLast()), made + "A", made.lowercased()] {
    #expect(table.entry(for: other) == nil)
  }
}

/// SHA-256 of "abc", from FIPS 180-4: what a file made by another program would hold.
@Test func theHashIsPlainSHA256() throws {
  let table = try TokenTable(
    parsing: "x admin BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD")
  #expect(table.entry(for: "abc")?.role == .admin)
}

@Test(arguments: [
  ("web app", "line 1: wants a name, a role and a hash"),
  ("\nwéb app \(String(repeating: "0", count: 64))", "line 2: the name"),
  (
    "web root \(String(repeating: "0", count: 64))",
    "line 1: the role is none of app, support, admin"
  ),
  ("web app \(String(repeating: "0", count: 63))", "line 1: the hash"),
  ("web app \(String(repeating: "g", count: 64))", "line 1: the hash"),
  (
    "a app \(String(repeating: "0", count: 64))\na app \(String(repeating: "1", count: 64))",
    "line 2: there is a token of this name already"
  ),
  (
    "a app \(String(repeating: "0", count: 64))\nb admin \(String(repeating: "0", count: 64))",
    "line 2: this token is there already under another name"
  ),
  ("x y\nz", "line 1: wants a name, a role and a hash; line 2: wants"),
])
func aTokensFileIsReadStrictly(text: String, complaint: String) {
  let fault = #expect(throws: TokenTable.Fault.self) { _ = try TokenTable(parsing: text) }
  #expect(fault?.description.hasPrefix(complaint) == true, "\(String(describing: fault))")
}

@Test func onlyAKnownTokenIsLetIn() throws {
  let table = try TokenTable(parsing: TokenTable.line(id: "web", role: .app, token: token))
  let keeper = Gatekeeper(tokens: table)
  for good in ["Bearer \(token)", "bearer \(token)", "BEARER   \(token) "] {
    #expect(status(keeper, request([good])) == 200, "\(good)")
  }
  for (i, bad) in [
    [], [""], ["Bearer"], ["Bearer "], ["Basic \(token)"], [token], ["Bearer \(token)x"],
    ["Bearer \(token)", "Bearer \(token)"], ["Bearer \(token), Bearer \(token)"],
    ["Bearer \(token.dropLast())"],
  ].enumerated() {
    let client = ClientAddress.v4(UInt32(i))
    #expect(status(keeper, request(bad, client: client)) == 401, "\(bad)")
  }
  let problem = #expect(throws: Problem.self) { _ = try keeper.admit(request([])) }
  #expect(problem?.headers == [HTTPField("WWW-Authenticate", "Bearer realm=\"sendgate\"")])
}

@Test func aTokenThatIsTakenAwayIsNotLetInAnyMore() throws {
  let table = try TokenTable(parsing: TokenTable.line(id: "web", role: .app, token: token))
  let keeper = Gatekeeper(tokens: table)
  #expect(status(keeper, request(["Bearer \(token)"])) == 200)
  keeper.replace(TokenTable())
  #expect(status(keeper, request(["Bearer \(token)"])) == 401)
}

@Test func aTokenHasItsRateAndReadingTheFileAgainDoesNotRefillIt() throws {
  let text = TokenTable.line(id: "web", role: .app, token: token)
  let clock = Clock()
  var limits = Gatekeeper.Limits()
  limits.perToken = RequestRate(perSecond: 10, burst: 3)
  let keeper = Gatekeeper(
    tokens: try TokenTable(parsing: text), limits: limits, nowNs: clock.read)
  let asked = request(["Bearer \(token)"])
  for _ in 0..<3 { #expect(status(keeper, asked) == 200) }
  #expect(status(keeper, asked) == 429)
  keeper.replace(try TokenTable(parsing: text))
  #expect(status(keeper, asked) == 429)
  clock.advance(ms: 100)
  #expect(status(keeper, asked) == 200, "one a tenth of a second")
  let problem = #expect(throws: Problem.self) { _ = try keeper.admit(asked) }
  #expect(problem?.headers == [HTTPField("Retry-After", "1")])
  clock.advance(ms: 3_600_000)
  for _ in 0..<3 { #expect(status(keeper, asked) == 200) }
  #expect(status(keeper, asked) == 429, "an hour of silence saves up a burst and no more")
}

@Test func guessingIsSlowAndDelaysNobodyWhoKnows() throws {
  let clock = Clock()
  var limits = Gatekeeper.Limits()
  limits.perAddress = RequestRate(perSecond: 1, burst: 5)
  let keeper = Gatekeeper(
    tokens: try TokenTable(parsing: TokenTable.line(id: "web", role: .app, token: token)),
    limits: limits, nowNs: clock.read)
  for _ in 0..<5 { #expect(status(keeper, request(["Bearer guess"])) == 401) }
  #expect(status(keeper, request(["Bearer guess"])) == 429)
  #expect(status(keeper, request(["Bearer \(token)"])) == 200, "from the same address")
  // One machine of IPv6 has a whole /64.
  for low in 0..<5 {
    #expect(status(keeper, request([], client: .v6(high: 7, low: UInt64(low)))) == 401)
  }
  #expect(status(keeper, request([], client: .v6(high: 7, low: 99))) == 429)
}

@Test func behindATrustedProxyTheAddressIsTheOneItSaw() throws {
  var limits = Gatekeeper.Limits()
  limits.perAddress = RequestRate(perSecond: 1, burst: 1)
  limits.trustedProxies = try #require(TrustedProxies("0.0.0.1"))
  let behind = Gatekeeper(tokens: TokenTable(), limits: limits)
  // What a client writes itself stands in front of what the proxy adds.
  #expect(status(behind, request([], forwarded: ["6.6.6.6, 10.0.0.1"])) == 401)
  #expect(status(behind, request([], forwarded: ["7.7.7.7, 10.0.0.1"])) == 429)
  #expect(status(behind, request([], forwarded: ["7.7.7.7", "10.0.0.2"])) == 401)
  #expect(behind.untrustedForwarder == nil)
  // From somebody else the header is only a header.
  #expect(status(behind, request([], client: .v4(9), forwarded: ["10.0.0.3"])) == 401)
  #expect(status(behind, request([], client: .v4(9), forwarded: ["10.0.0.4"])) == 429)
  #expect(behind.untrustedForwarder == .v4(9))

  limits.trustedProxies = TrustedProxies()
  let open = Gatekeeper(tokens: TokenTable(), limits: limits)
  #expect(status(open, request([])) == 401)
  #expect(open.untrustedForwarder == nil, "no header, nothing to tell")
  #expect(status(open, request([], forwarded: ["10.0.0.2"])) == 429, "anybody may write a header")
  #expect(open.untrustedForwarder == .v4(1))
}

@Test func theRateIsWhatItSays() {
  for (perSecond, burst) in [(1, 1), (7, 3), (1_000, 2_000), (999_999, 1)] {
    let rate = RequestRate(perSecond: perSecond, burst: burst)
    var fullAtNs: Int64 = 0
    var taken = 0
    // Ten thousand looks over ten intervals.
    let intervalNs = Int64(1_000_000_000 / perSecond)
    for step in 0..<10_000 as Range<Int64> {
      if rate.take(&fullAtNs, nowNs: 5_000_000_000 + step * intervalNs / 1_000) == nil {
        taken += 1
      }
    }
    #expect(taken == min(10_000, burst + 9), "\(rate)")
  }
}

@Test func comparingTakesAllBytesIntoAccount() {
  let digest = AccessToken.digest("a")
  for i in digest.indices {
    for bit in 0..<8 {
      var other = digest
      other[i] ^= 1 << bit
      #expect(!TokenTable.equal(digest, other))
    }
  }
  #expect(TokenTable.equal(digest, digest))
  #expect(!TokenTable.equal(digest, Array(digest.dropLast())))
  #expect(TokenTable.equal([], []))
}
