import Testing

@testable import sendgate

@Suite struct SelfTestClientTests {
  @Test(arguments: [
    ("http://127.0.0.1:8085", "127.0.0.1", 8085, "", "127.0.0.1:8085"),
    ("http://localhost", "localhost", 80, "", "localhost"),
    ("https://example.com", "example.com", 443, "", "example.com"),
    ("https://example.com:8443/gate/x", "example.com", 8443, "/gate/x", "example.com:8443"),
    ("http://[::1]:80/a", "::1", 80, "/a", "[::1]"),
    ("https://[2001:db8::1]", "2001:db8::1", 443, "", "[2001:db8::1]"),
  ])
  func addressesAreRead(
    text: String, host: String, port: Int, prefix: String, authority: String
  ) throws {
    let address = try #require(ServiceAddress(text))
    #expect(address.host == host && address.port == port && address.prefix == prefix)
    #expect(address.authority == authority)
    #expect(address.isSecure == text.hasPrefix("https"))
  }

  /// A token would pass in the clear.
  @Test(arguments: [
    "http://example.com", "http://10.0.0.1:8085", "example.com", "", "ftp://localhost",
    "http://localhost/", "https://u@example.com", "https://example.com:0", "https://[::1",
  ])
  func othersAreRefused(text: String) {
    #expect(ServiceAddress(text) == nil)
  }

  private func answer(_ text: String, bytesAtATime: Int) throws -> (status: Int, body: String) {
    var answer = HTTPAnswer()
    var rest = Array(text.utf8)[...]
    while !answer.isWhole {
      try answer.take(Array(rest.prefix(bytesAtATime)))
      rest = rest.dropFirst(bytesAtATime)
    }
    return (answer.status, String(decoding: answer.body, as: UTF8.self))
  }

  @Test(arguments: [
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello"),
    ("HTTP/1.1 200 OK\r\ncontent-length:5\r\n\r\nhello and more", 200, "hello"),
    ("HTTP/1.1 204 No Content\r\n\r\n", 204, ""),
    ("HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", 404, ""),
    ("HTTP/1.0 200 OK\r\nServer: x\r\n\r\nto the end", 200, "to the end"),
    (
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
      200, "abc0123456789"
    ),
  ])
  func answersAreReadHoweverTheyCome(text: String, status: Int, body: String) throws {
    for bytesAtATime in [1, 2, 7, 1_000] {
      let found = try answer(text, bytesAtATime: bytesAtATime)
      #expect(found == (status, body), "\(bytesAtATime) bytes at a time")
    }
  }

  @Test(arguments: [
    "", "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", "HTTP/1.1 200 OK\r\nContent-Le",
    "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "SSH-2.0-OpenSSH\r\n\r\n",
    "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 OK\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nab\r\n",
  ])
  func whatIsCutOffOrNoAnswerIsAFailure(text: String) {
    for bytesAtATime in [1, 1_000] {
      #expect(throws: ServiceFailure.self) { try answer(text, bytesAtATime: bytesAtATime) }
    }
  }

  @Test func nobodyThereIsAFailureAndNoWait() throws {
    let address = try #require(ServiceAddress("http://127.0.0.1:1"))
    let client = ServiceClient(address: address, token: "t", caFile: nil, timeoutMs: 2_000)
    let failure = #expect(throws: ServiceFailure.self) { _ = try client.ask("GET", "/") }
    #expect(failure?.words.contains("127.0.0.1:1") == true)
  }
}
