/// Names a request from its submission to its answer.
public struct RequestId: Hashable, Comparable, Sendable {
  public let number: UInt64

  public static func < (a: RequestId, b: RequestId) -> Bool { a.number < b.number }
}

/// Who sent a request, and in which version: some answers depend on that.
public struct Client: Sendable {
  public var id: String
  public var host: String
  public var version: Int16

  /// The newest version of a request that the broker speaks, unless told another one.
  public init(id: String = "client", host: String = "/127.0.0.1", version: Int16 = Int16.max) {
    self.id = id
    self.host = host
    self.version = version
  }
}

/// What becomes of a request.
public enum Outcome {
  case response(Response)
  /// Nothing is sent: a produce request without acknowledgement, or an injected loss.
  case nothing
  /// Injected: the connection ends.
  case close
}

public struct Answer {
  public var id: RequestId
  public var outcome: Outcome
}

/// A Kafka broker as a state machine: no sockets, no threads, no clock of its own.
///
/// The caller submits requests, tells the time, and takes answers; an answer may come at once, or
/// later when others have acted or time has passed (`nextDeadlineMs`). The same calls give the same
/// answers in every run. Not thread-safe: one caller at a time.
///
/// It does what Apache Kafka 3.8 does with one node and one replica; docs/broker.md lists the rest.
public final class BrokerCore {
  public var config: BrokerConfig
  var nowMs: Int64
  let disk: (any Disk)?

  var topics: [String: Topic] = [:]
  var groups: [String: Group] = [:]
  var transactions: [String: Transaction] = [:]
  var nextProducerId: Int64 = 0
  /// Orders offset commits, as their place in the offsets topic does in Kafka.
  var commitOrder: Int64 = 0

  var timers = TimerQueue()
  var random: SeededRandom
  var parkedFetches: [RequestId: ParkedFetch] = [:]
  /// Partitions that changed since fetches were last looked at.
  var changed: [Partition] = []
  var injector: Injector
  var journal: Journal?

  private var lastId: UInt64 = 0
  private var answers: [Answer] = []

  /// - Parameter disk: where everything is kept, and recovered from; nil keeps nothing.
  public init(config: BrokerConfig = BrokerConfig(), disk: (any Disk)? = nil, nowMs: Int64) {
    self.config = config
    self.disk = disk
    self.nowMs = nowMs
    random = SeededRandom(seed: config.seed)
    injector = Injector(plan: InjectionPlan(), seed: config.seed)
    timers.add(.logs, at: nowMs + config.logCheckIntervalMs)
    if let disk { recover(from: disk) }
  }

  // MARK: The caller's side

  /// Takes a request. Its answer is among `takeAnswers()`, now or after some later call.
  @discardableResult
  public func submit(_ request: Request, from client: Client = Client(), nowMs: Int64) -> RequestId
  {
    advance(to: nowMs)
    let id = makeId()
    var client = client
    client.version = min(client.version, request.key.support.versions.upperBound)
    admit(request, id, client)
    settle()
    return id
  }

  /// Tells the time and does what is due by then.
  public func advance(to nowMs: Int64) {
    self.nowMs = max(self.nowMs, nowMs)
    settle()
  }

  /// When `advance` will have something to do next.
  public var nextDeadlineMs: Int64? { timers.nextDueMs }

  /// The answers since the last call, in the order they were given.
  public func takeAnswers() -> [Answer] {
    defer { answers.removeAll(keepingCapacity: true) }
    return answers
  }

  /// Forgets a request whose connection is gone. Joining members stay: Kafka does not notice either.
  public func abandon(_ id: RequestId) {
    dropFetch(id)
  }

  // MARK: Inside

  func makeId() -> RequestId {
    lastId += 1
    return RequestId(number: lastId)
  }

  func answer(_ id: RequestId, _ response: Response) {
    finish(id, .response(response))
  }

  func finish(_ id: RequestId, _ outcome: Outcome) {
    guard let outcome = injector.shape(id, outcome) else { return setDelays() }
    answers.append(Answer(id: id, outcome: outcome))
  }

  /// Runs timers and wakes fetches until nothing more happens at this time.
  private func settle() {
    while true {
      wakeFetches()
      guard let timer = timers.pop(dueBy: nowMs) else { return }
      fire(timer)
    }
  }

  private func fire(_ timer: Timer) {
    switch timer {
    case .fetch(let id): completeFetch(id)
    case .session(let group, let member, let atMs): sessionDue(group, member, atMs)
    case .pendingMember(let group, let member): pendingMemberDue(group, member)
    case .join(let group, let stamp): joinDue(group, stamp)
    case .sync(let group, let generation): syncDue(group, generation)
    case .transaction(let id, let producerId, let epoch, let startMs):
      transactionDue(id, producerId, epoch, startMs)
    case .markers(let id): writeMarkers(id)
    case .logs: tendLogs()
    case .held(let id): releaseHeld(id)
    case .stallOver(let name): partition(name.topic, name.index).map { changed.append($0) }
    }
  }

  /// Does a request, past any injection.
  func handle(_ request: Request, _ id: RequestId, _ client: Client) {
    switch request {
    case .produce(let r): produce(r, id, client)
    case .fetch(let r): fetch(r, id)
    case .listOffsets(let r): answer(id, .listOffsets(listOffsets(r, client)))
    case .metadata(let r): answer(id, .metadata(metadata(r, client)))
    case .offsetCommit(let r): answer(id, .offsetCommit(offsetCommit(r)))
    case .offsetFetch(let r): answer(id, .offsetFetch(offsetFetch(r)))
    case .findCoordinator(let r): answer(id, .findCoordinator(findCoordinator(r)))
    case .joinGroup(let r): joinGroup(r, id, client)
    case .heartbeat(let r): answer(id, .heartbeat(heartbeat(r)))
    case .leaveGroup(let r): answer(id, .leaveGroup(leaveGroup(r, client)))
    case .syncGroup(let r): syncGroup(r, id)
    case .describeGroups(let r): answer(id, .describeGroups(describeGroups(r)))
    case .listGroups(let r): answer(id, .listGroups(listGroups(r)))
    case .apiVersions: answer(id, .apiVersions(Self.apiVersions))
    case .createTopics(let r): answer(id, .createTopics(createTopics(r)))
    case .deleteTopics(let r): answer(id, .deleteTopics(deleteTopics(r)))
    case .deleteRecords(let r): answer(id, .deleteRecords(deleteRecords(r)))
    case .initProducerId(let r): answer(id, .initProducerId(initProducerId(r, client)))
    case .offsetForLeaderEpoch(let r):
      answer(id, .offsetForLeaderEpoch(offsetForLeaderEpoch(r)))
    case .addPartitionsToTxn(let r):
      answer(id, .addPartitionsToTxn(addPartitionsToTxn(r, client)))
    case .addOffsetsToTxn(let r): answer(id, .addOffsetsToTxn(addOffsetsToTxn(r, client)))
    case .endTxn(let r): answer(id, .endTxn(endTxn(r, client)))
    case .txnOffsetCommit(let r): answer(id, .txnOffsetCommit(txnOffsetCommit(r)))
    case .describeConfigs(let r): answer(id, .describeConfigs(describeConfigs(r)))
    case .alterConfigs(let r): answer(id, .alterConfigs(alterConfigs(r)))
    case .incrementalAlterConfigs(let r):
      answer(id, .incrementalAlterConfigs(incrementalAlterConfigs(r)))
    case .createPartitions(let r): answer(id, .createPartitions(createPartitions(r)))
    case .deleteGroups(let r): answer(id, .deleteGroups(deleteGroups(r)))
    case .offsetDelete(let r): answer(id, .offsetDelete(offsetDelete(r)))
    }
  }

  func partition(_ topic: String, _ index: Int32) -> Partition? {
    guard let topic = topics[topic], topic.partitions.indices.contains(Int(index)) else {
      return nil
    }
    return topic.partitions[Int(index)]
  }

  /// The versions that this broker speaks, as ApiVersions answers.
  static var apiVersions: ApiVersionsResponse {
    var response = ApiVersionsResponse()
    response.apis = ApiKey.allCases.map { key in
      var api = ApiVersion()
      api.key = key.rawValue
      api.minVersion = key.announced.lowerBound
      api.maxVersion = key.announced.upperBound
      return api
    }
    return response
  }
}
