/// The closed set of consent categories (requirements C1). Raw values index every per-category table.
public enum Category: UInt8, CaseIterable, Sendable {
  case transactional, security, social, marketing

  public var name: StaticString {
    switch self {
    case .transactional: "transactional"
    case .security: "security"
    case .social: "social"
    case .marketing: "marketing"
    }
  }
}

/// The topic a candidate arrived on. Who may write to the security topic is Kafka's ACLs' business
/// (requirements K1), so where a record came from is evidence, not a claim.
public enum Lane: UInt8, CaseIterable, Sendable {
  case ordinary, security
}

/// Where a decision sends its record.
public enum Outcome: UInt8, CaseIterable, Sendable {
  case approved, deferred, dropped

  public var name: StaticString {
    switch self {
    case .approved: "approved"
    case .deferred: "deferred"
    case .dropped: "dropped"
    }
  }
}

/// Every reason code, in the order of the rows of the decision table: the reason of a record is the
/// first that holds, and `blocked_by` is written in this order. Raw values are bit positions.
public enum Reason: UInt8, CaseIterable, Sendable {
  case invalidCandidate
  case unknownCategory, categoryMismatch, payloadTooLarge
  case criticalNotAllowed
  case expired
  case unknownUser, preferencesUnreadable, unknownDevice, noDevices
  case duplicate
  case suppressedLegalHold, suppressedAbuseHold, suppressedBounced
  case noGdprConsent
  case accountOptedOut, deviceOptedOut, subtypeMuted, categoryDefaultOff
  case osPermissionDenied
  case tokenRevoked, tokenExpired
  case quietHoursDropped
  case expiresInQuietHours
  case frequencyCapped
  case quietHoursDeferred
  case released, quietHoursBypassed, ok
  case superseded

  /// The outcome that goes with it.
  public var outcome: Outcome {
    switch self {
    case .quietHoursDeferred: .deferred
    case .released, .quietHoursBypassed, .ok: .approved
    default: .dropped
    }
  }

  public var name: StaticString {
    switch self {
    case .invalidCandidate: "invalid_candidate"
    case .unknownCategory: "unknown_category"
    case .categoryMismatch: "category_mismatch"
    case .payloadTooLarge: "payload_too_large"
    case .criticalNotAllowed: "critical_not_allowed"
    case .expired: "expired"
    case .unknownUser: "unknown_user"
    case .preferencesUnreadable: "preferences_unreadable"
    case .unknownDevice: "unknown_device"
    case .noDevices: "no_devices"
    case .duplicate: "duplicate"
    case .suppressedLegalHold: "suppressed_legal_hold"
    case .suppressedAbuseHold: "suppressed_abuse_hold"
    case .suppressedBounced: "suppressed_bounced"
    case .noGdprConsent: "no_gdpr_consent"
    case .accountOptedOut: "account_opted_out"
    case .deviceOptedOut: "device_opted_out"
    case .subtypeMuted: "subtype_muted"
    case .categoryDefaultOff: "category_default_off"
    case .osPermissionDenied: "os_permission_denied"
    case .tokenRevoked: "token_revoked"
    case .tokenExpired: "token_expired"
    case .quietHoursDropped: "quiet_hours_dropped"
    case .expiresInQuietHours: "expires_in_quiet_hours"
    case .frequencyCapped: "frequency_capped"
    case .quietHoursDeferred: "quiet_hours_deferred"
    case .released: "released"
    case .quietHoursBypassed: "quiet_hours_bypassed"
    case .ok: "ok"
    case .superseded: "superseded"
    }
  }
}
