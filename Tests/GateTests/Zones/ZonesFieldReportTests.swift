import Testing

@testable import Gate

/// What went wrong elsewhere, by the number of the report.
@Suite struct ZonesFieldReportTests {
  /// Nil: outside. The end is of the same instant, as text.
  private func quiet(_ window: QuietWindow, _ zone: String, _ now: String) -> Int64? {
    let zones = SystemZones.publisher.current
    let number = SystemZones.zone(zone)
    let nowMs = instant(now) * 1000
    let ends = window.endsAtMs(after: nowMs, zone: number, in: zones)
    #expect(window.contains(nowMs, zone: number, in: zones) == (ends != nil))
    if let ends { #expect(ends > nowMs) }
    return ends.map { $0 / 1000 }
  }

  @Test func c001_stillQuietAfterMidnight() {
    let w = window("21:00", "07:00")
    #expect(quiet(w, "Europe/Amsterdam", "2026-01-14T23:00:00Z") == instant("2026-01-15T06:00:00Z"))
    #expect(quiet(w, "Europe/Amsterdam", "2026-01-15T06:00:00Z") == nil)
  }

  @Test func c002_aStartAtMidnightDoesNotMakeEveryHourQuiet() {
    let w = window("00:00", "08:00")
    #expect(quiet(w, "America/Chicago", "2026-02-10T03:00:00Z") == nil)
    #expect(quiet(w, "America/Chicago", "2026-02-10T06:00:00Z") == instant("2026-02-10T14:00:00Z"))
    #expect(quiet(window("00:00", "00:00"), "America/Chicago", "2026-02-10T06:00:00Z") == nil)
  }

  @Test func c003_bothHalvesAroundMidnightMatch() {
    let w = window("19:00", "07:00")
    let end = instant("2026-06-02T14:00:00Z")
    #expect(quiet(w, "America/Los_Angeles", "2026-06-02T05:00:00Z") == end)
    #expect(quiet(w, "America/Los_Angeles", "2026-06-02T09:00:00Z") == end)
  }

  @Test func c010_oneQuietStretchADayInEveryZone() {
    let zones = SystemZones.publisher.current
    let w = window("22:00", "07:00")
    // 15 January and 15 July 2026, local: no zone changes its clocks on either.
    for day in [instant("2026-01-15T00:00:00Z"), instant("2026-07-15T00:00:00Z")] {
      for name in SystemZones.names {
        let zone = SystemZones.zone(name)
        let (offset, until) = zones.offsetInterval(zone, atSeconds: day)
        let midnight = day - Int64(offset)
        #expect(until > midnight + 86_400, "\(name) changes on the day")
        var wrong = 0
        for minute in 0..<1440 {
          let at = (midnight + Int64(minute) * 60) * 1000
          if w.contains(at, zone: zone, in: zones) != (minute < 420 || minute >= 1320) {
            wrong += 1
          }
        }
        #expect(wrong == 0, "\(name): \(wrong) minutes")
      }
    }
  }

  @Test func c016_theEndIsAWallClockTimeNotALength() {
    let w = window("22:00", "07:00")
    #expect(quiet(w, "Europe/Berlin", "2026-03-28T23:30:00Z") == instant("2026-03-29T05:00:00Z"))
    #expect(quiet(w, "Europe/Berlin", "2026-10-24T21:00:00Z") == instant("2026-10-25T06:00:00Z"))
  }

  @Test func c018_aGapAcrossTheDate() {
    let w = window("22:00", "23:30")
    #expect(quiet(w, "America/Nuuk", "2024-03-31T00:30:00Z") == instant("2024-03-31T01:00:00Z"))
  }

  @Test func c020_anEndInTheRepeatedHourIsQuietTwice() {
    let w = window("22:00", "02:30")
    #expect(quiet(w, "Europe/Berlin", "2026-10-25T00:10:00Z") == instant("2026-10-25T00:30:00Z"))
    #expect(quiet(w, "Europe/Berlin", "2026-10-25T00:45:00Z") == nil)
    #expect(quiet(w, "Europe/Berlin", "2026-10-25T01:10:00Z") == instant("2026-10-25T01:30:00Z"))
  }

  @Test func c021_theTransitionOpensAWindowThatStartsInTheRepeatedHour() {
    let w = window("02:30", "06:00")
    #expect(quiet(w, "Europe/Berlin", "2026-10-25T00:30:00Z") == instant("2026-10-25T01:00:00Z"))
    #expect(quiet(w, "Europe/Berlin", "2026-10-25T01:00:00Z") == nil)
    #expect(quiet(w, "Europe/Berlin", "2026-10-25T01:29:00Z") == nil)
    #expect(quiet(w, "Europe/Berlin", "2026-10-25T01:30:00Z") == instant("2026-10-25T05:00:00Z"))
  }

  @Test func c024_aGapOfThirtyMinutes() {
    let zone = "Australia/Lord_Howe"
    let end = instant("2026-10-03T15:30:00Z")
    #expect(quiet(window("22:00", "02:15"), zone, "2026-10-03T15:29:59Z") == end)
    let summer = instant("2026-01-15T20:00:00Z")
    #expect(quiet(window("22:00", "07:00"), zone, "2026-01-15T19:59:59Z") == summer)
  }

  @Test func c025_anOverlapOfThirtyMinutes() {
    let w = window("22:00", "01:45")
    let zone = "Australia/Lord_Howe"
    #expect(quiet(w, zone, "2026-04-04T14:40:00Z") == instant("2026-04-04T14:45:00Z"))
    #expect(quiet(w, zone, "2026-04-04T14:45:00Z") == nil)
    #expect(quiet(w, zone, "2026-04-04T14:59:59Z") == nil)
    #expect(quiet(w, zone, "2026-04-04T15:00:00Z") == instant("2026-04-04T15:15:00Z"))
  }

  @Test func c027_judgedInTheZoneNotInUTC() {
    let w = window("22:00", "07:00")
    #expect(quiet(w, "Africa/Nairobi", "2026-08-20T19:00:00Z") == instant("2026-08-21T04:00:00Z"))
    #expect(quiet(w, "Africa/Nairobi", "2026-08-21T04:00:00Z") == nil)
  }

  @Test func c033_aLawChangedAtShortNotice() {
    let w = window("22:00", "06:00")
    #expect(quiet(w, "Asia/Amman", "2023-01-15T02:59:00Z") == instant("2023-01-15T03:00:00Z"))
  }

  @Test func c034_aChangeThatIsNotDaylightTime() {
    let w = window("22:00", "07:00")
    #expect(quiet(w, "Asia/Almaty", "2024-02-29T17:30:00Z") == instant("2024-03-01T02:00:00Z"))
  }

  @Test func c039_aDayThatNeverHappened() {
    let w = window("22:00", "07:00")
    #expect(quiet(w, "Pacific/Apia", "2011-12-30T08:30:00Z") == instant("2011-12-30T17:00:00Z"))
  }

  @Test func c040_britishColumbiaNoLongerFallsBack() throws {
    try SystemZones.requireVersion("2026f", "these answers")
    let w = window("22:00", "07:00")
    let end = instant("2026-11-30T14:00:00Z")
    #expect(quiet(w, "America/Vancouver", "2026-11-30T05:30:00Z") == end)
    #expect(quiet(w, "America/Vancouver", "2026-11-30T14:30:00Z") == nil)
  }

  @Test func c043_summerTimeGoesOnAfter2037() {
    let w = window("22:00", "07:00")
    #expect(quiet(w, "Europe/London", "2040-07-01T05:59:00Z") == instant("2040-07-01T06:00:00Z"))
    #expect(quiet(w, "Europe/Warsaw", "2038-06-01T04:59:00Z") == instant("2038-06-01T05:00:00Z"))
  }

  @Test func c047_estIsNotEST5EDT() {
    let w = window("22:00", "07:00")
    #expect(quiet(w, "EST", "2026-07-10T11:30:00Z") == instant("2026-07-10T12:00:00Z"))
    #expect(quiet(w, "EST5EDT", "2026-07-10T11:30:00Z") == nil)
    unknown(["EDT", "CEST", "AEST", "CST"])
  }

  @Test func c048_windowsNamesAreNoZones() {
    unknown(["China Standard Time", "W. Europe Standard Time", "\u{FFFD}\u{FFFD}"])
  }

  @Test func c049_anUnknownNameIsUnknownAndNotUTC() {
    unknown(["America/Los Angeles", "Pacific/Vancouver", "Asia/Beijing", "Berlin"])
  }

  @Test func c050_namesMatchExactly() {
    unknown(["america/new_york", "utc", "EUROPE/BERLIN"])
  }

  @Test func c051_offsetsAreNoZones() {
    unknown(["UTC+8", "UTC+08:00", "+08:00", "GMT+8", "UTC+-4", "Z"])
    for name in ["GMT+0", "GMT-0", "GMT0", "Etc/GMT", "UTC", "Etc/UTC"] {
      #expect(SystemZones.publisher.isKnown(name), "\(name)")
    }
  }

  @Test func c052_aNameIsNeverAPath() {
    unknown([
      "localtime", "posixrules", "right/Europe/Paris", "posix/UTC", "Factory", "America",
      "../etc/passwd", "/etc/localtime", "../../etc/passwd", "UTC\u{0}", "tzdata.zi",
    ])
  }

  private func unknown(_ names: [String]) {
    for name in names { #expect(!SystemZones.publisher.isKnown(name), "\(name)") }
  }
}
