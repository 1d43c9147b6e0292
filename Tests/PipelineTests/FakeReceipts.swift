@testable import Gate
@testable import Pipeline

/// One record of the receipts topic of the fake cluster; its offset is its place.
struct FakeReceipt {
  var key: [UInt8]
  var value: [UInt8]
}

final class FakeReceiptSource: ReceiptSource {
  private let cluster: FakeCluster
  private var positions: [Int32: Int64] = [:]
  private var kept: [UnsafeMutableRawBufferPointer] = []
  private let records = UnsafeMutableBufferPointer<InputRecord>.allocate(capacity: 256)
  var recordsPerPoll = 3
  /// Failures of the next calls.
  var failures = 0
  /// Where each partition's log begins now.
  var logStarts: [Int32: Int64] = [:]
  private(set) var isClosed = false

  init(_ cluster: FakeCluster) { self.cluster = cluster }

  deinit {
    release()
    records.deallocate()
  }

  private func failIfPlanned() throws(Failure) {
    guard failures > 0 else { return }
    failures -= 1
    throw Failure(failures % 2 == 0 ? .fatal : .retriable, "the receipts topic does not answer")
  }

  func startOffsets(of partitions: [Int32]) throws(Failure) -> [PartitionOffset] {
    try failIfPlanned()
    return partitions.map {
      PartitionOffset(
        partition: $0, offset: cluster.committedReceipts[$0] ?? logStarts[$0] ?? 0)
    }
  }

  func logStart(of partition: Int32) throws(Failure) -> Int64 { logStarts[partition] ?? 0 }

  func read(_ positions: [PartitionOffset]) throws(Failure) {
    try failIfPlanned()
    self.positions = [:]
    for position in positions { self.positions[position.partition] = position.offset }
  }

  func poll(
    _ onOutOfRange: (Int32) -> Void
  ) throws(Failure) -> UnsafeMutableBufferPointer<InputRecord> {
    try failIfPlanned()
    var count = 0
    for (partition, position) in positions.sorted(by: { $0.key < $1.key }) {
      if position < logStarts[partition] ?? 0 {
        onOutOfRange(partition)
        continue
      }
      let log = cluster.receipts[partition] ?? []
      for offset in Int(
        position)..<max(Int(position), min(log.count, Int(position) + recordsPerPoll))
      {
        records[count] = InputRecord(
          partition: partition, offset: Int64(offset), timestampMs: 0, key: keep(log[offset].key),
          value: keep(log[offset].value), handle: nil)
        count += 1
        positions[partition] = Int64(offset) + 1
      }
    }
    return UnsafeMutableBufferPointer(rebasing: records[..<count])
  }

  private func keep(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    copy.copyBytes(from: bytes)
    kept.append(copy)
    return UnsafeRawBufferPointer(copy)
  }

  func release() {
    for one in kept { one.deallocate() }
    kept = []
  }

  func close() { isClosed = true }
}

/// One output for each record: approved for one device, or capped by what the lane counts.
final class CapDecider: Pipeline.Decider {
  private let cluster: FakeCluster
  private let state: LaneState
  private let cap: Cap
  private let zones = ZonePublisher(epochs: Epochs())
  private var out = JSONWriter(capacity: 1 << 16)
  private var drafts = StateDrafts()
  private var outputs: [OutputRecord] = []
  private let value = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)

  init(_ cluster: FakeCluster, _ state: LaneState, _ policy: Policy) {
    self.cluster = cluster
    self.state = state
    cap = policy.rules.caps[Int(policy.rules.capStarts[Int(Category.social.rawValue)])]
  }

  deinit { value.deallocate() }

  var stateRecords: UnsafeBufferPointer<StateRecord> { drafts.records }

  func decide(
    _ records: UnsafeBufferPointer<InputRecord>, nowMs: Int64
  ) -> UnsafeBufferPointer<OutputRecord> {
    out.removeAll()
    drafts.removeAll()
    outputs = records.indices.map { decide($0, records[$0], nowMs) }
    drafts.finish(out.base)
    return outputs.withUnsafeBufferPointer { $0 }
  }

  private func decide(_ index: Int, _ record: InputRecord, _ nowMs: Int64) -> OutputRecord {
    let decision = FakeCluster.Decision(partition: record.partition, offset: record.offset)
    let user = CapRig.user(of: decision, in: cluster)
    let isCapped = user.withUnsafeBytes { user in
      Array(cluster.id(decision).utf8).withUnsafeBytes { id in
        ask(record.partition, user: user, id: id, nowMs)
      }
    }
    return OutputRecord(
      outcome: isCapped ? .dropped : .approved, reason: isCapped ? .frequencyCapped : .ok,
      category: .social, inputIndex: index, key: nil, value: UnsafeRawBufferPointer(value),
      notificationID: nil)
  }

  /// Asks, and counts where there is room. Returns whether there was none.
  private func ask(_ partition: Int32, user: Bytes, id: Bytes, _ nowMs: Int64) -> Bool {
    let ask = state.capAsk(user, .social, id)
    let view = state.capView(partition, ask, nowMs: nowMs)
    if !view.isCounted,
      cap.freesAtMs(view.entries, nowMs: nowMs, zone: 0, in: zones.current) != nil
    {
      return true
    }
    let device = Array("d".utf8)
    let isNews = device.withUnsafeBytes {
      state.countApproval(partition, ask, device: $0, nowMs: nowMs)
    }
    if isNews {
      state.writeCapRecord(
        partition, ask, user: user, category: .social, notification: id, nowMs: nowMs, to: &out,
        &drafts)
    }
    return false
  }
}

/// A loop that counts against a cap, with its surroundings; beside it somebody who answers each
/// approval that is committed with a receipt, sometimes twice.
final class CapRig {
  static let capCount = 3
  static let usersEach = 2
  static let policy: Policy = {
    // The third of the four lists is the social one's.
    let pieces = "\(BuiltInPolicy.json)".split(
      separator: #""caps": []"#, omittingEmptySubsequences: false)
    precondition(pieces.count == 5)
    let cap = #"{"name":"c","count":\#(capCount),"style":"sliding","window_seconds":604800}"#
    let caps = ["[]", "[]", "[\(cap)]", "[]"]
    var text = String(pieces[0])
    for (cap, piece) in zip(caps, pieces[1...]) { text += #""caps": \#(cap)"# + piece }
    return text.withUTF8 { try! Policy(json: UnsafeRawBufferPointer($0)) }
  }()

  /// Names that lead to each of so many partitions.
  private static func users(_ partitions: Int) -> [[[UInt8]]] {
    var found: [[[UInt8]]] = Array(repeating: [], count: partitions)
    var number = 0
    while found.contains(where: { $0.count < usersEach }) {
      let name = Array("user-\(number)".utf8)
      let partition = name.withUnsafeBytes {
        Partitioner.partition(forKey: $0, count: Int32(partitions))
      }
      if found[Int(partition)].count < usersEach { found[Int(partition)].append(name) }
      number += 1
    }
    return found
  }

  static func user(of decision: FakeCluster.Decision, in cluster: FakeCluster) -> [UInt8] {
    let index = cluster.log[decision.partition]!.firstIndex(of: decision.offset)!
    return cluster.users[Int(decision.partition)][index % usersEach]
  }

  let cluster: FakeCluster
  let clock = FakeClock()
  let source: FakeSource
  let sink: FakeSink
  let stateSource: FakeStateSource
  let receiptSource: FakeReceiptSource
  let state: LaneState
  let control = LaneControl()
  let readiness = PreferenceReadiness()
  let counters = LoopCounters()
  private(set) var events: [LoopEvent] = []
  var pollsMax = 600
  /// Which notifications the provider rejects.
  var rejects: (FakeCluster.Decision) -> Bool = { _ in false }

  init(on cluster: FakeCluster, isTransactional: Bool = true) {
    self.cluster = cluster
    if cluster.users.isEmpty { cluster.users = Self.users(cluster.partitions.count) }
    source = FakeSource(cluster, clock)
    sink = FakeSink(cluster, isTransactional: isTransactional)
    stateSource = FakeStateSource(cluster)
    receiptSource = FakeReceiptSource(cluster)
    state = LaneState(
      policy: Self.policy, partitionCount: Int32(cluster.partitions.count), hashKey: (1, 2))
    source.note(.assigned(cluster.partitions))
    readiness.setFresh(atMs: clock.nowMs)
    readiness.becomeReady()
  }

  convenience init(partitions: Int32 = 2, recordsEach: Int = 60) {
    self.init(on: FakeCluster(partitions: partitions, recordsEach: recordsEach))
  }

  /// Answers what was approved and not answered yet.
  func dispatch() {
    while cluster.answered < cluster.approvals.count {
      let approval = cluster.approvals[cluster.answered]
      let user = Self.user(of: approval, in: cluster)
      let status = rejects(approval) ? "rejected" : "accepted"
      let text =
        #"{"notification_id":"\#(cluster.id(approval))","device_id":"d","user_id":"\#(String(decoding: user, as: UTF8.self))","provider":"apns","status":"\#(status)","at":1773095400000}"#
      for _ in 0...(cluster.answered % 3 == 0 ? 1 : 0) {
        cluster.receipts[approval.partition, default: []].append(
          FakeReceipt(key: user, value: Array(text.utf8)))
      }
      cluster.answered += 1
    }
  }

  /// Every receipt was read, and its transaction committed.
  var areReceiptsRead: Bool {
    cluster.receipts.allSatisfy {
      (cluster.committedReceipts[$0.key] ?? 0) == Int64($0.value.count)
    }
  }

  /// Decides the first half, waits for the receipts of it, then decides the rest.
  @discardableResult
  func run() -> LaneEnd {
    let scripted = source.onPoll
    let half = cluster.issued.count / 2
    source.onPoll = { [self] poll in
      scripted(poll)
      dispatch()
      let isWaiting = cluster.decisions.count >= half && !cluster.isSecondHalf && !areReceiptsRead
      if cluster.decisions.count >= half && areReceiptsRead { cluster.isSecondHalf = true }
      source.recordsPerPoll = isWaiting ? 0 : 2
      if (cluster.isFinished && areReceiptsRead) || poll >= pollsMax { control.ask(.drain) }
    }
    return GateLoop(
      source: source, sink: sink, clock: clock, decider: CapDecider(cluster, state, Self.policy),
      state: state, stateSource: stateSource,
      receipts: ReceiptIntake(
        source: receiptSource,
        refunder: Refunder(state: state, partitionCount: Int32(cluster.partitions.count), seed: 1)),
      settings: LoopSettings(
        commitIntervalMs: 20, transactionTimeoutMs: 2000, staleMsMax: 300_000,
        sweepIntervalMs: 200),
      counters: counters, control: control, readiness: readiness, epochs: Epochs(),
      onEvent: { [self] in events.append($0) }
    ).run()
  }

  /// What each user got, and how much of it was rejected.
  struct Got: Equatable {
    var approved = 0
    var rejected = 0
  }

  func got() -> [[UInt8]: Got] {
    var found: [[UInt8]: Got] = [:]
    for approval in cluster.approvals {
      let user = Self.user(of: approval, in: cluster)
      found[user, default: Got()].approved += 1
      if rejects(approval) { found[user, default: Got()].rejected += 1 }
    }
    return found
  }

  var rejected: UInt64 { got().values.reduce(0) { $0 + UInt64($1.rejected) } }

  /// Nobody got more than the cap, and nobody less: all had more candidates, in both halves.
  func faults() -> [String] {
    var found = cluster.violations(areDropsDuplicates: false)
    for (user, got) in got() where got.approved - got.rejected != Self.capCount {
      found.append("\(String(decoding: user, as: UTF8.self)) \(got)")
    }
    return found
  }
}
