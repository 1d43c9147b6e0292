import Gate

/// What the machine asks of the tz database.
public protocol ZoneNames: Sendable {
  func isKnown(_ zone: String) -> Bool
  /// At most three that may have been meant.
  func suggestions(for zone: String) -> [String]
}

extension ZonePublisher: ZoneNames {}
