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
  /// Bytes of the payload as it was written; 0 where there is none.
  var payloadBytes = 0
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

  /// Told apart by length and first byte, then compared whole.
  @inline(__always)
  init?(_ name: Bytes) {
    let member: CandidateMember
    switch name.count {
    case 5: member = .event
    case 7:
      member =
        name[0] == UInt8(ascii: "u") ? .userID : name[0] == UInt8(ascii: "s") ? .subtype : .payload
    case 8: member = name[1] == UInt8(ascii: "a") ? .category : .critical
    case 9: member = .deviceID
    case 10: member = name[0] == UInt8(ascii: "c") ? .createdAt : .expiresAt
    case 12: member = name[0] == UInt8(ascii: "c") ? .collapseKey : .smsFallback
    case 15: member = .notificationID
    default: return nil
    }
    guard name.equals(member.name) else { return nil }
    self = member
  }
}
