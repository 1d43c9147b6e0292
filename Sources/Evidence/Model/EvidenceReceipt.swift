/// What a provider or an app said of a notification on a device.
public struct EvidenceReceipt: Sendable, Equatable {
  public enum Kind: String, Sendable, CaseIterable {
    /// The provider took it. Nobody has seen it by that.
    case accepted
    case rejected
    /// The app said that somebody saw it.
    case userObserved = "user_observed"
    /// A status or an event that this release does not know, or a record that is no receipt.
    case other
  }

  public var sequence: Int64
  public var place: EvidencePlace
  public var kind: Kind
  /// `at`, milliseconds since the epoch; where it has none, its Kafka timestamp.
  public var atMs: Int64
  public var userID: String?
  public var notificationID: String?
  public var deviceID: String?
  /// `apns` or `fcm`; nil of an app.
  public var provider: String?
  /// The provider's own name of a rejection.
  public var code: String?
  /// `tap` or `badge_clear`; nil of a provider.
  public var via: String?
  /// The record's own bytes.
  public var record: [UInt8]
}
