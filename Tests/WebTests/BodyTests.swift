import Glibc
import Synchronization
import Testing
import Web

/// Tells what it was sent: how the body fared, its length and sum, and the query and headers.
private func echo(_ request: HTTPRequest) -> HTTPResponse {
  let body: String
  switch request.body {
  case .none: body = "none"
  case .whole(let bytes): body = "\(bytes.count) bytes, sum \(bytes.reduce(0) { $0 + Int($1) })"
  case .tooLarge: body = "too large"
  case .lengthUnknown: body = "length unknown"
  case .ambiguous: body = "ambiguous"
  }
  let arguments = request.arguments.map { "\($0.name)=\($0.value ?? "-")" }.joined(separator: " ")
  return .text(200, "\(request.method) \(request.path) [\(arguments)] \(body)")
    .adding("X-Tags", request.headers("x-tag").joined(separator: "|"))
}

private func withEcho(
  _ threads: HTTPThreads, _ limits: HTTPLimits? = nil,
  _ body: (UInt16) throws -> Void
) throws {
  try withServer(threads, limits, echo, body)
}

private func withServer(
  _ threads: HTTPThreads, _ limits: HTTPLimits? = nil,
  _ respond: @escaping @Sendable (HTTPRequest) -> HTTPResponse, _ body: (UInt16) throws -> Void
) throws {
  var used = HTTPLimits()
  used.bodyBytesMax = 10_000
  used.bodyDiscardBytesMax = 100_000
  let server = try HTTPServer(
    address: ListenAddress("127.0.0.1:0")!, limits: limits ?? used, threads: threads,
    respond: respond)
  defer { server.stop() }
  try body(server.port)
}

private func post(_ path: String, length: Int) -> String {
  "POST \(path) HTTP/1.1\r\nHost: x\r\nContent-Length: \(length)\r\n\r\n"
}

@Suite(.serialized)
struct BodyTests {
  static let threads: [HTTPThreads] = [.one, .pool(3), .perConnection]

  @Test(arguments: threads)
  func bodiesArriveWholeHoweverTheyAreSplit(threads: HTTPThreads) throws {
    try withEcho(threads) { port in
      let client = try Client(port: port)
      for size in [1, 2, 1_000, 10_000] {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        let sum = bytes.reduce(0) { $0 + Int($1) }
        for pieces in [1, 2, 7, 100] {
          let request = Array(post("/p", length: size).utf8) + bytes
          // Also within the headers.
          let step = max(1, request.count / pieces)
          for start in stride(from: 0, to: request.count, by: step) {
            try client.send(Array(request[start..<min(start + step, request.count)]))
          }
          #expect(try client.reply()?.body == "POST /p [] \(size) bytes, sum \(sum)")
        }
      }
    }
  }

  @Test(arguments: threads)
  func aBodyOverTheLimitIsThrownAwayAndTheConnectionKept(threads: HTTPThreads) throws {
    try withEcho(threads) { port in
      let client = try Client(port: port)
      for size in [10_001, 100_000] {
        try client.send(Array(post("/p", length: size).utf8) + Array(repeating: 7, count: size))
        #expect(try client.reply()?.body == "POST /p [] too large")
      }
      // Still in step: the next request is the next request.
      try client.send(Array(post("/p", length: 1).utf8) + [65])
      #expect(try client.reply()?.body == "POST /p [] 1 bytes, sum 65")
      try client.send(post("/p", length: 1_000_000_000))
      #expect(try client.reply()?.body == "POST /p [] too large", "not one byte of it was sent")
      #expect(try client.readToEnd().isEmpty)
    }
  }

  /// What one party takes for a body is the next request to another.
  @Test(arguments: threads)
  func whereABodyEndsIsNeverGuessed(threads: HTTPThreads) throws {
    let smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
    for (headers, answer) in [
      ("Transfer-Encoding: chunked\r\n", "length unknown"),
      ("Transfer-Encoding: identity\r\n", "length unknown"),
      ("Content-Length: 5\r\nContent-Length: 6\r\n", "ambiguous"),
      ("Content-Length: 5\r\nContent-Length: 5\r\n", "ambiguous"),
      ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "ambiguous"),
      ("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "ambiguous"),
      ("Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n", "ambiguous"),
    ] {
      try withEcho(threads) { port in
        let client = try Client(port: port)
        try client.send(
          "POST /p HTTP/1.1\r\nHost: x\r\n\(headers)\r\n0\r\n\r\n\(smuggled)")
        // Nothing but one answer: the server's own refusal, or ours.
        if let reply = try client.reply(), reply.status == 200 {
          #expect(reply.body == "POST /p [] \(answer)", "\(headers)")
        }
        let rest = String(decoding: try client.readToEnd(), as: UTF8.self)
        #expect(!rest.contains("smuggled"), "\(headers)")
      }
    }
  }

  @Test(arguments: threads)
  func lengthsThatAreNoneAreRefused(threads: HTTPThreads) throws {
    try withEcho(threads) { port in
      for length in ["-1", "+5", "5x", "0x5", "99999999999999999999", "", "5 5", "1e3"] {
        let client = try Client(port: port)
        try client.send("POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: \(length)\r\n\r\nabcde")
        let reply = try client.reply()
        #expect(reply?.status != 200 || reply?.body.hasSuffix("none") == true, "'\(length)'")
      }
      let client = try Client(port: port)
      try client.send("POST /p HTTP/1.1\r\nContent-Length: 1\r\n\r\na")
      #expect(try client.reply()?.status == 400, "no Host")
    }
  }

  @Test(arguments: threads)
  func pathsArgumentsAndHeadersComeAsTheyWereSent(threads: HTTPThreads) throws {
    try withEcho(threads) { port in
      let client = try Client(port: port)
      try client.send(
        "GET /a%2Fb/%zz?x=1&y=%41+b&z&x=2&= HTTP/1.1\r\nHost: x\r\nX-Tag: a\r\nx-tag:  b \r\n\r\n")
      let reply = try client.reply()
      #expect(reply?.body == "GET /a%2Fb/%zz [x=1 y=%41 b z=- x=2 =] none")
      #expect(reply?.headers["x-tags"] == "a|b")
      // A NUL ends nothing early for who decodes afterwards.
      try client.send("GET /a%00b HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(try client.reply()?.body == "GET /a%00b [] none")
    }
  }

  @Test(arguments: threads)
  func pipelinedBodiesAreToldApart(threads: HTTPThreads) throws {
    try withEcho(threads) { port in
      let client = try Client(port: port)
      var all = ""
      for size in 0..<50 {
        all += post("/\(size)", length: size) + String(repeating: "A", count: size)
      }
      try client.send(all)
      for size in 0..<50 {
        let body = size == 0 ? "none" : "\(size) bytes, sum \(65 * size)"
        #expect(try client.reply()?.body == "POST /\(size) [] \(body)")
      }
    }
  }

  @Test(arguments: threads)
  func anExpectationIsMet(threads: HTTPThreads) throws {
    try withEcho(threads) { port in
      let client = try Client(port: port)
      try client.send(
        "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
      #expect(try client.reply()?.status == 100)
      try client.send("abc")
      #expect(try client.reply()?.body == "POST /p [] 3 bytes, sum 294")
    }
  }

  /// Half a body and then nothing: the time-out ends it, and nobody else waits for it.
  @Test(arguments: threads)
  func aBodyThatNeverEndsDelaysNobody(threads: HTTPThreads) throws {
    var limits = HTTPLimits()
    limits.bodyBytesMax = 10_000
    limits.idleSecondsMax = 1
    try withEcho(threads, limits) { port in
      let slow = try Client(port: port)
      try slow.send(post("/p", length: 100) + "half")
      for _ in 0..<20 { #expect(try get(port, "/x")?.body == "GET /x [] none") }
      #expect(String(decoding: try slow.readToEnd(), as: UTF8.self).contains("200") == false)
    }
  }

  /// One byte now and then keeps a connection from its time-out; taking every slot keeps nobody out,
  /// and a client that does send requests keeps its own.
  @Test(arguments: threads)
  func slowClientsLoseTheirSlotsToBusyOnes(threads: HTTPThreads) throws {
    var limits = HTTPLimits()
    limits.connectionsMax = 8
    limits.idleSecondsMax = 600
    try withEcho(threads, limits) { port in
      let busy = try Client(port: port)
      for _ in 0..<30 {
        try busy.send("GET /busy HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try busy.reply()?.status == 200)
        let slow = try Client(port: port)
        try slow.send("GET /slow")
        #expect(try get(port, "/x")?.status == 200)
        withExtendedLifetime(slow) {}
      }
    }
  }

  @Test func handlersOfSeveralConnectionsRunAtOnce() throws {
    // Each waits until all are inside: with one thread this would never end.
    let inside = Atomic<Int>(0)
    let waitForAll: @Sendable (HTTPRequest) -> HTTPResponse = { _ in
      inside.add(1, ordering: .relaxed)
      while inside.load(ordering: .relaxed) < 4 { Glibc.sched_yield() }
      return .text(200, "all in")
    }
    try withServer(.perConnection, nil, waitForAll) { port in
      let clients = try (0..<4).map { _ in try Client(port: port) }
      for client in clients { try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n") }
      for client in clients { #expect(try client.reply()?.body == "all in") }
    }
  }

  /// A request that has begun is answered before the server is gone.
  @Test(arguments: threads)
  func aStopWaitsForWhatHasBegun(threads: HTTPThreads) throws {
    var limits = HTTPLimits()
    limits.drainMs = 10_000
    let isInside = Atomic<Bool>(false)
    let mayAnswer = Atomic<Bool>(false)
    let server = try HTTPServer(
      address: ListenAddress("127.0.0.1:0")!, limits: limits, threads: threads
    ) { _ in
      isInside.store(true, ordering: .relaxed)
      while !mayAnswer.load(ordering: .relaxed) { Glibc.sched_yield() }
      return .text(200, "done")
    }
    let client = try Client(port: server.port)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    while !isInside.load(ordering: .relaxed) { Glibc.sched_yield() }
    mayAnswer.store(true, ordering: .relaxed)
    server.stop()
    #expect(try client.reply()?.body == "done")
  }

  @Test func answersWithoutABodyHaveNone() throws {
    for status in [204, 304] {
      let respond: @Sendable (HTTPRequest) -> HTTPResponse = { _ in
        HTTPResponse(status: status, headers: [HTTPField("ETag", "\"3\"")])
      }
      try withServer(.one, nil, respond) { port in
        let client = try Client(port: port)
        for _ in 0..<3 {
          try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
          let reply = try client.reply()
          #expect(reply?.status == status)
          #expect(reply?.body == "")
          #expect(reply?.headers["etag"] == "\"3\"")
          #expect(reply?.headers["cache-control"] == "no-store")
        }
      }
    }
  }

  @Test func aCertificateThatIsNoneIsAnErrorThatSaysSo() throws {
    let error = #expect(throws: HTTPServerError.self) {
      _ = try HTTPServer(
        address: ListenAddress("127.0.0.1:0")!,
        certificate: HTTPCertificate(chain: "not PEM", key: "not PEM")
      ) { _ in .text(200, "") }
    }
    #expect(error?.description.contains("libmicrohttpd did not start: ") == true)
  }
}
