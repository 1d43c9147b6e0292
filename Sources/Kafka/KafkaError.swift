import CKafka

/// What the caller has to do about an error (architecture, "Exactly once", rule 5).
public enum ErrorClass: String, Sendable, CaseIterable {
  /// Call again: nothing is decided yet, or nothing happened.
  case retriable
  /// Abort the transaction, rewind, begin again.
  case abort
  /// The producer is of no use any more, but nobody else has taken its place: the coordinator gave
  /// the transaction up. Make a new producer and go on from the committed offsets.
  case lostTransaction
  /// Another instance with the same id has taken over: leave at once, do nothing more.
  case fenced
  /// Nothing that a retry, an abort or a new producer would mend.
  case fatal
}

/// An error of librdkafka or of the broker.
public struct KafkaError: Error, Sendable, CustomStringConvertible {
  /// Which kind of call it came from; the same code means different things to each.
  public enum Origin: Sendable, CaseIterable {
    /// The transactional calls, whose errors carry flags of their own.
    case transaction
    /// Handing a record to the local queue.
    case produce
    /// Everything else: metadata, offsets, seek, admin.
    case request
  }

  public struct Flags: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static let fatal = Flags(rawValue: 1)
    public static let retriable = Flags(rawValue: 2)
    public static let requiresAbort = Flags(rawValue: 4)
  }

  /// What was being done, in words: `commit transaction`.
  public let operation: String
  public let origin: Origin
  /// librdkafka's code; below zero are its own, above zero the broker's.
  public let code: Int32
  /// The code's name, such as `_TIMED_OUT`.
  public let name: String
  public let reason: String
  public let flags: Flags

  public var errorClass: ErrorClass {
    Self.classify(code: code, flags: flags, origin: origin)
  }

  /// There is no such topic, or it has no such partition.
  public var isMissingTopic: Bool {
    switch rd_kafka_resp_err_t(code) {
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
      RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
      true
    default: false
    }
  }

  public var description: String {
    "\(operation): \(name): \(reason)" + (remedy.map { "; \($0)" } ?? "")
  }

  init(operation: String, origin: Origin, code: rd_kafka_resp_err_t, reason: String? = nil) {
    self.operation = operation
    self.origin = origin
    self.code = code.rawValue
    name = String(cString: rd_kafka_err2name(code))
    self.reason = reason ?? String(cString: rd_kafka_err2str(code))
    flags = []
  }

  /// Takes librdkafka's error object and frees it.
  init(taking error: OpaquePointer, operation: String, origin: Origin) {
    self.operation = operation
    self.origin = origin
    code = rd_kafka_error_code(error).rawValue
    name = String(cString: rd_kafka_error_name(error))
    reason = String(cString: rd_kafka_error_string(error))
    var flags: Flags = []
    if rd_kafka_error_is_fatal(error) != 0 { flags.insert(.fatal) }
    if rd_kafka_error_is_retriable(error) != 0 { flags.insert(.retriable) }
    if rd_kafka_error_txn_requires_abort(error) != 0 { flags.insert(.requiresAbort) }
    self.flags = flags
    rd_kafka_error_destroy(error)
  }

  static func check(
    _ error: OpaquePointer?, _ operation: String, _ origin: Origin
  ) throws(KafkaError) {
    if let error { throw KafkaError(taking: error, operation: operation, origin: origin) }
  }

  static func check(
    _ code: rd_kafka_resp_err_t, _ operation: String, _ origin: Origin
  ) throws(KafkaError) {
    if code != RD_KAFKA_RESP_ERR_NO_ERROR {
      throw KafkaError(operation: operation, origin: origin, code: code)
    }
  }
}

extension KafkaError {
  /// The one place where an error becomes something to do.
  public static func classify(code: Int32, flags: Flags, origin: Origin) -> ErrorClass {
    let code = rd_kafka_resp_err_t(code)
    // Before the flags: librdkafka reports fencing as fatal, and fencing is not mended by a new
    // producer. Two instances that each answered it with one would fence each other for ever. A
    // transaction that the coordinator timed out looks the same (the epoch was raised); which it
    // was cannot be known from here, so the process leaves and its supervisor starts a new one.
    switch code {
    case RD_KAFKA_RESP_ERR__FENCED, RD_KAFKA_RESP_ERR_PRODUCER_FENCED,
      RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
      return .fenced
    default: break
    }
    if flags.contains(.fatal) { return isBeyondANewProducer(code) ? .fatal : .lostTransaction }
    if flags.contains(.requiresAbort) { return .abort }
    if flags.contains(.retriable) { return .retriable }
    switch origin {
    case .transaction:
      // librdkafka's own advice: what has no flag is fatal.
      return .fatal
    case .produce:
      // A full local queue drains. Anything else means that this transaction lacks a record.
      return code == RD_KAFKA_RESP_ERR__QUEUE_FULL ? .retriable : .abort
    case .request:
      return isTemporary(code) ? .retriable : .fatal
    }
  }

  /// Configuration and rights: a new producer would meet the same refusal.
  private static func isBeyondANewProducer(_ code: rd_kafka_resp_err_t) -> Bool {
    switch code {
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
      RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED,
      RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
      RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
      RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT,
      RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT,
      RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION,
      RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE,
      RD_KAFKA_RESP_ERR__AUTHENTICATION,
      RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
      return true
    default: return false
    }
  }

  /// What passes by itself: brokers that come and go, leaders and coordinators that move, offsets
  /// that wait for somebody's open transaction, metadata that is not here yet, a seek that a rebalance
  /// of the same partition has overtaken.
  private static func isTemporary(_ code: rd_kafka_resp_err_t) -> Bool {
    switch code {
    case RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__TIMED_OUT,
      RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
      RD_KAFKA_RESP_ERR__RESOLVE, RD_KAFKA_RESP_ERR__WAIT_COORD, RD_KAFKA_RESP_ERR__WAIT_CACHE,
      RD_KAFKA_RESP_ERR__IN_PROGRESS, RD_KAFKA_RESP_ERR__PREV_IN_PROGRESS,
      RD_KAFKA_RESP_ERR__OUTDATED,
      RD_KAFKA_RESP_ERR__UNKNOWN_BROKER, RD_KAFKA_RESP_ERR__NOENT,
      RD_KAFKA_RESP_ERR__STATE, RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION,
      RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
      RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE,
      RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
      RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE,
      RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION, RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS,
      RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_NOT_COORDINATOR,
      RD_KAFKA_RESP_ERR_NOT_CONTROLLER, RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE,
      RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS,
      RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
      RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH, RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH:
      return true
    default: return false
    }
  }
}
