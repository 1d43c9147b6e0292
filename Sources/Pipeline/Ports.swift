import Gate

/// A partition, and the next offset to read of it.
public struct PartitionOffset: Sendable, Equatable {
  public var partition: Int32
  public var offset: Int64

  public init(partition: Int32, offset: Int64) {
    self.partition = partition
    self.offset = offset
  }
}

/// Why a port could not do what it was asked, as what has to be done about it.
public struct Failure: Error, Sendable {
  public enum Kind: String, Sendable, CaseIterable {
    /// Ask again.
    case retriable
    /// Abort the transaction, rewind, begin again.
    case abort
    /// The coordinator gave the transaction up: make a new producer, go on from what is committed.
    case lostTransaction
    /// Another instance took over.
    case fenced
    /// There is nothing at the offset to read from.
    case offsetOutOfRange
    case fatal
  }
  public var kind: Kind
  public var message: String

  public init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }
}

/// Who this worker is to its group: what fences a worker that lost its partitions.
public struct GroupClaim: Sendable, Equatable {
  public var generation: Int32
  public var memberID: String

  public init(generation: Int32, memberID: String) {
    self.generation = generation
    self.memberID = memberID
  }

  /// Kafka takes offsets without generation and member from anybody, unfenced. Never send those.
  public var isFencing: Bool { generation >= 0 && !memberID.isEmpty }
}

/// What the group decided. Each is answered, in order, with `assign` or `unassign`.
public enum Rebalance: Sendable, Equatable {
  case assigned([Int32])
  /// Still this worker's until answered.
  case revoked([Int32])
  /// Somebody else's already.
  case lost([Int32])
}

/// Where candidates come from. Every call is made by the lane's own thread.
public protocol CandidateSource: AnyObject {
  /// Waits up to `timeoutMs` for records. They live, and may be reordered or dropped by the caller
  /// in place, until `release`. Rebalances are noted, not acted on.
  func poll(timeoutMs: Int32) throws(Failure) -> UnsafeMutableBufferPointer<InputRecord>
  func release()

  func nextRebalance() -> Rebalance?
  /// Where to start: the committed offset, once no open transaction holds a newer one, else the
  /// log's start. One concrete offset for each partition, in any order.
  func startOffsets(of partitions: [Int32]) throws(Failure) -> [PartitionOffset]
  func assign(_ partitions: [PartitionOffset]) throws(Failure)
  func unassign(_ partitions: [Int32]) throws(Failure)
  /// Forgets what was fetched ahead.
  func seek(_ partitions: [PartitionOffset]) throws(Failure)
  func setPaused(_ isPaused: Bool, _ partitions: [Int32]) throws(Failure)
  /// What of a record's headers goes to everything made from it, in a form of the edge's own that the
  /// sink reads. Lives until the next call.
  func headers(of record: InputRecord) -> UnsafeRawBufferPointer

  /// Nil where this worker is no member of the group now.
  func claim() -> GroupClaim?
  /// Records between `positions` and the ends of their partitions, as last heard; asks nobody. Nil
  /// where nothing was heard of a partition. Called about once a second.
  func lag(behind positions: [PartitionOffset]) -> Int64?
  /// Leaves the group.
  func close()
}

/// Where decisions go. Every call is made by the lane's own thread; each waits a bounded time and
/// then throws `retriable`.
public protocol DecisionSink: AnyObject {
  /// Makes a first producer, or a new one for one that is of no use any more. What the old one left
  /// open is aborted, or was committed, by the time this returns.
  func replace() throws(Failure)
  func begin() throws(Failure)
  /// Takes all of them or throws, in which case the transaction lacks some.
  func write(
    _ outputs: UnsafeBufferPointer<OutputRecord>, of inputs: UnsafeBufferPointer<InputRecord>
  ) throws(Failure)
  /// Takes records for the lane's state topic, to be seen with the outputs or not at all; all of them
  /// or throws.
  func writeState(_ records: UnsafeBufferPointer<StateRecord>) throws(Failure)
  /// Takes what became of holds, in order; all of them or throws.
  func writeHolds(_ outcomes: UnsafeBufferPointer<HoldOutcome>) throws(Failure)
  /// Waits for every record's acknowledgement; throws `abort` where one failed.
  func flush() throws(Failure)
  /// Of the candidates, and of the receipts where those are read: of one group, in one transaction.
  func sendOffsets(
    _ offsets: [PartitionOffset], receipts: [PartitionOffset], claim: GroupClaim
  ) throws(Failure)
  func commit() throws(Failure)
  func abort() throws(Failure)
  func close()
}

/// What became of a hold, at its candidate's partition. Borrowed.
public struct HoldOutcome {
  public var partition: Int32
  /// Approved, dropped, or held on under the same key; nil: it ends without a record.
  public var record: OutputRecord?
  /// The candidate's, as kept with the hold.
  public var headers: UnsafeRawBufferPointer
  /// The hold's key, where a null value ends it.
  public var endedKey: UnsafeRawBufferPointer?
}

/// A topic of what a lane remembers, at the candidates' partitions.
public enum StateStream: Int, CaseIterable, Sendable {
  /// The lane's state topic.
  case state
  /// The deferred topic, of which the ordinary lane alone remembers anything.
  case holds
}

/// Where to read of a partition of one of the topics.
public struct StatePosition: Sendable, Equatable {
  public var stream: StateStream
  public var partition: Int32
  public var offset: Int64

  public init(_ stream: StateStream, partition: Int32, offset: Int64) {
    self.stream = stream
    self.partition = partition
    self.offset = offset
  }
}

/// Where what a lane remembers is read from, when it is given a partition and when it looks for what
/// can go. Every call is made by the lane's own thread; each waits a bounded time.
public protocol StateSource: AnyObject {
  /// The topics there are.
  var streams: [StateStream] { get }
  /// Of these partitions, those in which nobody's transaction is open in any of the topics, each with
  /// where it ends now in each. Answered anew by the broker.
  func settled(_ partitions: [Int32]) throws(Failure) -> [StatePosition]
  /// Reads from these positions on, and nothing else from now on. An offset below 0 is the beginning.
  func read(_ positions: [StatePosition]) throws(Failure)
  /// Waits up to `timeoutMs` for what is committed there, in order of each partition. What is passed
  /// on lives until `body` returns.
  func poll(timeoutMs: Int32, _ body: (StateEvent) -> Void) throws(Failure)
  func close()
}

/// What came of a partition of one of the topics.
public enum StateEvent {
  /// `headers`: of a hold, as the sink reads them.
  case record(
    StatePosition, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
    headers: UnsafeRawBufferPointer)
  /// Everything committed was read, up to this offset. Control markers take offsets, so that no
  /// record's tells the end.
  case end(StatePosition)
  /// There is nothing at the position any more.
  case outOfRange(StateStream, partition: Int32)
}

/// Time, so that tests can own it.
public protocol LoopClock: AnyObject {
  /// Milliseconds since the epoch: what decisions are made at.
  func wallMs() -> Int64
  /// Milliseconds from some fixed instant, never set back: what intervals are measured by.
  func monotonicMs() -> Int64
  func sleep(ms: Int64)
  /// Milliseconds of processor time of the whole process, for what a run cost.
  func processMs() -> Int64
}

extension LoopClock {
  /// A made-up clock has no process.
  public func processMs() -> Int64 { 0 }
}

/// The decision. `Engine` is the one there is; the loop's own tests need none of its rules.
public protocol Decider: AnyObject {
  func decide(
    _ records: UnsafeBufferPointer<InputRecord>, nowMs: Int64
  ) -> UnsafeBufferPointer<OutputRecord>

  /// What the state topic has to be told of the newest decisions; lives until the next call.
  var stateRecords: UnsafeBufferPointer<StateRecord> { get }

  /// Candidates so far with an event or subtype that the policy does not know.
  var unregisteredNames: Int { get }

  /// Duplicates so far that say something else than what was let through under their id.
  var differingDuplicates: Int { get }
}

extension Decider {
  public var unregisteredNames: Int { 0 }
  public var differingDuplicates: Int { 0 }
}

extension Engine: Decider {}
