@testable import Broker

/// A broker in simulated time, with the calls that tests make often.
final class Sim {
  var core: BrokerCore
  var now: Int64 = 1_000_000
  private(set) var outcomes: [RequestId: Outcome] = [:]
  private var random = SeededRandom(seed: 99)

  init(_ configure: (inout BrokerConfig) -> Void = { _ in }, disk: (any Disk)? = nil) {
    var config = BrokerConfig()
    configure(&config)
    core = BrokerCore(config: config, disk: disk, nowMs: now)
  }

  /// Starts again on what a disk holds.
  func restart(_ disk: any Disk) {
    core = BrokerCore(config: core.config, disk: disk, nowMs: now)
    outcomes.removeAll()
  }

  /// Lets time pass, stopping wherever something is due.
  func pass(_ ms: Int64) {
    let end = now + ms
    while let due = core.nextDeadlineMs, due <= end {
      now = max(now, due)
      core.advance(to: now)
    }
    now = end
    core.advance(to: now)
    collect()
  }

  private func collect() {
    for answer in core.takeAnswers() { outcomes[answer.id] = answer.outcome }
  }

  func send(_ request: Request, client: String = "test", version: Int16 = .max) -> RequestId {
    let id = core.submit(request, from: Client(id: client, version: version), nowMs: now)
    collect()
    return id
  }

  /// The answer to a request, if it has come.
  func answer(_ id: RequestId) -> Response? {
    if case .response(let response)? = outcomes[id] { response } else { nil }
  }

  /// An answer that comes at once.
  func call(_ request: Request, client: String = "test", version: Int16 = .max) -> Response {
    guard let response = answer(send(request, client: client, version: version)) else {
      fatalError("no answer to \(request.key.name)")
    }
    return response
  }

  // MARK: Topics and records

  @discardableResult
  func topic(_ name: String = "t", partitions: Int32 = 1, _ settings: [String: String] = [:])
    -> ErrorCode
  {
    var request = CreateTopicsRequest()
    var topic = CreatableTopic()
    topic.name = name
    topic.partitionCount = partitions
    topic.configs = settings.sorted { $0.key < $1.key }.map {
      var item = CreatableConfig()
      (item.name, item.value) = $0
      return item
    }
    request.topics = [topic]
    guard case .createTopics(let r) = call(.createTopics(request)) else { fatalError() }
    return r.topics[0].error
  }

  func batch(
    _ values: [String], key: String? = nil, _ shape: (inout BatchBuilder) -> Void = { _ in }
  )
    -> [UInt8]
  {
    var builder = BatchBuilder()
    shape(&builder)
    return builder.build(
      values.map {
        Record(timestampMs: now, key: key.map { Array($0.utf8) }, value: Array($0.utf8))
      })
  }

  func produceRequest(_ batch: [UInt8], to topic: String, _ partition: Int32, txn: String? = nil)
    -> ProduceRequest
  {
    var request = ProduceRequest()
    request.acks = -1
    request.transactionalId = txn
    var produced = ProduceTopic()
    produced.name = topic
    var data = ProducePartition()
    data.index = partition
    data.records = [ByteSlice(batch)]
    produced.partitions = [data]
    request.topics = [produced]
    return request
  }

  @discardableResult
  func produce(_ batch: [UInt8], to topic: String = "t", _ partition: Int32 = 0, txn: String? = nil)
    -> ProducedPartition
  {
    let request = produceRequest(batch, to: topic, partition, txn: txn)
    guard case .produce(let r) = call(.produce(request)) else { fatalError() }
    return r.topics[0].partitions[0]
  }

  @discardableResult
  func produce(_ values: String..., to topic: String = "t", key: String? = nil) -> ProducedPartition
  {
    produce(batch(values, key: key), to: topic)
  }

  func fetchRequest(
    _ topic: String = "t", _ partition: Int32 = 0, from offset: Int64 = 0, committed: Bool = false,
    waitMs: Int32 = 0, minBytes: Int32 = 1, maxBytes: Int32 = .max, partitionBytes: Int32 = .max
  ) -> FetchRequest {
    var request = FetchRequest()
    request.maxWaitMs = waitMs
    request.minBytes = minBytes
    request.maxBytes = maxBytes
    request.isolationLevel = committed ? 1 : 0
    var fetched = FetchTopic()
    fetched.name = topic
    var wanted = FetchPartition()
    wanted.index = partition
    wanted.fetchOffset = offset
    wanted.maxBytes = partitionBytes
    fetched.partitions = [wanted]
    request.topics = [fetched]
    return request
  }

  func fetch(
    _ topic: String = "t", _ partition: Int32 = 0, from: Int64 = 0, committed: Bool = false
  )
    -> FetchedPartition
  {
    let request = fetchRequest(topic, partition, from: from, committed: committed)
    guard case .fetch(let r) = call(.fetch(request)) else { fatalError() }
    return r.topics[0].partitions[0]
  }

  /// The values a client shows: as KIP-98 tells clients to drop aborted records.
  func read(_ topic: String = "t", _ partition: Int32 = 0, committed: Bool = true) -> [String] {
    records(topic, partition, committed: committed).map {
      String(decoding: $0.value ?? [], as: UTF8.self)
    }
  }

  func records(_ topic: String = "t", _ partition: Int32 = 0, committed: Bool = true) -> [Record] {
    var result: [Record] = []
    let fetched = fetch(topic, partition, from: start(topic, partition), committed: committed)
    var ahead = (fetched.abortedTransactions ?? []).sorted { $0.firstOffset < $1.firstOffset }
    var aborting: Set<Int64> = []
    for batch in batches(fetched) {
      let view = batch.withUnsafeBytes { bytes in
        let view = BatchView(bytes.baseAddress!)
        return (
          view.isControl, view.isTransactional, view.producerId, view.baseOffset, view.lastOffset,
          view.markerIsCommit, view.decodeRecords() ?? []
        )
      }
      let (isControl, isTransactional, producer, _, last, commit, records) = view
      while committed, let next = ahead.first, next.firstOffset <= last {
        aborting.insert(next.producerId)
        ahead.removeFirst()
      }
      if isControl {
        if commit == false { aborting.remove(producer) }
      } else if !(isTransactional && aborting.contains(producer)) {
        result += records
      }
    }
    return result
  }

  private func start(_ topic: String, _ partition: Int32) -> Int64 {
    offset(topic, partition, at: -2).offset
  }

  func batches(_ fetched: FetchedPartition) -> [[UInt8]] {
    let bytes = (fetched.records ?? []).flatMap(\.array)
    var result: [[UInt8]] = []
    var at = 0
    while at < bytes.count {
      let size = bytes[at...].withUnsafeBytes { BatchView($0.baseAddress!).totalSize }
      result.append(Array(bytes[at..<at + size]))
      at += size
    }
    return result
  }

  func offset(
    _ topic: String = "t", _ partition: Int32 = 0, at timestamp: Int64, committed: Bool = false
  ) -> ListedPartition {
    var request = ListOffsetsRequest()
    request.isolationLevel = committed ? 1 : 0
    var listed = ListOffsetsTopic()
    listed.name = topic
    var wanted = ListOffsetsPartition()
    wanted.index = partition
    wanted.timestamp = timestamp
    listed.partitions = [wanted]
    request.topics = [listed]
    guard case .listOffsets(let r) = call(.listOffsets(request)) else { fatalError() }
    return r.topics[0].partitions[0]
  }
}
