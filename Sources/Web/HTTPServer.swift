import CHTTP
import Synchronization

/// What a client may take of the server.
public struct HTTPLimits: Sendable {
  /// Connections at once, at least 2 and twice the threads; when all are taken, the one longest
  /// without a request makes way for the next.
  public var connectionsMax = 64
  /// Seconds without a byte after which a connection is closed.
  public var idleSecondsMax = 10
  /// Bytes for the request line and headers of a connection.
  public var connectionBytesMax = 16_384
  /// The longest body that is read; 0: none is.
  public var bodyBytesMax = 0
  /// A longer body is read to its end and thrown away up to so many bytes, so that its sender sees
  /// the refusal; a still longer one is refused unread.
  public var bodyDiscardBytesMax = 0
  /// How long a stop waits for requests that have begun, milliseconds.
  public var drainMs = 0

  public init() {}
}

public enum HTTPThreads: Sendable, Equatable {
  /// One for all: handlers run one at a time, and must not wait.
  case one
  /// So many, at least 2, each with its share of the connections.
  case pool(Int)
  /// One for each connection: a handler that waits delays nobody else.
  case perConnection

  var count: UInt32 {
    switch self {
    case .one: 1
    case .pool(let count): UInt32(count)
    case .perConnection: 0
    }
  }
}

/// What a server proves itself with: certificate chain and private key, PEM.
public struct HTTPCertificate: Sendable {
  public var chain: String
  public var key: String

  public init(chain: String, key: String) {
    self.chain = chain
    self.key = key
  }
}

public struct HTTPServerError: Error, CustomStringConvertible {
  public let description: String
}

/// An HTTP/1.1 server with threads of its own, on which the handler runs. Stop it before letting go
/// of it.
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

  /// - Parameter respond: called from several threads at a time unless `threads` is `.one`.
  public init(
    address: ListenAddress, limits: HTTPLimits = HTTPLimits(), threads: HTTPThreads = .one,
    certificate: HTTPCertificate? = nil,
    respond: @escaping @Sendable (HTTPRequest) -> HTTPResponse
  ) throws(HTTPServerError) {
    precondition(
      limits.connectionsMax >= 2 && limits.connectionsMax >= 2 * threads.count,
      "with one connection for a thread a client could keep all others out")
    // Held by C until stop has joined the threads: the handler outlives its last call.
    let handler = Unmanaged.passRetained(Handler(respond))
    var reason = [CChar](repeating: 0, count: 256)
    let started = address.host.withCString { host in
      HTTPCString.with(certificate?.chain) { chain in
        HTTPCString.with(certificate?.key) { key in
          var options = chttp_options(
            address: host, port: address.port, threads: threads.count,
            connections_max: UInt32(limits.connectionsMax),
            idle_seconds_max: UInt32(limits.idleSecondsMax),
            connection_bytes_max: limits.connectionBytesMax,
            body_bytes_max: limits.bodyBytesMax,
            body_discard_bytes_max: limits.bodyDiscardBytesMax,
            drain_ms: UInt32(limits.drainMs), tls_certificate: chain, tls_key: key)
          return chttp_server_start(
            &options, Self.serve, handler.toOpaque(), &reason, reason.count)
        }
      }
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

  /// Closes every connection and joins the threads; no handler runs afterwards. Not from a handler.
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
    HTTPExchange.answer(handler.respond(HTTPExchange.read(request!)), to: response!)
  }
}

enum HTTPCString {
  /// A C string for the time of a call, or NULL.
  static func with<R>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> R) -> R {
    guard let text else { return body(nil) }
    return text.withCString { body($0) }
  }
}
