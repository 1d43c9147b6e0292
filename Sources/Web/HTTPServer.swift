import CHTTP
import Synchronization

/// One request, as far as anything here looks at it.
public struct HTTPRequest {
  public let method: String
  /// Without the query, percent-decoded.
  public let path: String
  private let hasArgument: (String) -> Bool

  public init(method: String, path: String, hasArgument: @escaping (String) -> Bool) {
    self.method = method
    self.path = path
    self.hasArgument = hasArgument
  }

  /// Whether the query names it, with or without a value: `?verbose`.
  public func has(argument name: String) -> Bool { hasArgument(name) }
}

public struct HTTPResponse: Sendable {
  public var status: Int
  public var contentType: String
  public var body: [UInt8]
  /// The methods that the path does serve; for 405.
  public var allow: String?

  public init(status: Int, contentType: String, body: [UInt8], allow: String? = nil) {
    self.status = status
    self.contentType = contentType
    self.body = body
    self.allow = allow
  }

  public static func text(_ status: Int, _ body: String) -> HTTPResponse {
    HTTPResponse(status: status, contentType: "text/plain; charset=utf-8", body: Array(body.utf8))
  }
}

/// What a client may take of the server.
public struct HTTPLimits: Sendable {
  /// Connections at once, at least 2; when all are taken the oldest makes way for the next.
  public var connectionsMax = 64
  /// Seconds without a byte after which a connection is closed.
  public var idleSecondsMax = 10
  /// Bytes for the request line and headers of a connection.
  public var connectionBytesMax = 16_384

  public init() {}
}

public struct HTTPServerError: Error, CustomStringConvertible {
  public let description: String
}

/// An HTTP server with one thread of its own, on which the handler runs, one request at a time.
/// Stop it before letting go of it.
public final class HTTPServer: Sendable {
  private final class Handler: Sendable {
    let respond: @Sendable (HTTPRequest) -> HTTPResponse
    init(_ respond: @escaping @Sendable (HTTPRequest) -> HTTPResponse) { self.respond = respond }
  }

  /// The server's handle: started and stopped once, under the lock, and safe from any thread.
  private struct Handle: @unchecked Sendable {
    let server: OpaquePointer
    let handler: Unmanaged<Handler>
  }

  /// The address listened on, with the real port.
  public let port: UInt16
  private let handle: Mutex<Handle?>

  public init(
    address: ListenAddress, limits: HTTPLimits = HTTPLimits(),
    respond: @escaping @Sendable (HTTPRequest) -> HTTPResponse
  ) throws(HTTPServerError) {
    precondition(
      limits.connectionsMax >= 2, "with one connection a client could keep all others out")
    // Held by C until stop has joined the thread: the handler outlives its last call.
    let handler = Unmanaged.passRetained(Handler(respond))
    var reason = [CChar](repeating: 0, count: 256)
    let started = address.host.withCString { host in
      var options = chttp_options(
        address: host, port: address.port, connections_max: UInt32(limits.connectionsMax),
        idle_seconds_max: UInt32(limits.idleSecondsMax),
        connection_bytes_max: limits.connectionBytesMax)
      return chttp_server_start(&options, Self.serve, handler.toOpaque(), &reason, reason.count)
    }
    guard let started else {
      handler.release()
      let text = String(
        decoding: reason.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      throw HTTPServerError(description: "HTTP on \(address): \(text)")
    }
    port = chttp_server_port(started)
    handle = Mutex(Handle(server: started, handler: handler))
  }

  /// Closes every connection and joins the thread; no handler runs afterwards. Not from a handler.
  public func stop() {
    guard let running = handle.withLock({ $0.take() }) else { return }
    chttp_server_stop(running.server)
    running.handler.release()
  }

  deinit {
    precondition(handle.withLock { $0 == nil }, "an HTTP server was let go of while it runs")
  }

  private static let serve: chttp_handler = { context, request, response in
    let handler = Unmanaged<Handler>.fromOpaque(context!).takeUnretainedValue()
    let raw = request!.pointee
    let answer = handler.respond(
      HTTPRequest(
        method: String(cString: raw.method), path: String(cString: raw.path),
        hasArgument: { chttp_request_has_argument(request, $0) }))
    answer.body.withUnsafeBytes { body in
      chttp_respond(
        response, UInt32(answer.status), answer.contentType, answer.allow, body.baseAddress,
        body.count)
    }
  }
}
