/// Why an event is not allowed. What is refused changes nothing of a user.
public enum Refusal: Error, Equatable, Sendable {
  /// More than five minutes ahead of this clock.
  case aheadOfTime
  /// Only an administrator may switch security off (requirements C6).
  case securityNeedsAdmin
  /// Mutes never touch security.
  case securityNeverMuted
  /// The policy does not list the subtype as one that can be muted.
  case subtypeNotMutable
  /// Not in the tz database; up to three that may have been meant.
  case unknownZone(closeMatches: [String])
  /// An unsubscribe link mutes the account's marketing or social, and does nothing else.
  case linkOnlyMutes
  /// A default of off for security.
  case securityDefaultOff
  /// Dated before the user's erasure, or so little after it that a fast clock may have done that.
  case erased
  /// Nothing is kept of such a user, and the event is none that begins one.
  case unknownUser

  /// Stable; stands in the audit and in answers.
  public var code: String {
    switch self {
    case .aheadOfTime: "ahead_of_time"
    case .securityNeedsAdmin: "security_needs_admin"
    case .securityNeverMuted: "security_never_muted"
    case .subtypeNotMutable: "subtype_not_mutable"
    case .unknownZone: "unknown_zone"
    case .linkOnlyMutes: "link_only_mutes"
    case .securityDefaultOff: "security_default_off"
    case .erased: "erased"
    case .unknownUser: "unknown_user"
    }
  }

  /// In words, with what to do.
  public var words: String {
    switch self {
    case .aheadOfTime:
      "at is more than five minutes ahead of the service's clock; set the clock that dated it"
    case .securityNeedsAdmin:
      "security notifications protect the account: only an administrator may switch them off, "
        + "with source admin_override"
    case .securityNeverMuted: "a subtype of security cannot be muted"
    case .subtypeNotMutable:
      "the policy does not list this subtype under mutable_subtypes of its category"
    case .unknownZone(let matches):
      "the tz database has no such zone; "
        + (matches.isEmpty
          ? "write an id such as Europe/Berlin"
          : "did you mean \(matches.joined(separator: ", "))?")
    case .linkOnlyMutes:
      "an unsubscribe link only ever sets the account's marketing or social to user-off; "
        + "undo it with unsubscribe_undone"
    case .securityDefaultOff: "security is on unless an administrator decides for one user"
    case .erased: "the user was erased at that time or later, or up to five minutes before"
    case .unknownUser: "nothing is kept of such a user"
    }
  }
}
