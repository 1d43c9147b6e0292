/// Why a text is no event: the member, what is wrong with it, and what to write instead.
public struct EventFault: Error, Equatable, Sendable, CustomStringConvertible {
  public enum Code: String, CaseIterable, Sendable {
    /// Not one JSON object as the gate reads it.
    case malformedJSON = "malformed_json"
    case tooLarge = "too_large"
    case missing
    case wrongType = "wrong_type"
    case malformedID = "malformed_id"
    case malformedInstant = "malformed_instant"
    case malformedWindow = "malformed_window"
    case unknownType = "unknown_type"
    case unknownValue = "unknown_value"
    /// A member that this type of event cannot have beside the others.
    case contradictory
  }

  public var code: Code
  /// Where, with dots: `quiet_hours.start`; empty for the text as a whole.
  public var member: String
  /// What to write instead.
  public var words: String
  /// So far as they could be read, so that the failure can be put on record.
  public var userID: Identifier?
  public var eventID: Identifier?

  public init(_ code: Code, _ member: String, _ words: String) {
    self.code = code
    self.member = member
    self.words = words
  }

  public var description: String {
    member.isEmpty ? "the event \(words)" : "event member \(member): \(words)"
  }
}
