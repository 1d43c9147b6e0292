/// A daily stretch of local wall-clock time, `[start, end)`, and the weekdays on which it starts.
///
/// Whether it is quiet is judged by the wall clock at the instant, and by nothing else. The clock
/// runs straight between two changes of the zone's offset, so it is enough to look at those changes
/// and at the window's own edges (requirements Q3).
public struct QuietWindow: Equatable, Sendable {
  /// Minutes after local midnight, 0...1439.
  public var startMinute: UInt16
  /// 0...1440; 1440 is the end of the day. Below the start: the window goes on after midnight.
  /// Equal to the start: no window.
  public var endMinute: UInt16
  /// Bit 0 = Monday ... bit 6 = Sunday: the days on which the window starts. 0: no window.
  public var days: UInt8

  public static let everyDay: UInt8 = 0x7F
  /// A window that does not end within this has no end.
  public static let endSearchSeconds = 8 * CivilDate.secondsPerDay
  /// A start later than this is none.
  public static let startSearchSeconds = 36 * CivilDate.secondsPerDay

  public init(startMinute: UInt16, endMinute: UInt16, days: UInt8 = everyDay) {
    precondition(startMinute < 1440 && endMinute <= 1440 && days <= Self.everyDay)
    self.startMinute = startMinute
    self.endMinute = endMinute
    self.days = days
  }

  /// Whether it is quiet at the instant.
  public func contains(_ instantMs: Int64, zone: UInt16, in zones: ZoneTable) -> Bool {
    let seconds = Self.seconds(instantMs)
    let offset = zones.offsetInterval(zone, atSeconds: seconds).offsetSeconds
    return contains(localSeconds: seconds + Int64(offset))
  }

  /// The first later instant at which it is not quiet; nil where it is not quiet now, or still is
  /// eight days later.
  public func endsAtMs(after instantMs: Int64, zone: UInt16, in zones: ZoneTable) -> Int64? {
    var walk = Walk(self, zone: zone, in: zones, from: Self.seconds(instantMs))
    guard walk.isInside else { return nil }
    let last = walk.seconds + Self.endSearchSeconds
    while walk.step(notAfter: last) {
      if !walk.isInside { return walk.seconds * 1000 }
    }
    return nil
  }

  /// The first later instant at which it becomes quiet (after leaving the window that holds now, if
  /// one does); nil where that does not happen within 36 days.
  public func nextStartMs(after instantMs: Int64, zone: UInt16, in zones: ZoneTable) -> Int64? {
    guard startMinute != endMinute, days != 0 else { return nil }
    var walk = Walk(self, zone: zone, in: zones, from: Self.seconds(instantMs))
    let last = walk.seconds + Self.startSearchSeconds
    var wasInside = walk.isInside
    while walk.step(notAfter: last) {
      if walk.isInside && !wasInside { return walk.seconds * 1000 }
      wasInside = walk.isInside
    }
    return nil
  }

  /// Whole seconds, rounded down, far from where their sums could overflow.
  @inline(__always)
  private static func seconds(_ instantMs: Int64) -> Int64 {
    CivilDate.floorDivide(max(-(1 << 62), min(instantMs, 1 << 62)), by: 1000)
  }

  /// The verdict of a wall clock, given as seconds since 1970-01-01 00:00 on that clock.
  @inline(__always)
  func contains(localSeconds: Int64) -> Bool {
    let day = CivilDate.floorDivide(localSeconds, by: CivilDate.secondsPerDay)
    let minute = (localSeconds - day * CivilDate.secondsPerDay) / 60
    let today = CivilDate.weekday(ofDay: day)
    if startMinute < endMinute {
      return minute >= startMinute && minute < endMinute && starts(on: today)
    }
    if startMinute == endMinute { return false }
    if minute >= startMinute { return starts(on: today) }
    // Of yesterday's window, by the calendar: also where the zone had no yesterday.
    return minute < endMinute && starts(on: today == 0 ? 6 : today - 1)
  }

  @inline(__always)
  private func starts(on weekday: Int64) -> Bool { days >> UInt8(weekday) & 1 != 0 }

  /// The next wall-clock second at which the verdict can differ: the start, the end, or midnight.
  @inline(__always)
  fileprivate func edge(afterLocal localSeconds: Int64) -> Int64 {
    let midnight =
      CivilDate.floorDivide(localSeconds, by: CivilDate.secondsPerDay) * CivilDate.secondsPerDay
    var edge = midnight + CivilDate.secondsPerDay
    let start = midnight + Int64(startMinute) * 60
    let end = midnight + Int64(endMinute) * 60
    if start > localSeconds { edge = min(edge, start) }
    if end > localSeconds { edge = min(edge, end) }
    return edge
  }

  /// Goes from instant to instant at which the verdict can change.
  private struct Walk {
    let window: QuietWindow
    let zone: UInt16
    let zones: ZoneTable
    private(set) var seconds: Int64
    private var offset: Int32
    private var offsetUntil: Int64

    init(_ window: QuietWindow, zone: UInt16, in zones: ZoneTable, from seconds: Int64) {
      self.window = window
      self.zone = zone
      self.zones = zones
      self.seconds = seconds
      (offset, offsetUntil) = zones.offsetInterval(zone, atSeconds: seconds)
    }

    var isInside: Bool { window.contains(localSeconds: seconds + Int64(offset)) }

    /// False, and where it was, if the next such instant is after the last one allowed.
    mutating func step(notAfter last: Int64) -> Bool {
      let edge = window.edge(afterLocal: seconds + Int64(offset)) - Int64(offset)
      let next = min(edge, offsetUntil)
      guard next <= last else { return false }
      seconds = next
      if next == offsetUntil {
        (offset, offsetUntil) = zones.offsetInterval(zone, atSeconds: next)
      }
      return true
    }
  }
}
