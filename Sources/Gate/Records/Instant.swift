/// Instants are milliseconds since the epoch, UTC, no leap seconds. Read from ISO 8601 with an
/// offset or `Z` (the profile of RFC 3339, upper case) or from integer milliseconds; written as
/// `2026-03-09T22:30:00.000Z`.
public enum Instant {
  static let secondMs: Int64 = 1_000
  static let minuteMs: Int64 = 60_000
  static let hourMs: Int64 = 3_600_000
  static let dayMs: Int64 = 86_400_000

  /// 2000-01-01T00:00:00.000Z to 2200-12-31T23:59:59.999Z: outside, a number is seconds or
  /// microseconds read as milliseconds, or a clock that was never set.
  package static let readable: ClosedRange<Int64> = 946_684_800_000...7_289_654_399_999

  /// The proleptic Gregorian date's days since 1970-01-01.
  static func days(year: Int, month: Int, day: Int) -> Int {
    // Years run from March, so that the leap day is the last of its year.
    let y = month <= 2 ? year - 1 : year
    let era = (y >= 0 ? y : y - 399) / 400
    let yearOfEra = y - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  static func date(days: Int) -> (year: Int, month: Int, day: Int) {
    let z = days + 719_468
    let era = (z >= 0 ? z : z - 146_096) / 146_097
    let dayOfEra = z - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }

  /// Nil where the text is no instant, or lies outside `readable`. Fractions of a second beyond the
  /// millisecond are cut off.
  package static func parse(_ text: UnsafeRawBufferPointer) -> Int64? {
    guard text.count >= 20, text.count <= 35 else { return nil }
    var wrong: UInt8 = 0
    @inline(__always) func number(_ at: Int, _ count: Int) -> Int {
      var value = 0
      for i in at..<(at + count) {
        let digit = text[i] &- 0x30
        wrong |= digit < 10 ? 0 : 1
        value = value * 10 + Int(digit)
      }
      return value
    }
    let (year, month, day) = (number(0, 4), number(5, 2), number(8, 2))
    let (hour, minute, second) = (number(11, 2), number(14, 2), number(17, 2))
    guard wrong == 0, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
      text[10] == UInt8(ascii: "T"), text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"),
      1...12 ~= month, day >= 1,
      day <= CivilDate.length(ofMonth: month, leap: CivilDate.isLeap(Int64(year))), hour < 24,
      minute < 60, second < 60
    else { return nil }

    var i = 19
    var fractionMs = 0
    if text[i] == UInt8(ascii: ".") {
      i += 1
      let start = i
      while i < text.count, text[i] &- 0x30 < 10 {
        if i - start < 3 { fractionMs = fractionMs * 10 + Int(text[i] - 0x30) }
        i += 1
      }
      guard i > start, i - start <= 9 else { return nil }
      for _ in (i - start)..<max(3, i - start) { fractionMs *= 10 }
    }

    guard i < text.count else { return nil }
    var offsetMinutes = 0
    switch text[i] {
    case UInt8(ascii: "Z"):
      guard i + 1 == text.count else { return nil }
    case UInt8(ascii: "+"), UInt8(ascii: "-"):
      guard i + 6 == text.count, text[i + 3] == UInt8(ascii: ":") else { return nil }
      let (hours, minutes) = (number(i + 1, 2), number(i + 4, 2))
      guard wrong == 0, hours < 24, minutes < 60 else { return nil }
      offsetMinutes = (hours * 60 + minutes) * (text[i] == UInt8(ascii: "-") ? -1 : 1)
    default: return nil
    }

    let minutes = (days(year: year, month: month, day: day) * 24 + hour) * 60 + minute
    let ms = Int64((minutes - offsetMinutes) * 60 + second) * 1_000 + Int64(fractionMs)
    return readable.contains(ms) ? ms : nil
  }

  /// The instant that a person wrote, by the same rules; nil where it is none.
  public static func parse(text: String) -> Int64? {
    var text = text
    return text.withUTF8 { parse(Bytes($0)) }
  }

  /// As the gate writes it: UTC, with milliseconds.
  public static func text(_ ms: Int64) -> String {
    String(unsafeUninitializedCapacity: 24) {
      write(ms, to: $0.baseAddress!)
      return 24
    }
  }

  /// Writes 24 bytes. The year must have four digits.
  public static func write(_ ms: Int64, to out: UnsafeMutablePointer<UInt8>) {
    let dayCount = Int((ms >= 0 ? ms : ms - dayMs + 1) / dayMs)
    var rest = Int(ms - Int64(dayCount) * dayMs)
    let (year, month, day) = date(days: dayCount)
    @inline(__always) func put(_ value: Int, _ at: Int, _ count: Int) {
      var value = value
      for i in stride(from: at + count - 1, through: at, by: -1) {
        out[i] = 0x30 + UInt8(truncatingIfNeeded: value % 10)
        value /= 10
      }
    }
    put(year, 0, 4)
    put(month, 5, 2)
    put(day, 8, 2)
    put(rest / 3_600_000, 11, 2)
    rest %= 3_600_000
    put(rest / 60_000, 14, 2)
    rest %= 60_000
    put(rest / 1_000, 17, 2)
    put(rest % 1_000, 20, 3)
    out[4] = UInt8(ascii: "-")
    out[7] = UInt8(ascii: "-")
    out[10] = UInt8(ascii: "T")
    out[13] = UInt8(ascii: ":")
    out[16] = UInt8(ascii: ":")
    out[19] = UInt8(ascii: ".")
    out[23] = UInt8(ascii: "Z")
  }
}
