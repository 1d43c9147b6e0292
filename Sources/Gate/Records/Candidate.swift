/// A proposed notification, decoded. Borrowed: its bytes are the record's, or the decoder's where an
/// escape had to be read.
struct Candidate {
  var notificationID: Bytes?
  var userID: Bytes?
  var deviceID: Bytes?
  /// As it was written; `category` is nil where it is outside the enum.
  var categoryText: Bytes?
  var category: Category?
  var subtype: Bytes?
  var event: Bytes?
  var collapseKey: Bytes?
  var critical = false
  var smsFallback = false
  var createdAtMs: Int64?
  var expiresAtMs: Int64?
  /// The payload as it was written.
  var payload: Bytes?
  /// Row 1 of the decision table: why it cannot be decided at all.
  var invalid: InvalidDetail?
  /// The member that `invalid` speaks of, where it speaks of one.
  var invalidMember: CandidateMember?
}

/// The `detail` of an `invalid_candidate` record.
enum InvalidDetail: UInt8, CaseIterable, Sendable {
  case nullValue
  case recordTooLarge
  case malformedUTF8
  case malformedJSON
  case notAnObject
  case tooDeep
  case repeatedMember
  case missingMember
  case wrongType
  case malformedID
  case tooLong
  case malformedInstant
  case malformedString
  case categoryNotForTopic
  case keyMismatch
  case partitionMismatch

  var name: StaticString {
    switch self {
    case .nullValue: "null_value"
    case .recordTooLarge: "record_too_large"
    case .malformedUTF8: "malformed_utf8"
    case .malformedJSON: "malformed_json"
    case .notAnObject: "not_an_object"
    case .tooDeep: "too_deep"
    case .repeatedMember: "repeated_member"
    case .missingMember: "missing_member"
    case .wrongType: "wrong_type"
    case .malformedID: "malformed_id"
    case .tooLong: "too_long"
    case .malformedInstant: "malformed_instant"
    case .malformedString: "malformed_string"
    case .categoryNotForTopic: "category_not_for_topic"
    case .keyMismatch: "key_mismatch"
    case .partitionMismatch: "partition_mismatch"
    }
  }

  init(_ fault: JSONFault) {
    switch fault {
    case .malformedJSON: self = .malformedJSON
    case .malformedUTF8: self = .malformedUTF8
    case .tooDeep: self = .tooDeep
    case .repeatedMember: self = .repeatedMember
    case .wrongType: self = .wrongType
    case .malformedString: self = .malformedString
    }
  }
}

/// The members of a candidate that the gate reads.
enum CandidateMember: UInt8, CaseIterable, Sendable {
  case notificationID, userID, deviceID, category, subtype, event, critical
  case createdAt, expiresAt, collapseKey, smsFallback, payload

  var name: StaticString {
    switch self {
    case .notificationID: "notification_id"
    case .userID: "user_id"
    case .deviceID: "device_id"
    case .category: "category"
    case .subtype: "subtype"
    case .event: "event"
    case .critical: "critical"
    case .createdAt: "created_at"
    case .expiresAt: "expires_at"
    case .collapseKey: "collapse_key"
    case .smsFallback: "sms_fallback"
    case .payload: "payload"
    }
  }

  /// Told apart by length, then compared whole with names that are known when this is compiled: a
  /// few words each, and no call.
  @inline(__always)
  init?(_ name: Bytes) {
    switch name.count {
    case 5 where name.equals("event"): self = .event
    case 7 where name.equals("user_id"): self = .userID
    case 7 where name.equals("subtype"): self = .subtype
    case 7 where name.equals("payload"): self = .payload
    case 8 where name.equals("category"): self = .category
    case 8 where name.equals("critical"): self = .critical
    case 9 where name.equals("device_id"): self = .deviceID
    case 10 where name.equals("created_at"): self = .createdAt
    case 10 where name.equals("expires_at"): self = .expiresAt
    case 12 where name.equals("collapse_key"): self = .collapseKey
    case 12 where name.equals("sms_fallback"): self = .smsFallback
    case 15 where name.equals("notification_id"): self = .notificationID
    default: return nil
    }
  }
}
