/// The rule of a zone for instants past its table: a standard offset and, where the zone changes
/// its clocks every year, a daylight offset with the two days of change (the TZ string that ends a
/// TZif file, RFC 9636 section 3.3). Plain bits: it lies inside a `ZoneTable`.
struct FooterRule: Equatable {
  /// One of the three ways in which POSIX names a day of the year.
  enum Day: Equatable {
    /// `Jn`: 1...365, 29 February never counted.
    case julian(Int16)
    /// `n`: 0...365, 29 February counted.
    case ordinal(Int16)
    /// `Mm.w.d`: weekday `d` (0 = Sunday) of week `w` (5 = the last one) of month `m`.
    case weekday(month: Int8, week: Int8, day: Int8)
  }

  struct Change: Equatable {
    var day: Day
    /// Local time of the change, in the offset that ends; may lie days away (-167 to 167 hours).
    var timeSeconds: Int32
  }

  /// Seconds east of UTC.
  var standardOffset: Int32
  var daylightOffset: Int32
  /// False: the standard offset for ever, and what follows is not looked at.
  var hasDaylight: Bool
  var toDaylight: Change
  var toStandard: Change

  init(standardOffset: Int32) {
    self.standardOffset = standardOffset
    daylightOffset = standardOffset
    hasDaylight = false
    toDaylight = Change(day: .ordinal(0), timeSeconds: 0)
    toStandard = toDaylight
  }

  init(standardOffset: Int32, daylightOffset: Int32, toDaylight: Change, toStandard: Change) {
    self.standardOffset = standardOffset
    self.daylightOffset = daylightOffset
    hasDaylight = true
    self.toDaylight = toDaylight
    self.toStandard = toStandard
  }

  /// The offset at an instant and the [from, until) for which it holds; `Int64.min` and
  /// `Int64.max` stand for always.
  func interval(at seconds: Int64) -> (offset: Int32, from: Int64, until: Int64) {
    guard hasDaylight else { return (standardOffset, .min, .max) }
    let year = CivilDate.year(
      ofDay: CivilDate.floorDivide(seconds, by: CivilDate.secondsPerDay))
    let changes = sortedChanges(aroundYear: year)
    // Changes beyond may be undone by those of years that were not looked at. A rule that has any
    // has the next one before.
    let last =
      (CivilDate.firstDay(ofYear: year + 2) + 14) * CivilDate.secondsPerDay

    var current = changes[0].daylight ? standardOffset : daylightOffset
    var from = Int64.min
    for i in 0..<changes.count {
      // Daylight time that ends on the instant at which it starts again (the POSIX way to write
      // daylight time all year) is no change: of several at one instant the last one counts.
      if i + 1 < changes.count, changes[i + 1].at == changes[i].at { continue }
      let next = changes[i].daylight ? daylightOffset : standardOffset
      if next == current { continue }
      if changes[i].at > seconds {
        return (current, from, changes[i].at <= last ? changes[i].at : .max)
      }
      current = next
      from = changes[i].at
    }
    return (current, from, .max)
  }

  private struct Dated {
    var at: Int64
    var daylight: Bool
  }

  /// The changes of five years in order. A time of day of 167 hours moves one by a week across the
  /// turn of the year, so the years next to the asked one are not enough on both sides.
  private func sortedChanges(aroundYear year: Int64) -> InlineArray<10, Dated> {
    var changes = InlineArray<10, Dated>(repeating: Dated(at: 0, daylight: false))
    var count = 0
    for y in (year - 2)...(year + 2) {
      // Of the same year and instant, to-standard comes last: daylight time of no length.
      insert(Dated(at: instant(toDaylight, year: y, offset: standardOffset), daylight: true))
      insert(Dated(at: instant(toStandard, year: y, offset: daylightOffset), daylight: false))
    }
    return changes

    func insert(_ change: Dated) {
      var i = count
      while i > 0, changes[i - 1].at > change.at {
        changes[i] = changes[i - 1]
        i -= 1
      }
      changes[i] = change
      count += 1
    }
  }

  private func instant(_ change: Change, year: Int64, offset: Int32) -> Int64 {
    let first = CivilDate.firstDay(ofYear: year)
    let leap = CivilDate.isLeap(year)
    let day: Int64
    switch change.day {
    case .julian(let n):
      day = first + Int64(n) - 1 + (leap && n >= 60 ? 1 : 0)
    case .ordinal(let n):
      day = first + Int64(n)
    case .weekday(let month, let week, let weekday):
      let monthFirst = first + CivilDate.daysBefore(month: Int(month), leap: leap)
      let sundayBased = (CivilDate.weekday(ofDay: monthFirst) + 1) % 7
      let ahead = (Int64(weekday) - sundayBased + 7) % 7
      let wanted = monthFirst + ahead + (Int64(week) - 1) * 7
      let monthLength = CivilDate.length(ofMonth: Int(month), leap: leap)
      day = wanted < monthFirst + monthLength ? wanted : wanted - 7
    }
    return day * CivilDate.secondsPerDay + Int64(change.timeSeconds) - Int64(offset)
  }
}
