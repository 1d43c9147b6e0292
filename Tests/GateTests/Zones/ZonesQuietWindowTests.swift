import Testing

@testable import Gate

@Suite struct ZonesQuietWindowTests {
  private let utc = SystemZones.zone("UTC")
  private var zones: ZoneTable { SystemZones.publisher.current }
  /// A Monday.
  private let monday = instant("2026-06-01T00:00:00Z") * 1000
  private let day: Int64 = 86_400_000

  @Test func theWholeDayEveryDayHasNoEndAndNoStart() {
    let w = window("00:00", "24:00")
    #expect(w.contains(monday, zone: utc, in: zones))
    #expect(w.endsAtMs(after: monday, zone: utc, in: zones) == nil)
    #expect(w.nextStartMs(after: monday, zone: utc, in: zones) == nil)
  }

  @Test func theWholeDayOfWeekdaysEndsOnSaturday() {
    let w = window("00:00", "24:00", days: 0b001_1111)
    #expect(w.endsAtMs(after: monday, zone: utc, in: zones) == monday + 5 * day)
    #expect(w.nextStartMs(after: monday, zone: utc, in: zones) == monday + 7 * day)
    #expect(!w.contains(monday - 1, zone: utc, in: zones))
    #expect(w.nextStartMs(after: monday - 1, zone: utc, in: zones) == monday)
  }

  @Test func anEndOf2400IsTheEndOfTheDay() {
    let w = window("22:00", "24:00")
    #expect(w.contains(monday + day - 1, zone: utc, in: zones))
    #expect(!w.contains(monday + day, zone: utc, in: zones))
    #expect(w.endsAtMs(after: monday + day - 1, zone: utc, in: zones) == monday + day)
  }

  @Test func noDaysAndNoLengthAreNoWindow() {
    for w in [window("22:00", "07:00", days: 0), window("08:00", "08:00")] {
      #expect(!w.contains(monday, zone: utc, in: zones))
      #expect(w.endsAtMs(after: monday, zone: utc, in: zones) == nil)
      #expect(w.nextStartMs(after: monday, zone: utc, in: zones) == nil)
    }
  }

  @Test func daysNameTheStart() {
    let hour: Int64 = 3_600_000
    let w = window("22:00", "07:00", days: 0b000_0001)
    #expect(!w.contains(monday + 6 * hour, zone: utc, in: zones), "Sunday's night")
    #expect(w.contains(monday + 23 * hour, zone: utc, in: zones))
    #expect(w.contains(monday + 30 * hour, zone: utc, in: zones), "Tuesday morning")
    #expect(!w.contains(monday + 47 * hour, zone: utc, in: zones), "Tuesday's night")
    let nextWeek = monday + 7 * day + 22 * hour
    #expect(w.nextStartMs(after: monday + 23 * hour, zone: utc, in: zones) == nextWeek)
  }

  /// The seventh day, the one that would have been loud, was skipped: twelve days in a row.
  @Test func eightDaysAreTheLongestEnd() {
    let apia = SystemZones.zone("Pacific/Apia")
    let w = window("00:00", "24:00", days: 0b110_1111)
    let end = instant("2012-01-05T10:00:00Z")
    let eightDays: Int64 = 8 * 86_400
    let atBound = (end - eightDays) * 1000
    #expect(w.contains(atBound - 1, zone: apia, in: zones))
    #expect(w.endsAtMs(after: atBound - 1, zone: apia, in: zones) == nil)
    #expect(w.endsAtMs(after: atBound, zone: apia, in: zones) == end * 1000)
  }

  /// A zone that skips seven Mondays in a row.
  @Test func thirtySixDaysAreTheFarthestStart() {
    let start = monday / 1000
    let skips = (1...7).reversed().map { start - Int64($0) * 6 * 86_400 }
    let (publisher, zone) = madeZone(
      ZoneHistory(
        transitions: skips, offsets: (0...7).reversed().map { -86_400 * Int32($0) },
        ruleFrom: .max, rule: nil))
    let w = window("00:00", "24:00", days: 1)
    let atBound = monday - 36 * day
    #expect(w.nextStartMs(after: atBound - 1, zone: zone, in: publisher.current) == nil)
    #expect(w.nextStartMs(after: atBound, zone: zone, in: publisher.current) == monday)
  }

  @Test func instantsWithoutAFullSecondAndBefore1970() {
    let w = window("22:00", "07:00")
    let start = instant("1969-12-30T22:00:00Z") * 1000
    #expect(!w.contains(start - 1, zone: utc, in: zones))
    #expect(w.contains(start, zone: utc, in: zones))
    #expect(w.nextStartMs(after: start - 1, zone: utc, in: zones) == start)
    let end = start + 9 * 3_600_000
    #expect(w.contains(end - 1, zone: utc, in: zones))
    #expect(w.endsAtMs(after: end - 1, zone: utc, in: zones) == end)
    #expect(!w.contains(end, zone: utc, in: zones))
  }

  /// Until 1972 Monrovia was 44 minutes and 30 seconds behind.
  @Test func anOffsetWithSeconds() {
    let zone = SystemZones.zone("Africa/Monrovia")
    let w = window("22:00", "07:00")
    let start = instant("1971-06-01T22:44:30Z") * 1000
    #expect(!w.contains(start - 1, zone: zone, in: zones))
    #expect(w.contains(start, zone: zone, in: zones))
    #expect(w.endsAtMs(after: start, zone: zone, in: zones) == start + 9 * 3_600_000)
  }

  @Test func theFarthestInstantsDoNotTrap() {
    let w = window("22:00", "07:00")
    for name in ["UTC", "Europe/Berlin", "Pacific/Apia"] {
      let zone = SystemZones.zone(name)
      for instant in [Int64.min, .min + 1, .max - 1, .max, 1 << 62, -(1 << 62)] {
        _ = w.contains(instant, zone: zone, in: zones)
        _ = w.endsAtMs(after: instant, zone: zone, in: zones)
        _ = w.nextStartMs(after: instant, zone: zone, in: zones)
      }
    }
  }

  @Test func timesAreFiveBytesExactly() {
    func start(_ text: String) -> UInt16? {
      Array(text.utf8).withUnsafeBytes { QuietWindow.startMinute($0) }
    }
    func end(_ text: String) -> UInt16? {
      Array(text.utf8).withUnsafeBytes { QuietWindow.endMinute($0) }
    }
    for minute in 0..<1440 {
      let two = { (n: Int) in n < 10 ? "0\(n)" : "\(n)" }
      let text = two(minute / 60) + ":" + two(minute % 60)
      #expect(start(text) == UInt16(minute))
      #expect(end(text) == UInt16(minute))
    }
    #expect(start("24:00") == nil)
    #expect(end("24:00") == 1440)
    for text in [
      "", "7:00", "07:0", "22:00:30", "２２:００", " 22:00", "22:00 ", "2200", "22.00", "25:99",
      "24:01",
      "23:60", "-1:00", "+1:00", "1a:00", "22:0\u{0}", "::::;", "/0:00", ":0:00", "99:00",
    ] {
      #expect(start(text) == nil, "\(text)")
      #expect(end(text) == nil, "\(text)")
    }
  }

  @Test func weekdaysAreThreeLowerCaseLetters() {
    let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    func weekday(_ text: String) -> UInt8? {
      Array(text.utf8).withUnsafeBytes { QuietWindow.weekday($0) }
    }
    for (day, name) in names.enumerated() { #expect(weekday(name) == UInt8(day)) }
    for text in ["", "mo", "Mon", "MON", "mond", "monday", "mox", "tun", "sut", "m\u{0}n"] {
      #expect(weekday(text) == nil, "\(text)")
    }
  }
}
