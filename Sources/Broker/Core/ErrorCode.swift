/// Kafka's error codes, by number, as answers carry them.
public struct ErrorCode: RawRepresentable, Equatable, Hashable, Sendable {
  public let rawValue: Int16

  public init(rawValue: Int16) { self.rawValue = rawValue }

  private init(_ code: Int16) { rawValue = code }

  public static let unknownServerError = ErrorCode(-1)
  public static let none = ErrorCode(0)
  public static let offsetOutOfRange = ErrorCode(1)
  public static let corruptMessage = ErrorCode(2)
  public static let unknownTopicOrPartition = ErrorCode(3)
  public static let leaderNotAvailable = ErrorCode(5)
  public static let notLeaderOrFollower = ErrorCode(6)
  public static let requestTimedOut = ErrorCode(7)
  public static let messageTooLarge = ErrorCode(10)
  public static let offsetMetadataTooLarge = ErrorCode(12)
  public static let networkException = ErrorCode(13)
  public static let coordinatorLoadInProgress = ErrorCode(14)
  public static let coordinatorNotAvailable = ErrorCode(15)
  public static let notCoordinator = ErrorCode(16)
  public static let invalidTopicException = ErrorCode(17)
  public static let recordListTooLarge = ErrorCode(18)
  public static let notEnoughReplicas = ErrorCode(19)
  public static let invalidRequiredAcks = ErrorCode(21)
  public static let illegalGeneration = ErrorCode(22)
  public static let inconsistentGroupProtocol = ErrorCode(23)
  public static let invalidGroupId = ErrorCode(24)
  public static let unknownMemberId = ErrorCode(25)
  public static let invalidSessionTimeout = ErrorCode(26)
  public static let rebalanceInProgress = ErrorCode(27)
  public static let topicAuthorizationFailed = ErrorCode(29)
  public static let groupAuthorizationFailed = ErrorCode(30)
  public static let invalidTimestamp = ErrorCode(32)
  public static let unsupportedVersion = ErrorCode(35)
  public static let topicAlreadyExists = ErrorCode(36)
  public static let invalidPartitions = ErrorCode(37)
  public static let invalidReplicationFactor = ErrorCode(38)
  public static let invalidReplicaAssignment = ErrorCode(39)
  public static let invalidConfig = ErrorCode(40)
  public static let notController = ErrorCode(41)
  public static let invalidRequest = ErrorCode(42)
  public static let unsupportedForMessageFormat = ErrorCode(43)
  public static let policyViolation = ErrorCode(44)
  public static let outOfOrderSequenceNumber = ErrorCode(45)
  public static let duplicateSequenceNumber = ErrorCode(46)
  public static let invalidProducerEpoch = ErrorCode(47)
  public static let invalidTxnState = ErrorCode(48)
  public static let invalidProducerIdMapping = ErrorCode(49)
  public static let invalidTransactionTimeout = ErrorCode(50)
  public static let concurrentTransactions = ErrorCode(51)
  public static let transactionCoordinatorFenced = ErrorCode(52)
  public static let transactionalIdAuthorizationFailed = ErrorCode(53)
  public static let operationNotAttempted = ErrorCode(55)
  public static let kafkaStorageError = ErrorCode(56)
  public static let unknownProducerId = ErrorCode(59)
  public static let nonEmptyGroup = ErrorCode(68)
  public static let groupIdNotFound = ErrorCode(69)
  public static let fetchSessionIdNotFound = ErrorCode(70)
  public static let fencedLeaderEpoch = ErrorCode(74)
  public static let unknownLeaderEpoch = ErrorCode(75)
  public static let unsupportedCompressionType = ErrorCode(76)
  public static let memberIdRequired = ErrorCode(79)
  public static let groupMaxSizeReached = ErrorCode(81)
  public static let fencedInstanceId = ErrorCode(82)
  public static let groupSubscribedToTopic = ErrorCode(86)
  public static let invalidRecord = ErrorCode(87)
  public static let unstableOffsetCommit = ErrorCode(88)
  public static let throttlingQuotaExceeded = ErrorCode(89)
  public static let producerFenced = ErrorCode(90)

  /// Names as Kafka writes them, so that an injection plan can be written by hand.
  public static let names: [String: ErrorCode] = [
    "UNKNOWN_SERVER_ERROR": unknownServerError, "OFFSET_OUT_OF_RANGE": offsetOutOfRange,
    "CORRUPT_MESSAGE": corruptMessage, "UNKNOWN_TOPIC_OR_PARTITION": unknownTopicOrPartition,
    "LEADER_NOT_AVAILABLE": leaderNotAvailable, "NOT_LEADER_OR_FOLLOWER": notLeaderOrFollower,
    "REQUEST_TIMED_OUT": requestTimedOut, "MESSAGE_TOO_LARGE": messageTooLarge,
    "NETWORK_EXCEPTION": networkException,
    "COORDINATOR_LOAD_IN_PROGRESS": coordinatorLoadInProgress,
    "COORDINATOR_NOT_AVAILABLE": coordinatorNotAvailable, "NOT_COORDINATOR": notCoordinator,
    "NOT_ENOUGH_REPLICAS": notEnoughReplicas, "ILLEGAL_GENERATION": illegalGeneration,
    "UNKNOWN_MEMBER_ID": unknownMemberId, "REBALANCE_IN_PROGRESS": rebalanceInProgress,
    "TOPIC_AUTHORIZATION_FAILED": topicAuthorizationFailed,
    "GROUP_AUTHORIZATION_FAILED": groupAuthorizationFailed,
    "TOPIC_ALREADY_EXISTS": topicAlreadyExists, "INVALID_REQUEST": invalidRequest,
    "POLICY_VIOLATION": policyViolation,
    "OUT_OF_ORDER_SEQUENCE_NUMBER": outOfOrderSequenceNumber,
    "DUPLICATE_SEQUENCE_NUMBER": duplicateSequenceNumber,
    "INVALID_PRODUCER_EPOCH": invalidProducerEpoch, "INVALID_TXN_STATE": invalidTxnState,
    "INVALID_PRODUCER_ID_MAPPING": invalidProducerIdMapping,
    "INVALID_TRANSACTION_TIMEOUT": invalidTransactionTimeout,
    "CONCURRENT_TRANSACTIONS": concurrentTransactions,
    "TRANSACTION_COORDINATOR_FENCED": transactionCoordinatorFenced,
    "TRANSACTIONAL_ID_AUTHORIZATION_FAILED": transactionalIdAuthorizationFailed,
    "KAFKA_STORAGE_ERROR": kafkaStorageError, "UNKNOWN_PRODUCER_ID": unknownProducerId,
    "FENCED_LEADER_EPOCH": fencedLeaderEpoch, "UNKNOWN_LEADER_EPOCH": unknownLeaderEpoch,
    "MEMBER_ID_REQUIRED": memberIdRequired, "FENCED_INSTANCE_ID": fencedInstanceId,
    "INVALID_RECORD": invalidRecord, "UNSTABLE_OFFSET_COMMIT": unstableOffsetCommit,
    "THROTTLING_QUOTA_EXCEEDED": throttlingQuotaExceeded, "PRODUCER_FENCED": producerFenced,
    "OPERATION_NOT_ATTEMPTED": operationNotAttempted,
  ]
}
