import Gate

/// Who speaks to the preference service; docs/preferences-api.md says what each may ask for.
public enum Role: String, Sendable, CaseIterable {
  /// A server of the apps, which has made sure who its user is.
  case app
  /// People who answer users.
  case support
  /// People and programs that run the service.
  case admin
  /// The self-test, which has users of its own and may touch nobody else's: a monitor's token need not
  /// open anything.
  case selftest
}

/// Which role may say what, over HTTP and over Kafka alike. What a user may choose at all is the
/// machine's to judge; this is only who may speak for whom.
public enum EventRights {
  /// Why a role may not send an event.
  public struct Denial: Sendable, Equatable {
    /// The member of the event that says what the role may not.
    public var member: String
    public var words: String
  }

  /// Nil where it may.
  public static func denial(_ role: Role, _ event: PreferenceEvent) -> Denial? {
    if role == .admin { return nil }
    guard SelfTestUser.isReserved(event.userID.text) == (role == .selftest) else {
      let words =
        role == .selftest
        ? "the role selftest speaks for the self-test's own users alone"
        : "the self-test's users are changed by the roles selftest and admin alone"
      return Denial(member: "user_id", words: words)
    }
    // A device belongs to one account: whoever names one may take it from whom it belongs to.
    if let device = event.deviceID, SelfTestUser.isReserved(device.text) != (role == .selftest) {
      let words =
        role == .selftest
        ? "the role selftest names devices alone whose id begins with \(SelfTestUser.prefix)"
        : "devices whose id begins with \(SelfTestUser.prefix) are the self-test's"
      return Denial(member: "device_id", words: words)
    }
    if role == .selftest { return nil }
    if event.source == .adminOverride {
      return Denial(member: "source", words: "only the role admin may write source admin_override")
    }
    switch event.body {
    case .choiceSet, .linkUndone, .subtypeMuteSet, .quietHoursSet, .timezoneSet, .smsConsentSet,
      .deviceSeen, .deviceRemoved, .permissionPromptShown, .userObserved:
      return role == .app
        ? nil : Denial(member: "type", words: "the role support makes no choices for a user")
    case .suppressionSet, .suppressionCleared:
      return role == .support
        ? nil : Denial(member: "type", words: "the roles support and admin set suppressions")
    case .tokenFeedback, .userErased:
      return Denial(member: "type", words: "only the role admin may send this type of event")
    }
  }
}
