/// What a holder of holds keeps of one, and when it may leave as the preferences stand now.
public struct HoldFacts: Equatable, Sendable {
  /// Keyed hash of the user, and of the hold's whole key: together 128 bits. The key of the hash is
  /// the preference table's, random per process; no id is kept.
  public var identity: HoldIdentity
  /// Keyed hash of (user, device, `collapse_key`); nil where the candidate has none. 32 bits beside
  /// the user's 64: whoever acts on it compares the bytes first (`Releaser.supersede` does).
  public var collapse: UInt32?
  /// Where the user stands in a spread: the same after a restart and on every instance.
  public var spread: UInt32
  /// Whose provider the device's platform is: APNs for iOS, FCM for Android. APNs where the device
  /// is gone, whose hold ends without a provider.
  public var provider: Provider
  /// As the record says.
  public var deliverAfterMs: Int64
  public var expiresAtMs: Int64?
  /// When the hold may leave, without any spread: the end of the window it is in now, under its
  /// bound. Where the document cannot be read now, or has lost the device, what the record says:
  /// both may be mended until then. Nil: nothing holds it any more, or the user is gone.
  public var heldUntilMs: Int64?
  /// There are no preferences of the user, not even ones that cannot be read, or those there are
  /// came after an erasure that the hold is older than.
  public var isUserGone: Bool

  public init(
    identity: HoldIdentity, collapse: UInt32?, spread: UInt32, provider: Provider,
    deliverAfterMs: Int64, expiresAtMs: Int64?, heldUntilMs: Int64?, isUserGone: Bool = false
  ) {
    self.identity = identity
    self.collapse = collapse
    self.spread = spread
    self.provider = provider
    self.deliverAfterMs = deliverAfterMs
    self.expiresAtMs = expiresAtMs
    self.heldUntilMs = heldUntilMs
    self.isUserGone = isUserGone
  }
}

/// What a deferral says of its hold beside the record: with it a hold need not be read back to be kept.
public struct HoldTimes: Equatable, Sendable {
  public var deliverAfterMs: Int64
  public var expiresAtMs: Int64?
  public var provider: Provider

  public init(deliverAfterMs: Int64, expiresAtMs: Int64?, provider: Provider) {
    self.deliverAfterMs = deliverAfterMs
    self.expiresAtMs = expiresAtMs
    self.provider = provider
  }

  /// Nil where the decision is no deferral.
  init?(_ decision: Decision, _ candidate: Candidate) {
    guard let deliverAfterMs = decision.deliverAfterMs, let device = decision.device else {
      return nil
    }
    self.init(
      deliverAfterMs: deliverAfterMs, expiresAtMs: candidate.expiresAtMs,
      provider: Provider(device.platform))
  }
}

public struct HoldIdentity: Hashable, Sendable {
  public var user: UInt64
  public var hold: UInt64

  public init(user: UInt64, hold: UInt64) {
    self.user = user
    self.hold = hold
  }
}

/// Who delivers (records, "Receipt").
public enum Provider: UInt8, CaseIterable, Sendable {
  case apns, fcm

  public var name: StaticString {
    switch self {
    case .apns: "apns"
    case .fcm: "fcm"
    }
  }

  init(_ platform: Platform) { self = platform == .ios ? .apns : .fcm }
}

/// One hold, decided again.
public struct ReleasedHold {
  public enum Fate: Equatable, Sendable {
    /// Approved or dropped: write the record, and a null value under the hold's key.
    case ended
    /// Inside a window again: the record takes the old one's place, under the same key.
    case heldOn
    /// The user is gone: a null value, and no record (the one exception to "every candidate ends
    /// once").
    case erased
    /// Not a hold that this gate can read: nothing is written; an alarm.
    case unreadable
  }
  public var fate: Fate
  /// `user_id NUL notification_id NUL device_id`; nil where it is unreadable.
  public var key: UnsafeRawBufferPointer?
  /// Nil where it was erased or is unreadable. Its `inputIndex` is the position among the holds.
  public var record: OutputRecord?
  /// Whose tokens an approval takes.
  public var provider: Provider
}
