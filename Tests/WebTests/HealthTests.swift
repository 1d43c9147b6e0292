import Telemetry
import Testing
import Web

private func request(
  _ path: String, method: String = "GET", arguments: [String] = []
) -> HTTPRequest {
  HTTPRequest(method: method, path: path, arguments: arguments.map { ($0, nil) })
}

private func source(
  heartbeats: [Heartbeat] = [], checks: [ReadinessCheck] = []
) -> HealthSource {
  HealthSource(
    metrics: { Array("# EOF\n".utf8) }, heartbeats: heartbeats, readiness: { checks })
}

private func body(_ response: HTTPResponse) -> String {
  String(decoding: response.body, as: UTF8.self)
}

@Test func metricsCarryTheirContentType() {
  let response = source().respond(to: request("/metrics"))
  #expect(response.status == 200)
  #expect(
    response.header("content-type") == "application/openmetrics-text; version=1.0.0; charset=utf-8")
  #expect(body(response) == "# EOF\n")
}

@Test func aliveUntilALoopStopsGoingRound() {
  let good = Heartbeat(name: "ordinary lane", intervalMsMax: 60_000)
  let stuck = Heartbeat(name: "security lane", intervalMsMax: 60_000)
  let source = source(heartbeats: [good, stuck])
  let alive = source.respond(to: request("/livez"))
  #expect(alive.status == 200)
  #expect(body(alive) == "alive\n")
  #expect(
    body(source.respond(to: request("/livez", arguments: ["verbose"])))
      == "[+] ordinary lane\n[+] security lane\nalive\n")

  stuck.beat(nowNs: SystemTime.monotonicNs() - 61_000_000_000)
  let dead = source.respond(to: request("/livez"))
  #expect(dead.status == 503)
  let words = body(dead).split(separator: " ")
  #expect(words.prefix(6) == ["[-]", "security", "lane:", "no", "beat", "for"])
  #expect((61_000...600_000).contains(Int(words[6]) ?? 0), "it is 61 s, and what the test took")
  #expect(body(dead).hasSuffix(" ms (limit 60000 ms)\nnot alive\n"))

  stuck.beat()
  #expect(source.respond(to: request("/livez")).status == 200)
}

@Test func readyOnlyWhenEveryCheckHolds() {
  let mixed = source(checks: [
    ReadinessCheck(name: "partitions"),
    ReadinessCheck(name: "preferences", problem: "41 of 64\npartitions read"),
  ])
  let unready = mixed.respond(to: request("/readyz"))
  #expect(unready.status == 503)
  #expect(body(unready) == "[-] preferences: 41 of 64 partitions read\nnot ready\n")
  #expect(
    body(mixed.respond(to: request("/readyz", arguments: ["verbose"])))
      == "[+] partitions\n[-] preferences: 41 of 64 partitions read\nnot ready\n")

  let ready = source(checks: [ReadinessCheck(name: "partitions")])
  #expect(ready.respond(to: request("/readyz")).status == 200)
  #expect(body(ready.respond(to: request("/readyz"))) == "ready\n")
  #expect(
    body(ready.respond(to: request("/readyz", arguments: ["verbose"])))
      == "[+] partitions\nready\n")
}

@Test func otherPathsAndMethodsAreRefused() {
  for path in ["/", "", "/metrics/", "/Metrics", "/readyz/x", "//livez", "/../livez"] {
    #expect(source().respond(to: request(path)).status == 404, "\(path)")
    #expect(source().respond(to: request(path, method: "POST")).status == 404, "\(path)")
  }
  for path in ["/metrics", "/livez", "/readyz"] {
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get", ""] {
      let response = source().respond(to: request(path, method: method))
      #expect(response.status == 405, "\(method) \(path)")
      #expect(response.header("Allow") == "GET, HEAD")
    }
    #expect(source().respond(to: request(path, method: "HEAD")).status == 200)
  }
}

@Test func addressesAreReadStrictly() {
  for (text, host, port, isLoopback) in [
    ("127.0.0.1:9100", "127.0.0.1", 9100, true),
    ("127.9.8.7:1", "127.9.8.7", 1, true),
    (":9100", "127.0.0.1", 9100, true),
    ("[::1]:9100", "::1", 9100, true),
    ("0.0.0.0:9100", "0.0.0.0", 9100, false),
    ("[::]:0", "::", 0, false),
    ("10.0.0.1:65535", "10.0.0.1", 65535, false),
    ("[::ffff:127.0.0.1]:80", "::ffff:127.0.0.1", 80, false),
  ] as [(String, String, UInt16, Bool)] {
    let address = ListenAddress(text)
    #expect(address?.host == host, "\(text)")
    #expect(address?.port == port, "\(text)")
    #expect(address?.isLoopback == isLoopback, "\(text)")
  }
  for text in [
    "", "9100", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:+1", "127.0.0.1: 1",
    "::1:9100", "[127.0.0.1]:1", "[::1]", "example.org:80", "127.0.0.1\0x:80", "1.2.3:80",
    "0177.0.0.1:80", "*:80",
  ] {
    #expect(ListenAddress(text) == nil, "\(text)")
  }
  #expect(ListenAddress("[::1]:9100")?.description == "[::1]:9100")
  #expect(ListenAddress(":9100")?.description == "127.0.0.1:9100")
  #expect(ListenAddress("localhost:9100") == nil, "a name is not looked up")
}
