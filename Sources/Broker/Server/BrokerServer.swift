import CBroker
import Glibc

/// The broker on a socket: one thread, loopback only.
public final class BrokerServer {
  public let core: BrokerCore
  /// The port it listens on, chosen by the system when 0 was asked for.
  public let port: Int32
  /// Called at SIGHUP, and with lines worth a log.
  public var onHangup: () -> Void = {}
  public var log: (String) -> Void = { _ in }

  private let listener: Int32
  private let poll: Int32
  private let stopper: Int32
  private var signals: Int32 = -1
  private var connections: [Int32: Connection] = [:]
  private var owners: [RequestId: Connection] = [:]
  private var stopping = false

  /// What the system refused when the server was set up.
  public struct SetupError: Error, CustomStringConvertible {
    public var what: String
    public var code: Int32

    public var description: String { "\(what): \(String(cString: strerror(code)))" }
  }

  /// Binds to 127.0.0.1; clients can connect from now on, and are answered once `run` runs.
  /// - Parameter port: 0 for any free one.
  public init(config: BrokerConfig, disk: (any Disk)? = nil, port: UInt16) throws(SetupError) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | 0o2004000, 0)
    guard listener >= 0 else { throw SetupError(what: "cannot make a socket", code: errno) }
    var yes: Int32 = 1
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && getsockname(listener, $0, &size) == 0
      }
    }
    guard bound, listen(listener, 512) == 0 else {
      let code = errno
      close(listener)
      throw SetupError(what: "cannot listen on 127.0.0.1:\(port)", code: code)
    }
    self.listener = listener
    self.port = Int32(UInt16(bigEndian: address.sin_port))
    poll = epoll_create1(Int32(EPOLL_CLOEXEC))
    stopper = eventfd(0, 0o2004000)
    guard poll >= 0, stopper >= 0 else { throw SetupError(what: "cannot poll", code: errno) }
    var config = config
    config.port = self.port
    core = BrokerCore(config: config, disk: disk, nowMs: Self.clockMs())
    watch(listener)
    watch(stopper)
  }

  deinit {
    connections.removeAll()
    close(listener)
    close(poll)
    close(stopper)
    if signals >= 0 { close(signals) }
  }

  /// Ends `run`, from any thread.
  public struct Stopper: Sendable {
    fileprivate let descriptor: Int32

    public func callAsFunction() { eventfd_write(descriptor, 1) }
  }

  public var stop: Stopper { Stopper(descriptor: stopper) }

  /// Takes SIGTERM and SIGINT as orders to stop, SIGHUP as `onHangup`. For a process of its own.
  public func takeSignals() {
    signals = cbroker_signals()
    if signals >= 0 { watch(signals) }
  }

  /// Milliseconds since 1970, by a clock that never goes back: the wall clock at the first call,
  /// and from there on the time that passed.
  static func clockMs() -> Int64 {
    func read(_ clock: clockid_t) -> Int64 {
      var time = timespec()
      clock_gettime(clock, &time)
      return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
    return read(CLOCK_MONOTONIC) + offsetMs
  }

  private static let offsetMs: Int64 = {
    var wall = timespec()
    var steady = timespec()
    clock_gettime(CLOCK_REALTIME, &wall)
    clock_gettime(CLOCK_MONOTONIC, &steady)
    return Int64(wall.tv_sec - steady.tv_sec) * 1000
      + Int64(wall.tv_nsec - steady.tv_nsec) / 1_000_000
  }()

  // MARK: The loop

  /// For a process that is a broker and nothing else: memory of dropped topics serves the next ones.
  /// Given back, its pages have to be cleared again, which was up to two thirds of the broker's
  /// processor time in a bench.
  public static func keepMemory() { cbroker_keep_memory() }

  /// Serves until it is stopped.
  public func run() {
    var events = [epoll_event](repeating: epoll_event(), count: 128)
    while !stopping {
      var wait: Int32 = -1
      if let due = core.nextDeadlineMs {
        wait = Int32(clamping: max(0, due - Self.clockMs()))
      }
      let count = epoll_wait(poll, &events, Int32(events.count), wait)
      core.advance(to: Self.clockMs())
      for event in events.prefix(Int(max(count, 0))) { handle(event) }
      deliver()
    }
  }

  private func handle(_ event: epoll_event) {
    let descriptor = event.data.fd
    if descriptor == listener { return acceptAll() }
    if descriptor == stopper {
      stopping = true
      return
    }
    if descriptor == signals { return readSignals() }
    guard let connection = connections[descriptor] else { return }
    if event.events & EPOLLOUT.rawValue != 0 {
      guard connection.flush() else { return drop(connection) }
      if !connection.hasOutput { modify(connection) }
    }
    if event.events & (EPOLLIN.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 {
      readAll(connection)
    }
  }

  private func readSignals() {
    var info = signalfd_siginfo()
    while read(signals, &info, MemoryLayout<signalfd_siginfo>.size) > 0 {
      if info.ssi_signo == UInt32(SIGHUP) { onHangup() } else { stopping = true }
    }
  }

  private func acceptAll() {
    while true {
      var peer: UInt16 = 0
      let descriptor = cbroker_accept(listener, &peer)
      guard descriptor >= 0 else { return }
      let connection = Connection(descriptor: descriptor, peer: "127.0.0.1:\(peer)")
      connections[descriptor] = connection
      watch(descriptor)
    }
  }

  private func readAll(_ connection: Connection) {
    while true {
      let result = connection.read()
      work(connection)
      guard connections[connection.descriptor] === connection else { return }
      switch result {
      case .more: continue
      case .drained: return
      case .ended: return drop(connection)
      case .full:
        // Too far ahead of its answers: reads again when the next one is given.
        if connection.pending != nil { return modify(connection, reading: false) }
      }
    }
  }

  /// Hands over requests, as many as are answered at once.
  private func work(_ connection: Connection) {
    while connection.pending == nil, connections[connection.descriptor] === connection {
      do {
        guard let frame = try connection.nextFrame() else {
          connection.rewind()
          return
        }
        try submit(frame, connection)
      } catch {
        log("\(connection.peer): closed after a malformed request: \(error)")
        return drop(connection)
      }
      deliver()
    }
  }

  private func submit(_ frame: ByteSlice, _ connection: Connection) throws(WireError) {
    let header: RequestHeader
    let request: Request
    do {
      (header, request) = try Frame.decode(frame)
    } catch .unsupportedVersion(let api, _) where api == ApiKey.apiVersions.rawValue {
      // Answered in version 0, which every client can read, so that it can choose another.
      var response = BrokerCore.apiVersions
      response.error = .unsupportedVersion
      connection.enqueue(
        try Frame.encode(
          .apiVersions(response), to: .apiVersions, version: 0,
          correlationId: UnsafeRawPointer(frame.start).big(4)))
      return finishWriting(connection)
    }
    let client = Client(id: header.clientId, host: "/127.0.0.1", version: header.version)
    let id = core.submit(request, from: client, nowMs: Self.clockMs())
    connection.pending = (id, header)
    owners[id] = connection
  }

  /// Sends the answers the core has given, to whomever they belong.
  private func deliver() {
    while true {
      let answers = core.takeAnswers()
      if answers.isEmpty { return }
      for answer in answers { deliver(answer) }
    }
  }

  private func deliver(_ answer: Answer) {
    guard let connection = owners.removeValue(forKey: answer.id),
      let (_, header) = connection.pending
    else { return }
    connection.pending = nil
    switch answer.outcome {
    case .close: return drop(connection)
    case .nothing: break
    case .response(let response):
      do {
        connection.enqueue(
          try Frame.encode(
            response, to: header.key, version: header.version, correlationId: header.correlationId))
      } catch {
        preconditionFailure("an answer cannot be written: \(error)")
      }
      finishWriting(connection)
    }
    resume.append(connection)
    guard !resuming else { return }
    resuming = true
    while let next = resume.popLast() {
      modifyIfPaused(next)
      work(next)
    }
    resuming = false
  }

  /// Connections whose next frames may be worked on. A list rather than recursion: an answer to one
  /// may release another, and so on.
  private var resume: [Connection] = []
  private var resuming = false
  private var paused: Set<Int32> = []

  private func finishWriting(_ connection: Connection) {
    guard connection.flush() else { return drop(connection) }
    if connection.hasOutput { modify(connection) }
  }

  private func drop(_ connection: Connection) {
    guard connections[connection.descriptor] === connection else { return }
    connections[connection.descriptor] = nil
    paused.remove(connection.descriptor)
    epoll_ctl(poll, EPOLL_CTL_DEL, connection.descriptor, nil)
    shutdown(connection.descriptor, Int32(SHUT_RDWR))
    if let (id, _) = connection.pending {
      core.abandon(id)
      owners[id] = nil
      connection.pending = nil
    }
  }

  // MARK: Polling

  private func watch(_ descriptor: Int32) {
    var event = epoll_event()
    event.events = EPOLLIN.rawValue
    event.data.fd = descriptor
    epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event)
  }

  private func modifyIfPaused(_ connection: Connection) {
    if paused.contains(connection.descriptor) { modify(connection) }
  }

  private func modify(_ connection: Connection, reading: Bool = true) {
    guard connections[connection.descriptor] === connection else { return }
    if reading {
      paused.remove(connection.descriptor)
    } else {
      paused.insert(connection.descriptor)
    }
    var event = epoll_event()
    event.events = reading ? EPOLLIN.rawValue : 0
    if connection.hasOutput { event.events |= EPOLLOUT.rawValue }
    event.data.fd = connection.descriptor
    epoll_ctl(poll, EPOLL_CTL_MOD, connection.descriptor, &event)
  }
}
