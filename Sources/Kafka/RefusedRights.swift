import CKafka

extension KafkaError {
  /// What an operator has to grant where the broker refuses this client; nil for any other error.
  ///
  /// Nothing here ends by itself, and most of it comes out of calls that librdkafka repeats in
  /// silence: whoever meets such an error says this, and goes on saying it.
  public var remedy: String? {
    switch rd_kafka_resp_err_t(code) {
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
      "grant this client's principal Describe and Read on the topics it reads, Describe and Write "
        + "on those it writes"
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
      "grant this client's principal Describe and Read on its groups: group.id, and group.id with "
        + ".security behind it"
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
      "grant this client's principal Describe and Write on the transactional ids that begin with "
        + "group.id"
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
      "grant this client's principal IdempotentWrite on the cluster"
    case RD_KAFKA_RESP_ERR__AUTHENTICATION, RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
      "check kafka.sasl.* and kafka.ssl.* against what the broker knows"
    default: nil
    }
  }

  /// It is about one record, or about how many came at once: another record of the topic may be taken.
  /// Anything else refuses the topic, or the client.
  public var isOfTheRecord: Bool {
    switch rd_kafka_resp_err_t(code) {
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE,
      RD_KAFKA_RESP_ERR_INVALID_MSG, RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE,
      RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP, RD_KAFKA_RESP_ERR_INVALID_RECORD:
      true
    default: false
    }
  }

  /// The topic does not take records that are dated as the record is.
  public var isOfTheTimestamp: Bool {
    rd_kafka_resp_err_t(code) == RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP
  }

  /// The broker knows this client and does not let it, or does not know it.
  public var isRefusal: Bool { remedy != nil }
}
