/// How many notifications of a category a user may get in a window of time (requirements F1, X8).
struct Cap {
  enum Style: UInt8 {
    /// In a day of the account's wall clock, else of the deciding device's.
    case calendarDay
    /// In any span as long as the window.
    case sliding
  }

  /// What the longest day of the calendar takes: its 24 hours, and the 26 by which two places on
  /// earth, or a place before and after it changes sides of the date line, may differ.
  static let dayMsMax = 50 * Instant.hourMs

  var name: Bytes
  var count: Int
  var style: Style
  /// Of a sliding cap.
  var windowMs: Int64

  /// How long an approval matters to it.
  var memoryMs: Int64 { style == .sliding ? windowMs : Self.dayMsMax }

  // MARK: Whether it is used up

  /// The first instant after `nowMs` at which the cap has room for one more, where it has none now;
  /// nil where it has. `entries` are in the order of their instants.
  func freesAtMs(
    _ entries: UnsafeBufferPointer<CapEntry>, nowMs: Int64, zone: UInt16, in zones: ZoneTable
  ) -> Int64? {
    #if PlantedBugs
      if PlantedBug.is(.capOffByOne), entries.count <= count { return nil }
    #endif
    guard entries.count >= count else { return nil }
    switch style {
    case .sliding: return slidingFreesAtMs(entries, nowMs)
    case .calendarDay: return dayFreesAtMs(entries, nowMs, zone, zones)
    }
  }

  /// `count` approvals in a row and one more at t are too many where all of them lie in one span of
  /// the window's length. A run that is that dense itself keeps every t out that is less than a
  /// window after its first and less than a window before its last. (The latter matters after a
  /// clock was set back.) Both ends grow from run to run, so that one pass finds the first t
  /// that no run keeps out.
  private func slidingFreesAtMs(
    _ entries: UnsafeBufferPointer<CapEntry>, _ nowMs: Int64
  ) -> Int64? {
    var freeMs = nowMs
    var first = Self.firstIndex(entries, after: nowMs - windowMs)
    var counted = 0
    for last in first..<entries.count where entries[last].isCounted {
      counted += 1
      guard counted >= count else { continue }
      while !entries[first].isCounted { first += 1 }
      let (firstMs, lastMs) = (entries[first].atMs, entries[last].atMs)
      if lastMs - firstMs < windowMs, lastMs - windowMs < freeMs, freeMs < firstMs + windowMs {
        freeMs = firstMs + windowMs
      }
      first += 1
    }
    return freeMs == nowMs ? nil : freeMs
  }

  /// A day is a date on the wall: one that comes twice, or for a minute, has one count.
  private func dayFreesAtMs(
    _ entries: UnsafeBufferPointer<CapEntry>, _ nowMs: Int64, _ zone: UInt16, _ zones: ZoneTable
  ) -> Int64? {
    var atMs = nowMs
    var date = LocalDay.date(atMs, zone: zone, in: zones)
    guard countedOn(date, entries, nowMs, zone, zones) >= count else { return nil }
    // What was approved under a clock that was ahead may have used up the days to come.
    repeat {
      atMs = LocalDay.nextMs(after: atMs, zone: zone, in: zones)
      date = LocalDay.date(atMs, zone: zone, in: zones)
    } while countedOn(date, entries, nowMs, zone, zones) >= count
    return atMs
  }

  private func countedOn(
    _ date: Int64, _ entries: UnsafeBufferPointer<CapEntry>, _ nowMs: Int64, _ zone: UInt16,
    _ zones: ZoneTable
  ) -> Int {
    var found = 0
    for i in Self.firstIndex(entries, after: nowMs - Self.dayMsMax)..<entries.count
    where entries[i].isCounted && LocalDay.date(entries[i].atMs, zone: zone, in: zones) == date {
      found += 1
    }
    return found
  }

  /// From the newest back: what matters is there.
  private static func firstIndex(
    _ entries: UnsafeBufferPointer<CapEntry>, after ms: Int64
  ) -> Int {
    var first = entries.count
    while first > 0, entries[first - 1].atMs > ms { first -= 1 }
    return first
  }
}

/// What is counted of one notification of a user.
struct CapEntry {
  enum State: UInt8 {
    /// Counted; a provider's answer is awaited.
    case open
    /// Counted for good: a provider took it, or so many devices were involved that no more is kept
    /// track of.
    case accepted
    /// Rejected on every device: not counted.
    case refunded
    /// Approved for another device after its refund, and counted for good: one refund each.
    case recounted
  }

  /// Keyed hash of the notification's id.
  var id: UInt64
  /// Of the approval that counted.
  var atMs: Int64
  /// The devices it was approved for, where an answer is awaited; 0: none.
  var devices: UInt32
  var state: State

  var isCounted: Bool { state != .refunded }
}

/// Days of a wall clock.
enum LocalDay {
  /// Days since 1970-01-01 on the wall.
  @inline(__always)
  static func date(_ ms: Int64, zone: UInt16, in zones: ZoneTable) -> Int64 {
    let seconds = CivilDate.floorDivide(ms, by: 1_000)
    let offset = zones.offsetInterval(zone, atSeconds: seconds).offsetSeconds
    return CivilDate.floorDivide(seconds + Int64(offset), by: CivilDate.secondsPerDay)
  }

  /// The first instant after `ms` at which the wall shows another date: a midnight, or a change of
  /// the clock that leaps over one.
  static func nextMs(after ms: Int64, zone: UInt16, in zones: ZoneTable) -> Int64 {
    var seconds = CivilDate.floorDivide(ms, by: 1_000)
    let today = date(ms, zone: zone, in: zones)
    while true {
      let (offset, until) = zones.offsetInterval(zone, atSeconds: seconds)
      let midnight = (today + 1) * CivilDate.secondsPerDay - Int64(offset)
      if midnight < until { return midnight * 1_000 }
      seconds = until
      if date(seconds * 1_000, zone: zone, in: zones) != today { return seconds * 1_000 }
    }
  }
}
