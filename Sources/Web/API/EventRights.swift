import Gate
import Preferences

/// Which role may say what. What a user may choose at all is the machine's to judge; this is only
/// who may speak for whom.
enum EventRights {
  /// Nil where it may, else why not.
  static func refusal(_ role: Role, _ event: PreferenceEvent) -> Problem? {
    if role == .admin { return nil }
    if event.source == .adminOverride {
      return forbidden("only the role admin may write source admin_override")
    }
    switch event.body {
    case .choiceSet, .linkUndone, .subtypeMuteSet, .quietHoursSet, .timezoneSet, .smsConsentSet,
      .deviceSeen, .deviceRemoved, .permissionPromptShown, .userObserved:
      return role == .app ? nil : forbidden("the role support makes no choices for a user")
    case .suppressionSet, .suppressionCleared:
      return role == .support ? nil : forbidden("the roles support and admin set suppressions")
    case .tokenFeedback, .userErased:
      return forbidden("only the role admin may send this type of event")
    }
  }

  static func forbidden(_ detail: String) -> Problem { Problem(403, "forbidden", detail) }
}
