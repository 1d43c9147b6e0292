import Testing

@testable import Gate

/// When a cap is used up, and when it frees up, against what its words say, tried out.
@Suite struct CapWindowTests {
  static let utc = SystemZones.zone("UTC")

  static func freesAt(_ cap: Cap, _ entries: [CapEntry], _ nowMs: Int64, _ zone: UInt16 = utc)
    -> Int64?
  {
    entries.withUnsafeBufferPointer {
      cap.freesAtMs($0, nowMs: nowMs, zone: zone, in: SystemZones.publisher.current)
    }
  }

  /// Whether with one more at t some span as long as the window would hold more than the cap allows:
  /// every span is tried.
  static func isTooMany(_ instants: [Int64], _ t: Int64, _ count: Int, _ windowMs: Int64) -> Bool {
    (t - windowMs + 1...t).contains { start in
      instants.filter { start <= $0 && $0 < start + windowMs }.count >= count
    }
  }

  /// Every set of instants in a short time, every now among and around them (also before some:
  /// clocks are set back), every small window and count.
  @Test func slidingExhaustively() {
    for set in 0..<(1 << 8) {
      let instants = (0..<8).filter { set >> $0 & 1 != 0 }.map { Int64($0) }
      let entries = CapSupport.entries(instants)
      for windowMs in Int64(1)...5 {
        for count in 1...4 {
          let cap = CapSupport.cap(count, windowMs: windowMs)
          for now in Int64(0)...9 {
            var free = now
            while Self.isTooMany(instants, free, count, windowMs) { free += 1 }
            let found = Self.freesAt(cap, entries, now)
            if found != (free == now ? nil : free) {
              Issue.record(
                "\(instants) \(count) in \(windowMs) at \(now): \(String(describing: found)), not \(free)"
              )
            }
          }
        }
      }
    }
  }

  /// What was refunded is not there: the answer is as without it.
  @Test func whatIsRefundedDoesNotCount() {
    for set in 0..<(1 << 7) {
      for refunded in 0..<(1 << 7) where refunded & set == refunded {
        var entries: [CapEntry] = []
        var counted: [CapEntry] = []
        for at in 0..<7 where set >> at & 1 != 0 {
          let state: CapEntry.State = refunded >> at & 1 != 0 ? .refunded : .open
          entries.append(CapEntry(id: UInt64(at), atMs: Int64(at), devices: 0, state: state))
          if state == .open { counted.append(entries.last!) }
        }
        for count in 1...3 {
          for cap in [CapSupport.cap(count, windowMs: 4), CapSupport.cap(count, windowMs: nil)] {
            let found = Self.freesAt(cap, entries, 7)
            if found != Self.freesAt(cap, counted, 7) {
              Issue.record("\(set) \(refunded) \(count): \(String(describing: found))")
            }
          }
        }
      }
    }
  }

  // MARK: Days

  struct Day: CustomTestStringConvertible {
    var zone: String
    var from: String
    var hours: Int64
    /// The dates that the wall shows, one after the other, and since when.
    var dates: [(day: Int64, since: String)]
    var testDescription: String { "\(zone) \(from)" }
  }

  private static func day(_ text: String) -> Int64 { instant(text + "T00:00:00Z") / 86_400 }

  static let days = [
    Day(
      zone: "America/Los_Angeles", from: "2026-05-05T12:00:00Z", hours: 36,
      dates: [
        (day("2026-05-05"), "2026-05-05T12:00:00Z"), (day("2026-05-06"), "2026-05-06T07:00:00Z"),
      ]),
    // 23 hours, then 25.
    Day(
      zone: "America/Los_Angeles", from: "2026-03-08T09:00:00Z", hours: 36,
      dates: [
        (day("2026-03-08"), "2026-03-08T09:00:00Z"), (day("2026-03-09"), "2026-03-09T07:00:00Z"),
      ]),
    Day(
      zone: "America/Los_Angeles", from: "2026-11-01T08:00:00Z", hours: 36,
      dates: [
        (day("2026-11-01"), "2026-11-01T08:00:00Z"), (day("2026-11-02"), "2026-11-02T08:00:00Z"),
      ]),
    // A day that never was.
    Day(
      zone: "Pacific/Apia", from: "2011-12-29T20:00:00Z", hours: 40,
      dates: [
        (day("2011-12-29"), "2011-12-29T20:00:00Z"), (day("2011-12-31"), "2011-12-30T10:00:00Z"),
        (day("2012-01-01"), "2011-12-31T10:00:00Z"),
      ]),
    // A minute of tomorrow, then today again: the clock goes back at 00:01.
    Day(
      zone: "America/St_Johns", from: "2010-11-06T12:00:00Z", hours: 24,
      dates: [
        (day("2010-11-06"), "2010-11-06T12:00:00Z"), (day("2010-11-07"), "2010-11-07T02:30:00Z"),
        (day("2010-11-06"), "2010-11-07T02:31:00Z"), (day("2010-11-07"), "2010-11-07T03:30:00Z"),
      ]),
    // No midnight: the clock leaps over it.
    Day(
      zone: "America/Havana", from: "2026-03-07T20:00:00Z", hours: 24,
      dates: [
        (day("2026-03-07"), "2026-03-07T20:00:00Z"), (day("2026-03-08"), "2026-03-08T05:00:00Z"),
      ]),
  ]

  @Test(arguments: days) func datesOnTheWall(_ wanted: Day) {
    let zone = SystemZones.zone(wanted.zone)
    let table = SystemZones.publisher.current
    let fromMs = instant(wanted.from) * 1000
    var dates: [(day: Int64, sinceMs: Int64)] = []
    for minute in 0..<(wanted.hours * 60) {
      let ms = fromMs + minute * 60_000
      let date = LocalDay.date(ms, zone: zone, in: table)
      if dates.last?.day != date { dates.append((date, ms)) }
      // The next change is where the minutes find it.
      if dates.count < wanted.dates.count {
        let next = wanted.dates[dates.count].since
        #expect(LocalDay.nextMs(after: ms, zone: zone, in: table) == instant(next) * 1000)
      }
    }
    #expect(dates.map(\.day) == wanted.dates.map(\.day))
    #expect(dates.map(\.sinceMs) == wanted.dates.map { instant($0.since) * 1000 })
  }

  /// One a day, asked every minute: as many as there are dates, however often one comes back.
  @Test(arguments: days) func noDateIsResetTwice(_ wanted: Day) {
    let zone = SystemZones.zone(wanted.zone)
    let cap = CapSupport.cap(1, windowMs: nil)
    let fromMs = instant(wanted.from) * 1000
    var approved: [Int64] = []
    for minute in 0..<(wanted.hours * 60) {
      let ms = fromMs + minute * 60_000
      if Self.freesAt(cap, CapSupport.entries(approved), ms, zone) == nil { approved.append(ms) }
    }
    #expect(approved.count == Set(wanted.dates.map(\.day)).count, "\(approved)")
  }

  /// It frees up at the first instant of a date with room, and not a millisecond earlier.
  @Test(arguments: days) func daysFreeUpWhenTheySay(_ wanted: Day) {
    let zone = SystemZones.zone(wanted.zone)
    let cap = CapSupport.cap(2, windowMs: nil)
    let fromMs = instant(wanted.from) * 1000
    let used = CapSupport.entries([fromMs, fromMs + 60_000])
    for minute in stride(from: 2, to: wanted.hours * 60, by: 7) {
      let ms = fromMs + minute * 60_000
      guard let freeMs = Self.freesAt(cap, used, ms, zone) else { continue }
      #expect(Self.freesAt(cap, used, freeMs, zone) == nil)
      #expect(Self.freesAt(cap, used, freeMs - 1, zone) == freeMs)
    }
  }

  /// Dates and midnights of every zone around its changes of the last years, against a walk in
  /// minutes over the offsets.
  @Test func everyZoneByTheMinute() {
    var random = SeededGenerator()
    let table = SystemZones.publisher.current
    for _ in 0..<400 {
      let name = SystemZones.names.randomElement(using: &random)!
      let zone = SystemZones.zone(name)
      let start = Int64.random(in: 946_684_800..<1_893_456_000, using: &random)
      let change = table.offsetInterval(zone, atSeconds: start).untilSeconds
      let around = change == .max ? start : change
      let ms = (around - Int64.random(in: 0...100_000, using: &random)) * 1000
      func date(_ ms: Int64) -> Int64 {
        let seconds = ms / 1000
        return (seconds + Int64(table.offsetInterval(zone, atSeconds: seconds).offsetSeconds))
          / 86_400
      }
      guard ms > 100_000_000_000 else { continue }
      let found = LocalDay.nextMs(after: ms, zone: zone, in: table)
      #expect(date(found) != date(ms), "\(name) \(ms) seed \(random.seed)")
      let isFirst = stride(from: ms, to: found, by: 60_000).allSatisfy { date($0) == date(ms) }
      #expect(isFirst && date(found - 1000) == date(ms), "\(name) \(ms) seed \(random.seed)")
    }
  }
}
