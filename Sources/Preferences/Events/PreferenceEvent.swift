import Gate

/// Something that happened to one user's preferences: a choice, what a device says of itself, what a
/// provider answered. From `preferences.events`, over HTTP, or made of a receipt.
public struct PreferenceEvent: Equatable, Sendable {
  /// One that was seen already changes nothing.
  public var eventID: Identifier
  public var userID: Identifier
  /// When it happened, by the clock of whoever says so; milliseconds since the epoch.
  public var atMs: Int64
  /// Whoever says so named no instant: it is now, and behind whatever it is to take the place of,
  /// which a phone whose clock is fast may have dated ahead. `atMs` is then the service's clock.
  public var isOfNow: Bool
  /// Always there where a choice is made.
  public var source: ChoiceSource?
  public var body: EventBody

  public init(
    eventID: Identifier, userID: Identifier, atMs: Int64, isOfNow: Bool = false,
    source: ChoiceSource? = nil, body: EventBody
  ) {
    self.eventID = eventID
    self.userID = userID
    self.atMs = atMs
    self.isOfNow = isOfNow
    self.source = source
    self.body = body
  }

  /// The device it is about, whoever holds it.
  public var deviceID: Identifier? {
    switch body {
    case .choiceSet(let scope, _, _), .quietHoursSet(let scope, _), .suppressionSet(let scope, _),
      .suppressionCleared(let scope, _):
      scope.deviceID
    case .deviceSeen(let device, _, _), .deviceRemoved(let device),
      .permissionPromptShown(let device, _), .tokenFeedback(let device, _, _),
      .userObserved(_, let device, _):
      device
    case .subtypeMuteSet, .timezoneSet, .smsConsentSet, .linkUndone, .userErased: nil
    }
  }
}

/// What happened. The names of the cases are those of `type`.
public enum EventBody: Equatable, Sendable {
  /// With source `unsubscribe_link`: `user-off` on the account's marketing or social, nothing else.
  case choiceSet(PreferenceScope, Category, Choice)
  /// `unsubscribe_undone`: what links muted is as it was before.
  case linkUndone(Category)
  case subtypeMuteSet(Subtype, isMuted: Bool)
  case quietHoursSet(PreferenceScope, WindowSetting)
  case timezoneSet(ZoneSetting)
  case smsConsentSet(Choice)
  /// Registration and each foreground sync. Without a token status the token stays as it is.
  case deviceSeen(Identifier, DeviceSync, TokenStatus?)
  case deviceRemoved(Identifier)
  case suppressionSet(PreferenceScope, Suppression)
  case suppressionCleared(PreferenceScope, Suppression)
  case permissionPromptShown(Identifier, moment: Identifier)
  case tokenFeedback(Identifier, PushProvider, code: String)
  case userErased
  /// Changes nothing here; becomes a receipt.
  case userObserved(notificationID: Identifier, Identifier, ObservedVia)
}

/// Who answers for a device's platform.
public enum PushProvider: String, CaseIterable, Sendable {
  case apns, fcm
}

/// How an app knows that its user saw a notification (requirements R2).
public enum ObservedVia: String, CaseIterable, Sendable {
  case tap
  case badgeClear = "badge_clear"
}

/// A change of a category's default, by an administrator (requirements C3).
public struct DefaultEvent: Equatable, Sendable {
  public var eventID: Identifier
  public var atMs: Int64
  /// As of a user's event: it is now, and behind whatever it takes the place of.
  public var isOfNow: Bool
  public var category: Category
  /// Nil: back to the policy's.
  public var value: CategoryDefault?

  public init(
    eventID: Identifier, atMs: Int64, isOfNow: Bool = false, category: Category,
    value: CategoryDefault?
  ) {
    self.eventID = eventID
    self.atMs = atMs
    self.isOfNow = isOfNow
    self.category = category
    self.value = value
  }
}

/// Whether a category is on for a user who chose nothing.
public struct CategoryDefault: Hashable, Sendable {
  public var isOn: Bool
  /// The same where the device's region is regulated.
  public var isOnWhereRegulated: Bool

  public init(isOn: Bool, isOnWhereRegulated: Bool) {
    self.isOn = isOn
    self.isOnWhereRegulated = isOnWhereRegulated
  }
}

/// The defaults set by events, over the policy's; nil inside: back to the policy's.
public struct DefaultsState: Equatable, Sendable {
  public struct Entry: Equatable, Sendable {
    public var value: CategoryDefault?
    public var atMs: Int64

    public init(value: CategoryDefault?, atMs: Int64) {
      self.value = value
      self.atMs = atMs
    }
  }

  public var entries: [Category: Entry] = [:]

  public init() {}

  public subscript(_ category: Category) -> CategoryDefault? { entries[category]?.value }
}

/// What a text that was read turned out to be.
public enum DecodedEvent: Equatable, Sendable {
  case user(PreferenceEvent)
  case defaults(DefaultEvent)
}
