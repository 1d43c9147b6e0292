/// What a signed link is good for. The numbers are part of the link.
public enum LinkPurpose: UInt8, CaseIterable, Sendable {
  /// Mutes the category.
  case unsubscribe = 1
  /// Shows and changes all preferences of the user.
  case settings = 2
  /// Takes back what such a link muted.
  case undo = 3
}

/// What a link says, once its signature was found to be right.
public struct Link: Equatable, Sendable {
  public var purpose: LinkPurpose
  /// Nil for settings, which are of all categories.
  public var category: Category?
  public var userID: String
  /// The notification it came with; nil where there was none.
  public var notificationID: String?
  /// Seconds since the epoch; from then on it is no longer good.
  public var expiresAtSeconds: Int64

  public init(
    purpose: LinkPurpose, category: Category?, userID: String, notificationID: String?,
    expiresAtSeconds: Int64
  ) {
    self.purpose = purpose
    self.category = category
    self.userID = userID
    self.notificationID = notificationID
    self.expiresAtSeconds = expiresAtSeconds
  }
}

/// Why a token is no good. For logs and metrics: who holds the token is told no more than that.
public enum LinkFault: String, Error, CaseIterable, Sendable {
  /// Cut off, grown, or never a token.
  case malformed
  /// Of a key that is not, or no longer, in the file.
  case unknownKey = "unknown_key"
  case forged
  case expired
}

/// The bytes of a link before they become text. All numbers are big-endian.
///
///     0    format, 1
///     1    id of the key, two bytes
///     3    purpose
///     4    category: 0 none, 1 transactional, 2 security, 3 social, 4 marketing
///     5    expiry, seconds since the epoch, five bytes
///     10   bytes of the user id, then the user id
///     …    bytes of the notification id (0: none), then the notification id
///     …    HMAC-SHA-256 of all of that, 32 bytes
///
/// The text is these in base64url without padding (RFC 4648 section 5).
enum LinkLayout {
  static let format: UInt8 = 1
  static let headBytes = 10
  static let expiryMax: Int64 = 1 << 40 - 1
  static let idBytesMax = CandidateDecoder.idBytesMax
  static let bytesMax = headBytes + 2 * (1 + idBytesMax) + HMACKey.tagBytes
  /// Of the least there is: a user id of one byte and no notification.
  static let bytesMin = headBytes + 3 + HMACKey.tagBytes
  static let textBytesMax = (bytesMax * 4 + 2) / 3

  @inline(__always)
  static func code(_ category: Category?) -> UInt8 {
    switch category {
    case nil: 0
    case .transactional: 1
    case .security: 2
    case .social: 3
    case .marketing: 4
    }
  }

  /// Nil where it is no code; else the category, or none.
  static func category(_ code: UInt8) -> Category?? {
    switch code {
    case 0: .some(nil)
    case 1: .transactional
    case 2: .security
    case 3: .social
    case 4: .marketing
    default: nil
    }
  }
}

extension Category {
  /// Whether an approval of it carries a link that mutes it (requirements U1).
  @inline(__always)
  public var carriesLink: Bool { self == .marketing || self == .social }
}
