import Glibc

/// The clocks of this machine. Read at the edges only; what decides is given its instant.
public enum SystemTime {
  /// Milliseconds since the epoch, UTC.
  public static func wallClockMs() -> Int64 { read(CLOCK_REALTIME) / 1_000_000 }

  /// Nanoseconds since some point before the process started; never goes back.
  public static func monotonicNs() -> Int64 { read(CLOCK_MONOTONIC) }

  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    let result = clock_gettime(clock, &time)
    precondition(result == 0, "clock_gettime: errno \(errno)")
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

/// Instants as text: RFC 3339, UTC, milliseconds.
public enum RFC3339 {
  /// `2026-03-09T22:30:00.000Z` for milliseconds since the epoch, in the years 0 to 9999.
  public static func text(ms: Int64) -> String {
    var text = TextBuffer()
    text.appendDate(ms: ms)
    text.append(UInt8(ascii: "T"))
    text.appendTime(ms: ms)
    text.append(UInt8(ascii: "Z"))
    return String(decoding: text.bytes, as: UTF8.self)
  }
}

extension TextBuffer {
  static let dayMs: Int64 = 86_400_000

  /// `2026-03-09`. Days are counted in years that begin in March, so that the leap day is the last.
  mutating func appendDate(ms: Int64) {
    let day = Int(floorDivide(ms, Self.dayMs)) + 719_468
    let era = Int(floorDivide(Int64(day), 146_097))
    let dayOfEra = day - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    append(yearOfEra + era * 400 + (month <= 2 ? 1 : 0), width: 4)
    append(UInt8(ascii: "-"))
    append(month, width: 2)
    append(UInt8(ascii: "-"))
    append(dayOfYear - (153 * marchMonth + 2) / 5 + 1, width: 2)
  }

  /// `22:30:00.000`.
  mutating func appendTime(ms: Int64) {
    let ofDay = Int(ms - floorDivide(ms, Self.dayMs) * Self.dayMs)
    append(ofDay / 3_600_000, width: 2)
    append(UInt8(ascii: ":"))
    append(ofDay / 60_000 % 60, width: 2)
    append(UInt8(ascii: ":"))
    append(ofDay / 1000 % 60, width: 2)
    append(UInt8(ascii: "."))
    append(ofDay % 1000, width: 3)
  }

  private func floorDivide(_ a: Int64, _ b: Int64) -> Int64 {
    a >= 0 ? a / b : -((-a + b - 1) / b)
  }
}
