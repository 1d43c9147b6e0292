import Broker

/// Something that threads of a simulated process wait for.
final class Signal {
  fileprivate var waiting: [(fiber: Fiber, wait: UInt64)] = []
}

/// One thread, one clock, one broker, and everything else that happens, in an order drawn from a seed.
///
/// Nothing outside of it is asked: no clock, no disk, no other thread. Where a dictionary or a set is
/// gone through, it is sorted first.
final class World {
  let seed: UInt64
  private(set) var nowMs: Int64 = 1_000
  private(set) var steps = 0
  private(set) var broker: BrokerCore
  private let disk = MemoryDisk()
  private let config: BrokerConfig
  var trace: Trace
  private var queue = EventQueue()
  private var ties: SimRandom
  private var latencies: SimRandom
  private(set) var current: Fiber?
  private var exchanges: [RequestId: Exchange] = [:]
  /// Told whenever the broker did something.
  var onBrokerChange: () -> Void = {}
  /// Told when a broker that was started again has carried out what was decided, all at once.
  var onRestart: () -> Void = {}
  /// Says what becomes of a request on its way.
  var fate: (Exchange) -> Fate = { _ in Fate() }
  /// Told where a request is, so that its machine may be made to end there.
  var passing: (Exchange, Passing) -> Void = { _, _ in }
  /// Added to every way.
  var slowMs: Int64 = 0

  init(seed: UInt64, config: BrokerConfig, keepsLines: Bool) {
    self.seed = seed
    self.config = config
    trace = Trace(keepsLines: keepsLines)
    ties = SimRandom(seed: seed, stream: 1)
    latencies = SimRandom(seed: seed, stream: 2)
    broker = BrokerCore(config: config, disk: disk, nowMs: nowMs)
  }

  // MARK: The scheduler

  /// Does the next thing that is due. False where there is none by `untilMs`.
  func step(untilMs: Int64) -> Bool {
    while true {
      let due = queue.nextDueMs ?? .max
      if let deadline = broker.nextDeadlineMs, deadline <= due {
        guard deadline <= untilMs else { return false }
        nowMs = max(nowMs, deadline)
        broker.advance(to: nowMs)
        settleBroker()
        return true
      }
      guard due <= untilMs, let (event, dueMs) = queue.pop() else { return false }
      nowMs = max(nowMs, dueMs)
      guard perform(event) else { continue }
      steps += 1
      return true
    }
  }

  /// False where it was of no account any more.
  private func perform(_ event: EventQueue.Event) -> Bool {
    switch event {
    case .wake(let fiber, let wait, let isSignal):
      guard !fiber.isDone, fiber.waits == wait else { return false }
      if fiber.machine.frozenUntilMs > nowMs {
        add(event, at: fiber.machine.frozenUntilMs)
        return false
      }
      if isSignal { fiber.wasSignalled = true }
      trace.add(nowMs &* 31 &+ Int64(fiber.machine.number))
      resume(fiber)
    case .deliver(let exchange): deliver(exchange)
    case .answer(let exchange):
      exchange.isOver = true
      fire(exchange.signal)
    case .call(let body): body()
    }
    return true
  }

  private func resume(_ fiber: Fiber) {
    current = fiber
    fiber.resume()
    current = nil
  }

  /// Runs a thread of a dead process to its end.
  func finish(_ fiber: Fiber) {
    resume(fiber)
    precondition(fiber.isDone, "\(fiber.name) goes on after its process was killed")
  }

  func start(_ fiber: Fiber) {
    add(.wake(fiber, wait: fiber.beginWait(), isSignal: false), at: nowMs)
  }

  private func add(_ event: EventQueue.Event, at dueMs: Int64) {
    queue.add(event, at: dueMs, tie: ties.next())
  }

  func after(ms: Int64, _ body: @escaping () -> Void) { add(.call(body), at: nowMs + ms) }

  /// Nothing more happens. What was still to come holds on to those it was to happen to, and they to this
  /// world: a sweep would keep every world it has been through.
  func end() {
    queue = EventQueue()
    exchanges = [:]
    (fate, passing) = ({ _ in Fate() }, { _, _ in })
    (onBrokerChange, onRestart) = ({}, {})
  }

  // MARK: Waiting, from a thread

  func sleep(ms: Int64) {
    guard let fiber = current, !fiber.machine.isDead else { return }
    add(.wake(fiber, wait: fiber.beginWait(), isSignal: false), at: nowMs + max(0, ms))
    park(fiber)
  }

  /// True where the signal came in time.
  func wait(for signal: Signal, ms: Int64) -> Bool {
    guard let fiber = current, !fiber.machine.isDead else { return false }
    let wait = fiber.beginWait()
    signal.waiting.append((fiber, wait))
    add(.wake(fiber, wait: wait, isSignal: false), at: nowMs + max(0, ms))
    park(fiber)
    signal.waiting.removeAll { $0.fiber === fiber }
    return fiber.wasSignalled
  }

  private func park(_ fiber: Fiber) {
    current = nil
    fiber.yield()
    current = fiber
  }

  func fire(_ signal: Signal) {
    for (fiber, wait) in signal.waiting {
      add(.wake(fiber, wait: wait, isSignal: true), at: nowMs)
    }
    signal.waiting.removeAll()
  }

  // MARK: The network

  /// Sends a request and waits for its answer. Nil where none came: it was lost, or its answer was, or
  /// there was no time; what has happened is not known then.
  func call(_ request: Request, on connection: Connection, timeoutMs: Int64) -> Response? {
    guard let fiber = current, !fiber.machine.isDead, timeoutMs > 0 else { return nil }
    let exchange = Exchange(request, connection)
    passing(exchange, .before)
    guard !fiber.machine.isDead else { return nil }
    exchange.fate = fate(exchange)
    send(exchange)
    passing(exchange, .sent)
    _ = wait(for: exchange.signal, ms: timeoutMs)
    guard !fiber.machine.isDead else { return nil }
    exchange.isAbandoned = !exchange.isOver
    passing(exchange, .after)
    return fiber.machine.isDead ? nil : exchange.response
  }

  private func send(_ exchange: Exchange) {
    let way = latencies.within(0...2) + slowMs + exchange.fate.delayMs
    if exchange.fate.isLost {
      // The connection breaks, and the client hears of it.
      add(.answer(exchange), at: nowMs + way + 1)
      return
    }
    // One connection keeps its order; whoever asks again asks behind what it asked before.
    exchange.connection.lastDeliveryMs = max(exchange.connection.lastDeliveryMs, nowMs + way)
    exchange.connection.inFlight.append(exchange)
    add(.deliver(exchange), at: exchange.connection.lastDeliveryMs)
  }

  private func deliver(_ next: Exchange) {
    // Of those due at the same millisecond the tie may have drawn a later one first.
    let exchange = next.connection.inFlight.removeFirst()
    trace.add(nowMs &* 37 &+ Int64(exchange.request.key.rawValue))
    if let refusal = exchange.fate.refusal {
      exchange.response = exchange.request.refused(refusal)
      add(.answer(exchange), at: nowMs + 1)
      return
    }
    for _ in 0..<exchange.fate.times {
      let client = Client(id: exchange.connection.name)
      let id = broker.submit(exchange.request, from: client, nowMs: nowMs)
      exchanges[id] = exchange
      settleBroker()
    }
  }

  private func settleBroker() {
    for answer in broker.takeAnswers() {
      guard let exchange = exchanges.removeValue(forKey: answer.id) else { continue }
      guard case .response(let response) = answer.outcome else { continue }
      let way = latencies.within(0...2) + slowMs
      if !exchange.fate.losesAnswer { exchange.response = response }
      add(.answer(exchange), at: nowMs + way)
    }
    onBrokerChange()
  }

  /// Asks the broker without a network: for those who watch, and for clients whose own troubles are
  /// none of this world's.
  func ask(_ request: Request) -> Response {
    let id = broker.submit(request, from: Client(id: "world"), nowMs: nowMs)
    var found: Response?
    for answer in broker.takeAnswers() {
      guard case .response(let response) = answer.outcome else { continue }
      if answer.id == id {
        found = response
      } else if let exchange = exchanges.removeValue(forKey: answer.id) {
        if !exchange.fate.losesAnswer { exchange.response = response }
        add(.answer(exchange), at: nowMs + latencies.within(0...2) + slowMs)
      }
    }
    guard let found else { preconditionFailure("no answer at once to \(request.key)") }
    return found
  }

  /// The broker ends and starts again on its disk: every connection breaks.
  func restartBroker() {
    for id in exchanges.keys.sorted() {
      add(.answer(exchanges[id]!), at: nowMs + 1)
    }
    exchanges.removeAll()
    broker = BrokerCore(config: config, disk: disk, nowMs: nowMs)
    onRestart()
    settleBroker()
  }
}
