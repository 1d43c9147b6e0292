import Gate

/// What quiet hours are set to. On an account `inherited` is never stored; it would mean none.
public enum WindowSetting: Hashable, Sendable {
  /// Of a device: the account's.
  case inherited
  /// No window; on a device, none in place of the account's.
  case none
  case window(startMinute: UInt16, endMinute: UInt16, days: UInt8)
}

extension WindowSetting: Ranked {
  /// A window before none before the account's; among windows the fixed order of their numbers,
  /// since which of two windows is the stricter depends on who is asked.
  public static func isStricter(_ a: WindowSetting, _ b: WindowSetting) -> Bool {
    a.order.lexicographicallyPrecedes(b.order)
  }

  private var order: [UInt16] {
    switch self {
    case .window(let start, let end, let days): [0, start, end, UInt16(days)]
    case .none: [1]
    case .inherited: [2]
    }
  }
}

/// A zone id, or none. The order at equal instants is that of their bytes.
public struct ZoneSetting: Ranked, Hashable {
  public var zone: Identifier?

  public init(_ zone: Identifier?) { self.zone = zone }

  public static func isStricter(_ a: ZoneSetting, _ b: ZoneSetting) -> Bool {
    guard let zone = a.zone, let other = b.zone else { return a.zone != nil }
    return zone < other
  }
}
