/// Why bytes are not the JSON that the gate reads: RFC 8259, one value and nothing after it, valid
/// UTF-8, at most 64 levels, no member twice in one object (outside what is carried unread).
public enum JSONFault: UInt8, Error, Sendable {
  case malformedJSON
  case malformedUTF8
  case tooDeep
  case repeatedMember
  /// A value of another type than the member asks for.
  case wrongType
  /// A string with an escape that stands for no character (a lone surrogate).
  case malformedString
}

extension JSONFault {
  /// In words, after what was read: `the policy …`.
  package var words: StaticString {
    switch self {
    case .malformedJSON: "is not one JSON object"
    case .malformedUTF8: "is not valid UTF-8"
    case .tooDeep: "is nested deeper than 64"
    case .repeatedMember: "has a member twice in one object"
    case .wrongType: "has a member of the wrong type"
    case .malformedString: "has a string with an escape that stands for no character"
    }
  }
}
