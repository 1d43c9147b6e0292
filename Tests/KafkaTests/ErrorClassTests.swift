import CKafka
import Pipeline
import Testing

@testable import Kafka

@Suite struct ErrorClassTests {
  static func classify(
    _ code: rd_kafka_resp_err_t, _ flags: KafkaError.Flags, _ origin: KafkaError.Origin
  ) -> ErrorClass {
    KafkaError.classify(code: code.rawValue, flags: flags, origin: origin)
  }

  @Test func fencingIsFencingWhateverElseIsSaid() {
    for code in [
      RD_KAFKA_RESP_ERR__FENCED, RD_KAFKA_RESP_ERR_PRODUCER_FENCED,
      RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID,
    ] {
      for raw: UInt8 in 0..<8 {
        for origin in KafkaError.Origin.allCases {
          #expect(Self.classify(code, .init(rawValue: raw), origin) == .fenced)
        }
      }
    }
  }

  /// What librdkafka 2.0 flags, as its sources and its manual say it does.
  @Test(arguments: [
    // A commit that was not answered within the time.
    (RD_KAFKA_RESP_ERR__TIMED_OUT, KafkaError.Flags.retriable, ErrorClass.retriable),
    (RD_KAFKA_RESP_ERR__CONFLICT, .retriable, .retriable),
    // The group moved on without this worker.
    (RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, .requiresAbort, .abort),
    (RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, .requiresAbort, .abort),
    // Records failed: their own error, or the commit's complaint about them.
    (RD_KAFKA_RESP_ERR__INCONSISTENT, .requiresAbort, .abort),
    (RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, .requiresAbort, .abort),
    (RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID, .requiresAbort, .abort),
    // The coordinator gave the transaction up, and nobody took over.
    (RD_KAFKA_RESP_ERR_INVALID_TXN_STATE, .fatal, .lostTransaction),
    (RD_KAFKA_RESP_ERR_INVALID_PRODUCER_ID_MAPPING, .fatal, .lostTransaction),
    (RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, .fatal, .lostTransaction),
    // The commit happened, and the transaction had failed here before.
    (RD_KAFKA_RESP_ERR__TIMED_OUT, .fatal, .lostTransaction),
    // Rights and settings.
    (RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED, .fatal, .fatal),
    (RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT, .fatal, .fatal),
    (RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE, .fatal, .fatal),
    // Without a flag: fatal, says the manual.
    (RD_KAFKA_RESP_ERR__TIMED_OUT, KafkaError.Flags(), .fatal),
    (RD_KAFKA_RESP_ERR__STATE, KafkaError.Flags(), .fatal),
  ])
  func transactions(code: rd_kafka_resp_err_t, flags: KafkaError.Flags, expected: ErrorClass) {
    #expect(Self.classify(code, flags, .transaction) == expected)
  }

  /// Fatal outranks abort outranks retriable, as far as more than one is ever set.
  @Test func flagsInOrderOfWeight() {
    let code = RD_KAFKA_RESP_ERR_UNKNOWN
    for raw: UInt8 in 0..<8 {
      let flags = KafkaError.Flags(rawValue: raw)
      let expected: ErrorClass =
        flags.contains(.fatal)
        ? .lostTransaction
        : flags.contains(.requiresAbort)
          ? .abort : flags.contains(.retriable) ? .retriable : .fatal
      #expect(Self.classify(code, flags, .transaction) == expected)
    }
  }

  @Test func producingWaitsForAFullQueueAndAbortsForTheRest() {
    #expect(Self.classify(RD_KAFKA_RESP_ERR__QUEUE_FULL, [], .produce) == .retriable)
    for code in [
      RD_KAFKA_RESP_ERR__STATE, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
      RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
    ] {
      #expect(Self.classify(code, [], .produce) == .abort)
    }
  }

  @Test func requestsAreRepeatedWhereTheCausePasses() {
    for code in [
      RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__TIMED_OUT,
      RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_NOT_COORDINATOR,
      RD_KAFKA_RESP_ERR__STATE, RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS,
      // Seen of a seek amid a rebalance: the partition was taken and given again behind it.
      RD_KAFKA_RESP_ERR__OUTDATED,
    ] {
      #expect(Self.classify(code, [], .request) == .retriable)
    }
    for code in [
      RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
      RD_KAFKA_RESP_ERR__INVALID_ARG,
    ] {
      #expect(Self.classify(code, [], .request) == .fatal)
    }
  }

  /// Consumer and Producer translate by name.
  @Test func everyClassIsAFailureOfTheLoop() {
    for errorClass in ErrorClass.allCases {
      #expect(Failure.Kind(rawValue: errorClass.rawValue) != nil)
    }
  }

  @Test func descriptionNamesOperationCodeAndReason() {
    let error = KafkaError(
      operation: "commit offsets", origin: .request, code: RD_KAFKA_RESP_ERR_NOT_COORDINATOR)
    #expect("\(error)" == "commit offsets: NOT_COORDINATOR: Broker: Not coordinator")
  }

  /// A right that is refused comes with what to grant; nothing else does.
  @Test func refusalsSayWhatToGrant() {
    let refusals = [
      RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
      RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
      RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR__AUTHENTICATION,
      RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
    ]
    for number in Int32(-200)...120 {
      let code = rd_kafka_resp_err_t(number)
      let error = KafkaError(operation: "x", origin: .request, code: code)
      #expect(error.isRefusal == refusals.contains(code), "\(error)")
      if let remedy = error.remedy { #expect("\(error)".hasSuffix("; " + remedy)) }
    }
  }
}
