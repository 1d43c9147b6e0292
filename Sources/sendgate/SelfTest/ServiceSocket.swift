import CTLS
import Glibc
import Telemetry

/// Why the service could not be asked.
struct ServiceFailure: Error, Equatable {
  var words: String
}

/// One connection to the preference service, with TLS where its address says so. No call waits beyond
/// the deadline that it was opened with.
struct ServiceSocket: ~Copyable {
  private let descriptor: Int32
  private let tls: OpaquePointer?
  private let deadlineNs: Int64
  private static let reasonBytes = 256

  init(
    _ address: ServiceAddress, caFile: String?, deadlineNs: Int64
  ) throws(ServiceFailure) {
    let connected = try Self.connect(address, deadlineNs)
    var made: OpaquePointer?
    if address.isSecure {
      var reason = [CChar](repeating: 0, count: Self.reasonBytes)
      made = ct_connect(connected, address.host, caFile, &reason, reason.count)
      guard made != nil else {
        close(connected)
        throw ServiceFailure(words: "TLS with \(address.authority): \(Self.text(reason))")
      }
    }
    self.deadlineNs = deadlineNs
    descriptor = connected
    tls = made
  }

  deinit {
    if let tls { ct_free(tls) }
    close(descriptor)
  }

  /// The first of the host's addresses that lets itself be connected to.
  private static func connect(
    _ address: ServiceAddress, _ deadlineNs: Int64
  ) throws(ServiceFailure) -> Int32 {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(address.host, "\(address.port)", &hints, &found)
    guard code == 0, let first = found else {
      throw ServiceFailure(words: "\(address.host): \(String(cString: gai_strerror(code)))")
    }
    defer { freeaddrinfo(first) }
    var reason = "no address"
    var at: UnsafeMutablePointer<addrinfo>? = first
    while let one = at {
      let info = one.pointee
      let descriptor = socket(info.ai_family, info.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
      guard descriptor >= 0 else { throw ServiceFailure(words: Process.reason(errno)) }
      // Counts for connecting, too.
      limit(descriptor, deadlineNs)
      if Glibc.connect(descriptor, info.ai_addr, info.ai_addrlen) == 0 {
        limit(descriptor, deadlineNs)
        return descriptor
      }
      reason = errno == EINPROGRESS ? "no answer in time" : Process.reason(errno)
      close(descriptor)
      at = info.ai_next
    }
    throw ServiceFailure(words: "connecting to \(address.authority): \(reason)")
  }

  /// What waits on the socket next waits until the deadline.
  private static func limit(_ descriptor: Int32, _ deadlineNs: Int64) {
    // 0 would be no limit at all.
    let left = max(1_000, (deadlineNs - SystemTime.monotonicNs()) / 1_000)
    var time = timeval(tv_sec: Int(left / 1_000_000), tv_usec: Int(left % 1_000_000))
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, size)
  }

  func write(_ bytes: [UInt8]) throws(ServiceFailure) {
    Self.limit(descriptor, deadlineNs)
    if let tls {
      var reason = [CChar](repeating: 0, count: Self.reasonBytes)
      guard ct_write_all(tls, bytes, bytes.count, &reason, reason.count) == 0 else {
        throw ServiceFailure(words: "writing: \(Self.text(reason))")
      }
      return
    }
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes {
        send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else {
        throw ServiceFailure(
          words: "writing: \(errno == EAGAIN ? "not taken in time" : Process.reason(errno))")
      }
      written += count
    }
  }

  /// Empty at the end.
  func read(upTo count: Int) throws(ServiceFailure) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let read: Int
    Self.limit(descriptor, deadlineNs)
    if let tls {
      var reason = [CChar](repeating: 0, count: Self.reasonBytes)
      read = ct_read(tls, &bytes, count, &reason, reason.count)
      guard read >= 0 else { throw ServiceFailure(words: "reading: \(Self.text(reason))") }
    } else {
      var got = recv(descriptor, &bytes, count, 0)
      while got < 0 && errno == EINTR { got = recv(descriptor, &bytes, count, 0) }
      guard got >= 0 else {
        throw ServiceFailure(
          words: "reading: \(errno == EAGAIN ? "no answer in time" : Process.reason(errno))")
      }
      read = got
    }
    return Array(bytes.prefix(read))
  }

  private static func text(_ reason: [CChar]) -> String {
    String(decoding: reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
