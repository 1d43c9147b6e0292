import Gate

/// What the machine has to know before an event. The store loads it in one transaction and saves in
/// the same one what the machine answers.
public struct KnownState: Equatable, Sendable {
  /// The event's user; nil: nothing is kept of one.
  public var user: UserPreferences?
  /// Where that user was erased within the time that this is remembered for.
  public var userErasedAtMs: Int64?
  /// The record of the event's `deviceID`, where it has one.
  public var device: SharedDevice?
  /// The user who holds that device, where it is another than the event's.
  public var holder: UserPreferences?

  public init(
    user: UserPreferences? = nil, userErasedAtMs: Int64? = nil, device: SharedDevice? = nil,
    holder: UserPreferences? = nil
  ) {
    self.user = user
    self.userErasedAtMs = userErasedAtMs
    self.device = device
    self.holder = holder
  }
}

/// What comes of one event. Whatever is nil stays as it was.
public struct Transition: Equatable, Sendable {
  public var outcome: EventOutcome
  public var refusal: Refusal?
  /// To save in place of the user. Its `version` has risen where `userDocument` is there.
  public var user: UserPreferences?
  /// To save in place of the holder, who has lost the device.
  public var holder: UserPreferences?
  public var device: SharedDevice?
  /// Documents to publish, the loser's before the winner's: at no time is a device in two documents
  /// that were both published last.
  public var holderDocument: String?
  public var userDocument: String?
  /// The user is to be deleted. Where it is false although `erasedAtMs` is there, the user came back
  /// after the time of the erasure: `user` is what is left, and `userDocument` is there.
  public var isErased = false
  /// To remember under a keyed hash of the user id. The secret is to be deleted that the audit topic's
  /// pseudonyms are made with. A tombstone is to be published before any document.
  public var erasedAtMs: Int64?
  /// Of a user who came back: every audit row and receipt dated up to then is to be deleted, and the
  /// rows that stay are to lose their `before`, which may be of one that goes.
  public var erasedThroughMs: Int64?
  /// Devices whose record names the user, and which are not kept of the user any more: `holder` becomes
  /// nil, the claim's time stays.
  public var releasedDevices: [Identifier] = []
  /// In the order to store them.
  public var rows: [AuditRow] = []
  /// To publish as a receipt.
  public var observed: ObservedReceipt?

  public init(outcome: EventOutcome) { self.outcome = outcome }

  init(refusal: Refusal) {
    outcome = .refused
    self.refusal = refusal
  }
}

/// That a user saw a notification, as it stands on the receipts topic.
public struct ObservedReceipt: Equatable, Sendable {
  public var userID: Identifier
  public var deviceID: Identifier
  public var notificationID: Identifier
  public var via: ObservedVia
  public var atMs: Int64
}
