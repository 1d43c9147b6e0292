import Broker
import Gate

/// Everybody around the gate: services that notify, users who change their minds, dispatchers that answer.
/// Their own troubles are none of this world's, so they reach the broker without a network.
final class Workload {
  private unowned let world: World
  private let surroundings: Surroundings
  private let ledger: Ledger
  private let scenario: Scenario
  private var random: SimRandom
  private var versions: [String: Int] = [:]
  private var aborted = 0
  private var dispatched: [Int64] = []
  private var dispatchRandom: SimRandom
  private(set) var isOver = false
  private static let categories = ["transactional", "transactional", "social", "marketing"]

  init(_ world: World, _ surroundings: Surroundings, _ ledger: Ledger) {
    self.world = world
    self.surroundings = surroundings
    self.ledger = ledger
    scenario = surroundings.scenario
    random = SimRandom(seed: world.seed, stream: 4)
    dispatchRandom = SimRandom(seed: world.seed, stream: 5)
    dispatched = Array(repeating: 0, count: Int(scenario.partitions))
  }

  // MARK: Beginning and end

  func start() {
    createTopics()
    for user in 0..<scenario.users { writeDocument(user) }
    repeating(everyMs: scenario.candidateEveryMs) { [self] in writeCandidates() }
    repeating(everyMs: scenario.preferenceEveryMs) { [self] in changePreferences() }
    repeating(everyMs: 100) { [self] in dispatch() }
  }

  func stop() { isOver = true }

  private func repeating(everyMs: Int64, _ body: @escaping () -> Void) {
    world.after(ms: 1 + everyMs / 2 + random.within(0...everyMs)) { [self] in
      guard !isOver else { return }
      body()
      repeating(everyMs: everyMs, body)
    }
  }

  private func createTopics() {
    let count = scenario.partitions
    let compacted = [("cleanup.policy", "compact"), ("segment.ms", "3000")]
    let plain = [("retention.ms", "-1")]
    let topics: [(String, [(String, String)])] = [
      (SimTopics.candidates(.ordinary), plain), (SimTopics.candidates(.security), plain),
      (SimTopics.approved, plain), (SimTopics.dropped, plain), (SimTopics.receipts, plain),
      (SimTopics.deferred, compacted), (SimTopics.state(.ordinary), compacted),
      (SimTopics.state(.security), compacted), (SimTopics.preferences, plain),
    ]
    for (name, settings) in topics {
      _ = world.ask(Requests.createTopic(name, partitions: count, settings))
    }
    _ = world.ask(Requests.createTopic(SimTopics.defaults, partitions: 1, compacted))
  }

  private func produce(_ record: Record, to topic: String, _ partition: Int32) -> Int64 {
    guard case .produce(let answer) = world.ask(Requests.produce([record], to: topic, partition))
    else { preconditionFailure("no answer to a produce request") }
    let placed = answer.topics[0].partitions[0]
    precondition(placed.error == .none, "the broker refused a record: \(placed.error.rawValue)")
    return placed.baseOffset
  }

  private func partition(_ user: String) -> Int32 {
    Array(user.utf8).withUnsafeBytes {
      Partitioner.partition(forKey: $0, count: scenario.partitions)
    }
  }

  // MARK: Candidates

  /// Some for every partition.
  func writeLast() {
    for number in 0..<(8 * Int(scenario.partitions)) {
      let user = "last\(number)"
      write(
        Input(
          number: ledger.inputs.count, lane: .ordinary, partition: partition(user), offset: 0,
          user: user, notification: "n\(ledger.inputs.count)", device: nil, category: "social",
          expiresAtMs: nil, collapseKey: nil))
    }
  }

  private func writeCandidates() {
    if random.chance(3) { writeAborted() }
    for _ in 0..<(1 + random.below(random.chance(10) ? 12 : 3)) { writeCandidate() }
  }

  /// One that was never sent: its producer thought better of it.
  private func writeAborted() {
    aborted += 1
    let id = "notifier-\(aborted)"
    var initialise = InitProducerIdRequest()
    (initialise.transactionalId, initialise.transactionTimeoutMs) = (id, 2_000)
    guard case .initProducerId(let producer) = world.ask(.initProducerId(initialise)) else {
      return
    }
    let user = "u\(random.below(scenario.users))"
    let input = Input(
      number: -1, lane: .ordinary, partition: partition(user), offset: 0, user: user,
      notification: "aborted\(aborted)", device: nil, category: "transactional",
      expiresAtMs: nil, collapseKey: nil)
    var add = AddPartitionsToTxnRequest()
    (add.transactionalId, add.producerId, add.producerEpoch) = (
      id, producer.producerId, producer.producerEpoch
    )
    var topic = OffsetFetchTopic()
    (topic.name, topic.partitions) = (SimTopics.candidates(.ordinary), [input.partition])
    add.topics = [topic]
    _ = world.ask(.addPartitionsToTxn(add))
    var builder = BatchBuilder()
    (builder.producerId, builder.producerEpoch) = (producer.producerId, producer.producerEpoch)
    (builder.baseSequence, builder.isTransactional) = (0, true)
    let record = Record(
      timestampMs: world.nowMs, key: Array(user.utf8), value: Array(input.json.utf8))
    _ = world.ask(
      Requests.produce(
        [record], to: topic.name, input.partition, builder: builder, transactionalID: id))
    world.after(ms: random.within(0...200)) { [world] in
      var end = EndTxnRequest()
      (end.transactionalId, end.producerId, end.producerEpoch) = (
        id, producer.producerId, producer.producerEpoch
      )
      _ = world.ask(.endTxn(end))
    }
  }

  private func writeCandidate() {
    let user = "u\(random.below(scenario.users + 1))"
    let lane: Lane = scenario.hasSecurityLane && random.chance(15) ? .security : .ordinary
    let number = ledger.inputs.count
    var input = Input(
      number: number, lane: lane, partition: partition(user), offset: 0, user: user,
      notification: "n\(number)", device: nil,
      category: lane == .security ? "security" : random.pick(Self.categories), expiresAtMs: nil,
      collapseKey: nil)
    if random.chance(30) { input.device = "\(user)-\(random.below(2))" }
    if random.chance(25) {
      input.expiresAtMs = surroundings.wall.nowMs + random.within(-5...180) * 60_000
    }
    if random.chance(25) { input.collapseKey = "c\(random.below(2))" }
    if random.chance(20) { repeatEarlier(&input) }
    write(input)
  }

  private func write(_ given: Input) {
    var input = given
    let record = Record(
      timestampMs: world.nowMs, key: Array(input.user.utf8), value: Array(input.json.utf8))
    input.offset = produce(record, to: SimTopics.candidates(input.lane), input.partition)
    ledger.issued(input)
    world.trace.add(input.offset)
    world.trace.say(world.nowMs) {
      "candidate \(input.number) at \(input.partition)-\(input.offset): \(input.json)"
    }
  }

  /// The same notification once more, to the same user.
  private func repeatEarlier(_ input: inout Input) {
    let (user, lane) = (input.user, input.lane)
    let earlier = ledger.inputs.suffix(60).filter { $0.user == user && $0.lane == lane }
    guard !earlier.isEmpty else { return }
    let one = random.pick(earlier)
    input.notification = one.notification
    // Under another category it would be another matter for the caps.
    input.category = one.category
  }

  // MARK: Preferences

  private func changePreferences() {
    let number = random.below(scenario.users)
    if random.chance(4) {
      write(nil, of: "u\(number)")
    } else {
      writeDocument(number)
    }
  }

  private func writeDocument(_ number: Int) {
    let user = "u\(number)"
    let version = (versions[user] ?? 0) + 1
    versions[user] = version
    var document = Document(
      user: user, version: version, off: [], window: nil, zone: nil, devices: [])
    for category in ["transactional", "social", "marketing"] where random.chance(8) {
      document.off.insert(category)
    }
    if random.chance(70) { document.window = window() }
    if random.chance(60) { document.zone = random.pick(scenario.zones) }
    for index in 0..<2 where !scenario.losesDevices || random.chance(85) {
      var device = Document.Device(
        id: "\(user)-\(index)", isGranted: random.chance(93), off: [])
      if random.chance(8) { device.off.insert("transactional") }
      document.devices.append(device)
    }
    write(document, of: user)
  }

  /// Around now in some zone, so that it matters.
  private func window() -> Document.Window {
    let zone = SimZones.offsetSeconds(
      random.pick(scenario.zones), version: surroundings.zonesVersion,
      atMs: surroundings.wall.nowMs)
    let now = (surroundings.wall.nowMs / 60_000 + zone / 60) % 1_440
    let start = (now + random.within(-50...20) + 1_440) % 1_440
    return Document.Window(
      start: start, end: (start + random.within(5...(random.chance(70) ? 60 : 200))) % 1_440)
  }

  private func write(_ document: Document?, of user: String) {
    let record = Record(
      timestampMs: world.nowMs, key: Array(user.utf8),
      value: document.map { Array($0.json.utf8) })
    let offset = produce(record, to: SimTopics.preferences, partition(user))
    ledger.wrote(document, of: user, offset: offset, atMs: world.nowMs)
    world.trace.add(offset)
    world.trace.say(world.nowMs) {
      "preferences of \(user) at \(offset): \(document?.json ?? "erased")"
    }
  }

  // MARK: Dispatchers

  private func dispatch() {
    let wanted = dispatched.indices.map {
      (topic: SimTopics.approved, partition: Int32($0), offset: dispatched[$0])
    }
    let answer = world.ask(Requests.fetch(wanted, isolation: 1, maxWaitMs: 0))
    for (_, fetched) in answer.fetched {
      let from = dispatched[Int(fetched.index)]
      let (records, next) = fetched.committedRecords(from: from)
      dispatched[Int(fetched.index)] = next
      for record in records { send(record, fetched.index) }
    }
  }

  private func send(_ record: Record, _ partition: Int32) {
    guard let json = SimJSON.read(record.value ?? []), let user = json["user_id"]?.string,
      let notification = json["notification_id"]?.string, let device = json["device_id"]?.string
    else { return }
    // Some are never answered.
    guard dispatchRandom.chance(80) else { return }
    let isAccepted = dispatchRandom.chance(50)
    let times = dispatchRandom.chance(10) ? 2 : 1
    for _ in 0..<times {
      world.after(ms: dispatchRandom.within(10...2_000)) { [self] in
        guard !isOver else { return }
        let status = isAccepted ? "accepted" : "rejected"
        let text =
          #"{"notification_id":"\#(notification)","device_id":"\#(device)","user_id":"\#(user)","#
          + #""provider":"apns","status":"\#(status)","at":1772409600000}"#
        let offset = produce(
          Record(timestampMs: world.nowMs, key: Array(user.utf8), value: Array(text.utf8)),
          to: SimTopics.receipts, partition)
        ledger.wrote(
          Ledger.ReceiptEntry(
            user: user, notification: notification, device: device, isAccepted: isAccepted),
          partition: partition, offset: offset)
        world.trace.add(offset)
      }
    }
  }
}
