/// Why a preference document cannot be read. One that cannot makes its user
/// `preferences_unreadable`: guessing at half a document is how an opt-out gets lost.
public enum DocumentFault: UInt8, Error, Sendable, CaseIterable {
  case malformedJSON, malformedUTF8, tooDeep, repeatedMember, wrongType, malformedString
  case missingUserID, otherUser, malformedID, malformedVersion
  case unknownChoice, unknownPermission, unknownTokenStatus, unknownPlatform, unknownSuppression
  case missingDeviceID, missingPermission, missingTokenStatus, missingPlatform
  case tooManyDevices, repeatedDevice, tooLarge

  /// In words, with what to do.
  public var words: StaticString {
    switch self {
    case .malformedJSON: JSONFault.malformedJSON.words
    case .malformedUTF8: JSONFault.malformedUTF8.words
    case .tooDeep: JSONFault.tooDeep.words
    case .repeatedMember: JSONFault.repeatedMember.words
    case .wrongType: JSONFault.wrongType.words
    case .malformedString: JSONFault.malformedString.words
    case .missingUserID: "has no user_id"
    case .otherUser: "has another user_id than its key"
    case .malformedID: "has an id that is not 1 to 128 bytes without control characters"
    case .malformedVersion: "has a version that is no integer from 0 to 2^53"
    case .unknownChoice: "has a choice that is not default, user-on or user-off"
    case .unknownPermission: "has an os_permission that is not granted, denied or provisional"
    case .unknownTokenStatus: "has a token_status that is not active, expired or revoked"
    case .unknownPlatform: "has a platform that is not ios or android"
    case .unknownSuppression: "has a suppression that is not legal_hold, abuse_hold or bounced"
    case .missingDeviceID: "has a device without device_id"
    case .missingPermission: "has a device without os_permission"
    case .missingTokenStatus: "has a device without token_status"
    case .missingPlatform: "has a device without platform"
    case .tooManyDevices: "has more than 64 devices"
    case .repeatedDevice: "has a device twice"
    case .tooLarge: "is larger than the table takes"
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

/// What a readable document says that is passed over; counted, so that somebody looks.
public struct DocumentNotes: OptionSet, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A zone id that the tz database does not have counts as absent.
  public static let unknownZone = DocumentNotes(rawValue: 1)
  /// A window that cannot be read follows the policy's `on_invalid_window`.
  public static let invalidWindow = DocumentNotes(rawValue: 2)
  /// A security `user-off` from any source but an administrator counts as default.
  public static let securityOffIgnored = DocumentNotes(rawValue: 4)
}

/// What a readable document says that nobody means: the gate passes over it, and whoever writes the
/// document is told.
struct DocumentOversights: OptionSet {
  let rawValue: UInt8

  /// Under `categories` or `muted_subtypes`, a name that is none of the four.
  static let unknownCategory = DocumentOversights(rawValue: 1)
  /// An `at` that is no instant.
  static let unreadableTime = DocumentOversights(rawValue: 2)
  /// A `source` that is none of the four.
  static let unknownSource = DocumentOversights(rawValue: 4)
  /// A `region` that is no assigned code in upper case.
  static let unknownRegion = DocumentOversights(rawValue: 8)
}
