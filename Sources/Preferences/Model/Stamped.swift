import Gate

/// A value with the instant, and where a choice was made the source, of the event that set it.
///
/// Every field of the state is one of these, and a later event takes the place of an earlier one
/// whatever order they arrive in. At equal instants the stricter value stays, and among equally
/// strict ones the one that comes first in a fixed order: so the events alone decide the state,
/// never the order in which they were delivered.
public struct Stamped<Value: Ranked>: Equatable, Sendable {
  public var value: Value
  /// Milliseconds since the epoch: when it was chosen, not when that was heard of.
  public var atMs: Int64
  public var source: ChoiceSource?

  public init(_ value: Value, atMs: Int64, source: ChoiceSource? = nil) {
    self.value = value
    self.atMs = atMs
    self.source = source
  }

  /// Whether this one stays where both are known.
  func outranks(_ other: Stamped) -> Bool {
    if atMs != other.atMs { return atMs > other.atMs }
    if value != other.value { return Value.isStricter(value, other.value) }
    return rank(source) < rank(other.source)
  }

  private func rank(_ source: ChoiceSource?) -> UInt8 { source?.rawValue ?? UInt8.max }
}

/// A value of which the stricter stays where two were set at the same instant.
public protocol Ranked: Equatable, Sendable {
  /// A total order over values that are not equal.
  static func isStricter(_ a: Self, _ b: Self) -> Bool
}

/// What became of a field.
public enum FieldChange: Sendable {
  /// The value is another now.
  case applied
  /// The value is the same; its time has moved on, or its source is another.
  case confirmed
  /// The field already held exactly that.
  case unchanged
  /// The field holds something later, or something stricter of the same instant.
  case late
}

extension Optional {
  /// Keeps whichever of the two outranks the other.
  mutating func merge<Value>(_ new: Stamped<Value>) -> FieldChange where Wrapped == Stamped<Value> {
    guard let held = self else {
      self = new
      return .applied
    }
    if held == new { return .unchanged }
    guard new.outranks(held) else { return .late }
    self = new
    return new.value == held.value ? .confirmed : .applied
  }
}

extension Choice: Ranked {
  /// `user-off` before `default` before `user-on`.
  public static func isStricter(_ a: Choice, _ b: Choice) -> Bool { a.rank < b.rank }

  private var rank: Int {
    switch self {
    case .userOff: 0
    case .unset: 1
    case .userOn: 2
    }
  }
}

/// Muted, suppressed, muted by a link: true is the stricter.
extension Bool: Ranked {
  public static func isStricter(_ a: Bool, _ b: Bool) -> Bool { a && !b }
}

extension TokenStatus: Ranked {
  public static func isStricter(_ a: TokenStatus, _ b: TokenStatus) -> Bool {
    a.rawValue > b.rawValue
  }
}
