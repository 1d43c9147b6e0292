import Glibc

/// A raw socket to the server under test: it can send what no HTTP library would.
final class Client {
  struct Reply {
    var status: Int
    var headers: [String: String]
    var body: String
  }

  private let socketFD: Int32
  private var buffered: [UInt8] = []

  init(port: UInt16) throws {
    socketFD = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socketFD, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    // A server that never answers fails the test instead of hanging it.
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(socketFD, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    if connected != 0 { throw ClientError(errno: errno, what: "connect") }
  }

  deinit { close(socketFD) }

  struct ClientError: Error {
    var errno: Int32
    var what: String
  }

  func send(_ bytes: [UInt8]) throws {
    let sent = Glibc.send(socketFD, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    if sent != bytes.count { throw ClientError(errno: errno, what: "send") }
  }

  func send(_ text: String) throws { try send(Array(text.utf8)) }

  /// Everything until the server closes, for replies of unknown shape.
  func readToEnd() throws -> [UInt8] {
    while try fill() {}
    defer { buffered = [] }
    return buffered
  }

  /// One reply, by its Content-Length (`hasBody: false` for HEAD, which tells a length it does not
  /// send). Nil where the connection was closed first.
  func reply(hasBody: Bool = true) throws -> Reply? {
    let end = Array("\r\n\r\n".utf8)
    var headEnd: Int?
    while true {
      headEnd = buffered.indices.first { buffered[$0...].starts(with: end) }
      if headEnd != nil { break }
      if try !fill() { return nil }
    }
    let head = String(decoding: buffered[..<headEnd!], as: UTF8.self).split(separator: "\r\n")
    var headers: [String: String] = [:]
    for line in head.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
    }
    let length = hasBody ? Int(headers["content-length"] ?? "0")! : 0
    let bodyStart = headEnd! + end.count
    while buffered.count < bodyStart + length {
      if try !fill() { return nil }
    }
    let body = String(decoding: buffered[bodyStart..<(bodyStart + length)], as: UTF8.self)
    buffered.removeFirst(bodyStart + length)
    let status = Int(head[0].split(separator: " ")[1])!
    return Reply(status: status, headers: headers, body: body)
  }

  /// False at the end of the stream, or where the server reset it.
  private func fill() throws -> Bool {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let count = recv(socketFD, &chunk, chunk.count, 0)
    if count < 0 && errno == ECONNRESET { return false }
    if count < 0 { throw ClientError(errno: errno, what: "recv") }
    buffered += chunk[..<count]
    return count > 0
  }
}

func get(_ port: UInt16, _ path: String, method: String = "GET") throws -> Client.Reply? {
  let client = try Client(port: port)
  try client.send("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
  return try client.reply(hasBody: method != "HEAD")
}
