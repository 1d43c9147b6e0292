import Synchronization
import Telemetry
import Testing
import Web

private let anyPort = ListenAddress("127.0.0.1:0")!

/// A health server on a free port of loopback, stopped afterwards.
private func withServer(
  limits: HTTPLimits = HTTPLimits(), metricsBytes: Int = 0,
  _ body: (UInt16) throws -> Void
) throws {
  let registry = MetricRegistry()
  registry.counter("requests", help: String(repeating: "x", count: metricsBytes)).add(7)
  let source = HealthSource(
    metrics: { registry.render() },
    heartbeats: [Heartbeat(name: "lane", intervalMsMax: 600_000)],
    readiness: { [ReadinessCheck(name: "preferences", problem: "not read yet")] })
  let server = try HTTPServer(
    address: anyPort, limits: limits, respond: { source.respond(to: $0) })
  defer { server.stop() }
  try body(server.port)
}

@Test func pagesAreServedOverASocket() throws {
  try withServer { port in
    let metrics = try get(port, "/metrics")
    #expect(metrics?.status == 200)
    #expect(
      metrics?.headers["content-type"]
        == "application/openmetrics-text; version=1.0.0; charset=utf-8")
    #expect(metrics?.headers["cache-control"] == "no-store")
    #expect(metrics?.body.hasSuffix("sendgate_requests_total 7\n# EOF\n") == true)

    #expect(try get(port, "/livez")?.body == "alive\n")
    #expect(try get(port, "/livez?verbose")?.body == "[+] lane\nalive\n")
    #expect(try get(port, "/livez?a=b&verbose=1")?.body == "[+] lane\nalive\n")
    #expect(try get(port, "/livez?verboses")?.body == "alive\n")
    #expect(try get(port, "/readyz")?.status == 503)
    #expect(try get(port, "/readyz")?.body == "[-] preferences: not read yet\nnot ready\n")
    #expect(try get(port, "/nothing")?.status == 404)
    #expect(try get(port, "/readyz", method: "DELETE")?.status == 405)
    #expect(try get(port, "/readyz", method: "DELETE")?.headers["allow"] == "GET, HEAD")

    let head = try get(port, "/livez", method: "HEAD")
    #expect(head?.status == 200)
    #expect(head?.headers["content-length"] == "6")
  }
}

@Test func aBodyNobodyWantsIsRefusedUnread() throws {
  try withServer { port in
    let client = try Client(port: port)
    // A gigabyte is announced, none of it is sent: the refusal must not wait for it.
    try client.send("POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n")
    #expect(try client.reply()?.status == 405)
    #expect(try client.readToEnd().isEmpty)
    // A body to a method that is served is left unread too, and the connection closed: what follows
    // the headers must not be taken for the next request.
    let smuggler = try Client(port: port)
    try smuggler.send(
      "GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 31\r\n\r\n"
        + "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try smuggler.reply()?.body == "alive\n")
    #expect(try smuggler.readToEnd().isEmpty)
  }
}

@Test func aLargePageArrivesWhole() throws {
  try withServer(metricsBytes: 5_000_000) { port in
    let body = try get(port, "/metrics")?.body
    #expect((body?.utf8.count ?? 0) > 5_000_000)
    #expect(body?.hasSuffix("# EOF\n") == true)
  }
}

@Test func aThousandRequestsOnOneConnectionAndAThousandOnTheirOwn() throws {
  try withServer { port in
    let client = try Client(port: port)
    for _ in 0..<1000 {
      try client.send("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(try client.reply()?.body == "alive\n")
    }
    for _ in 0..<1000 { #expect(try get(port, "/livez")?.status == 200) }
  }
}

@Test func requestsSentAtOnceAreAnsweredInOrder() throws {
  try withServer { port in
    let client = try Client(port: port)
    let one = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
    let two = "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n"
    try client.send(one + two + one)
    #expect(try client.reply()?.status == 200)
    #expect(try client.reply()?.status == 404)
    #expect(try client.reply()?.status == 200)
  }
}

/// Whatever is sent, the server answers with an error or hangs up, and goes on serving.
@Test func garbageIsRefusedAndServiceGoesOn() throws {
  let long = String(repeating: "a", count: 100_000)
  var garbage: [[UInt8]] = [
    "\r\n\r\n\r\n\r\n", "GET\r\n\r\n", "GET /livez\r\n\r\n", "\0\0\0\0\r\n\r\n",
    "GET /livez HTTP/9.9\r\n\r\n", "GET /\(long) HTTP/1.1\r\n\r\n",
    "GET /livez HTTP/1.1\r\nX: \(long)\r\n\r\n",
    "GET /livez HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    "GET /livez HTTP/1.1\r\nHost x\r\n\r\n",
    "POST /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET /%00%ff%zz%2 HTTP/1.1\r\nHost: x\r\n\r\n",
  ].map { Array($0.utf8) }
  garbage.append([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC, 0x03, 0x03])
  let seed = UInt64.random(in: 0...UInt64.max)
  var state = seed
  for _ in 0..<200 {
    var bytes: [UInt8] = []
    for _ in 0..<64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      bytes.append(UInt8(truncatingIfNeeded: state >> 33))
    }
    garbage.append(bytes + Array("\r\n\r\n".utf8))
  }
  try withServer { port in
    for (i, bytes) in garbage.enumerated() {
      let client = try Client(port: port)
      // The server may hang up before it has read all: then there is nothing left to send to.
      try? client.send(bytes)
      if i % 7 == 0 { #expect(try get(port, "/livez")?.status == 200, "seed \(seed), item \(i)") }
    }
    #expect(try get(port, "/livez")?.status == 200, "seed \(seed)")
  }
}

@Test func headersOverTheLimitAreRefused() throws {
  try withServer { port in
    let client = try Client(port: port)
    let headers = (0..<900).map { "X-\($0): \($0)aaaaaaaaaaaaaaaaaaaa\r\n" }.joined()
    try? client.send("GET /livez HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n")
    let status = try client.reply()?.status
    #expect(status == 431 || status == 413, "\(String(describing: status))")
    #expect(try get(port, "/livez")?.status == 200)
  }
}

@Test func aSilentClientIsClosedAndDelaysNobody() throws {
  var limits = HTTPLimits()
  limits.idleSecondsMax = 1
  try withServer(limits: limits) { port in
    let silent = try Client(port: port)
    try silent.send("GET /live")
    for _ in 0..<20 { #expect(try get(port, "/livez")?.status == 200) }
    // Ends when the server gives up on it; the client's own limit is twenty seconds.
    _ = try silent.readToEnd()
  }
}

/// Without eviction four silent clients would take every slot and a probe would wait until they time
/// out; here the time-out is longer than the probe's patience.
@Test func clientsThatHoldEverySlotDoNotKeepAProbeOut() throws {
  var limits = HTTPLimits()
  limits.connectionsMax = 4
  limits.idleSecondsMax = 600
  try withServer(limits: limits) { port in
    let hoarders = try (0..<8).map { _ in
      let client = try Client(port: port)
      try client.send("GET /live")
      return client
    }
    for _ in 0..<10 { #expect(try get(port, "/livez")?.status == 200) }
    // The oldest were closed to make room.
    _ = try hoarders[0].readToEnd()
  }
}

@Test func aTakenPortIsAnErrorThatSaysSo() throws {
  try withServer { port in
    let error = #expect(throws: HTTPServerError.self) {
      _ = try HTTPServer(address: ListenAddress("127.0.0.1:\(port)")!) { _ in .text(200, "") }
    }
    #expect(error?.description == "HTTP on 127.0.0.1:\(port): cannot bind: Address already in use")
  }
}

@Test func aServerCanBeStoppedTwiceAndItsPortTakenAgain() throws {
  // Not one that the system gives to other tests meanwhile.
  let first = try serverBelowTheSystemsPorts()
  let port = first.port
  // A connection of the predecessor is still open when the successor binds.
  let client = try Client(port: port)
  try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
  #expect(try client.reply()?.body == "one")
  first.stop()
  first.stop()
  let second = try HTTPServer(address: ListenAddress("127.0.0.1:\(port)")!) { _ in
    .text(200, "two")
  }
  defer { second.stop() }
  #expect(try get(port, "/")?.body == "two")
}

private func serverBelowTheSystemsPorts() throws -> HTTPServer {
  while true {
    let address = ListenAddress("127.0.0.1:\(Int.random(in: 15_000..<32_000))")!
    do {
      return try HTTPServer(address: address) { _ in .text(200, "one") }
    } catch {
      guard error.description.hasSuffix("already in use") else { throw error }
    }
  }
}

@Test func theHandlerIsReleasedWithTheServer() throws {
  final class Owned: Sendable {}
  weak var released: Owned?
  do {
    let owned = Owned()
    released = owned
    let server = try HTTPServer(address: anyPort) { _ in
      withExtendedLifetime(owned) { .text(200, "") }
    }
    #expect(try get(server.port, "/")?.status == 200)
    server.stop()
  }
  #expect(released == nil)
}
