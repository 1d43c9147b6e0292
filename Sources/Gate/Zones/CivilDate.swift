/// Days and years of the proleptic Gregorian calendar, counted from 1970-01-01.
enum CivilDate {
  static let secondsPerDay: Int64 = 86_400

  /// Quotient rounded down: the day of an instant before 1970 is the day it falls in, not the next.
  @inline(__always)
  static func floorDivide(_ value: Int64, by divisor: Int64) -> Int64 {
    let quotient = value / divisor
    return value % divisor < 0 ? quotient - 1 : quotient
  }

  static func isLeap(_ year: Int64) -> Bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  }

  /// The day number of 1 January.
  static func firstDay(ofYear year: Int64) -> Int64 {
    let before = year - 1
    let leapDays =
      floorDivide(before, by: 4) - floorDivide(before, by: 100) + floorDivide(before, by: 400)
    // 0001-01-01 is 719,162 days before 1970-01-01.
    return 365 * before + leapDays - 719_162
  }

  static func year(ofDay day: Int64) -> Int64 {
    // 400 years have 146,097 days; the estimate is off by one at most.
    var year = floorDivide((day + 719_162) * 400, by: 146_097) + 1
    while firstDay(ofYear: year) > day { year -= 1 }
    while firstDay(ofYear: year + 1) <= day { year += 1 }
    return year
  }

  /// Days of the year before the month (1...12).
  static func daysBefore(month: Int, leap: Bool) -> Int64 {
    var days: Int64 = 0
    for earlier in 1..<max(month, 1) { days += length(ofMonth: earlier, leap: leap) }
    return days
  }

  static func length(ofMonth month: Int, leap: Bool) -> Int64 {
    switch month {
    case 2: leap ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// 0 = Monday. Day 0 was a Thursday.
  @inline(__always)
  static func weekday(ofDay day: Int64) -> Int64 {
    let shifted = (day + 3) % 7
    return shifted < 0 ? shifted + 7 : shifted
  }
}
