import Testing

@testable import Gate

@Suite struct ZonesFooterTests {
  private func rule(_ text: String) throws(TZifError) -> FooterRule {
    try TZif.parse(MadeTZif(footer: text).bytes).rule!
  }

  @Test func textsAndWhatTheyMean() throws {
    #expect(try rule("<+0545>-5:45") == FooterRule(standardOffset: 20_700))
    #expect(try rule("ABC1:02:03") == FooterRule(standardOffset: -3723))
    #expect(
      try rule("EST5EDT,M3.2.0,M11.1.0")
        == FooterRule(
          standardOffset: -18_000, daylightOffset: -14_400,
          toDaylight: .init(day: .weekday(month: 3, week: 2, day: 0), timeSeconds: 7200),
          toStandard: .init(day: .weekday(month: 11, week: 1, day: 0), timeSeconds: 7200)))
    #expect(
      try rule("<-02>2<-01>,J60/-1:30,365/167:59:59")
        == FooterRule(
          standardOffset: -7200, daylightOffset: -3600,
          toDaylight: .init(day: .julian(60), timeSeconds: -5400),
          toStandard: .init(day: .ordinal(365), timeSeconds: 604_799)))
  }

  @Test(arguments: [
    "UT0", "UTC", "1", "<+03-3", "<+3>-3", "UTC25", "UTC0:60", "UTC0:0:60", "UTC-", "UTC0x",
    "EST5EDT", "EST5EDT,", "EST5EDT,M3.2.0", "EST5EDT,M3.2.0,", "EST5EDT,M3.2.0,M11.1.0,",
    "EST5EDT,M0.2.0,M11.1.0", "EST5EDT,M13.2.0,M11.1.0", "EST5EDT,M3.0.0,M11.1.0",
    "EST5EDT,M3.6.0,M11.1.0", "EST5EDT,M3.2.7,M11.1.0", "EST5EDT,M3.2,M11.1.0",
    "EST5EDT,J0,J60", "EST5EDT,J366,J60", "EST5EDT,366,1", "EST5EDT,M3.2.0/168,M11.1.0",
    "EST5EDT,M3.2.0/-168,M11.1.0", "EST5EDT,M3.2.0/2:60,M11.1.0", "EST5EDT,M3.2.0/,M11.1.0",
    "EST99999999999", "UTC0\u{0}",
  ])
  func textsThatAreNone(_ text: String) {
    #expect(throws: TZifError.self) { try rule(text) }
  }

  /// Both ways of writing it that RFC 9636 gives.
  @Test func daylightTimeAllYear() throws {
    for text in ["EST5EDT,0/0,J365/25", "XXX3EDT4,0/0,J365/23"] {
      let rule = try rule(text)
      let wrong = (0..<40_000).filter { day in
        let found = rule.interval(at: Int64(day) * 86_400 + 18_000)
        return found.offset != -14_400 || found.until != .max
      }
      #expect(wrong.isEmpty, "\(text), days \(wrong.prefix(5))")
    }
  }

  @Test func aChangeAWeekAwayCrossesTheYear() throws {
    // Daylight time from 31 December 00:00 plus 167 hours, which is 6 January 23:00, to 1 July.
    let rule = try rule("AAA0BBB,J365/167,J182/0")
    let start = instant("2027-01-06T23:00:00Z")
    let end = instant("2027-06-30T23:00:00Z")
    #expect(rule.interval(at: start - 1).offset == 0)
    #expect(rule.interval(at: start - 1).until == start)
    #expect(rule.interval(at: start).offset == 3600)
    #expect(rule.interval(at: start).from == start)
    #expect(rule.interval(at: start).until == end)
    // Both changes in January: the one before was in the January before.
    let january = try self.rule("AAA0BBB,J364/167,J365/167").interval(
      at: instant("2027-01-02T00:00:00Z"))
    #expect(january.offset == 0)
    #expect(january.from == instant("2026-01-06T22:00:00Z"))
    #expect(january.until == instant("2027-01-05T23:00:00Z"))
    // And back over it: 1 January 00:00 less 167 hours is 25 December 01:00.
    let back = try self.rule("AAA0BBB,J1/-167,J182/0")
    #expect(back.interval(at: instant("2026-12-25T01:00:00Z")).offset == 3600)
    #expect(back.interval(at: instant("2026-12-25T00:59:59Z")).offset == 0)
  }

  @Test func leapDays() throws {
    let julian = try rule("AAA0BBB,J60/0,J300/0")
    let ordinal = try rule("AAA0BBB,59/0,300/0")
    // J60 is 1 March always; day 59 is 1 March, and 29 February in a leap year.
    for (year, leap) in [(2027, false), (2028, true), (2100, false), (2000, true)] {
      let march = instant("\(year)-03-01T00:00:00Z")
      #expect(julian.interval(at: march).from == march)
      #expect(ordinal.interval(at: march).from == (leap ? march - 86_400 : march))
    }
  }

  /// A slim file ends where its rule begins. For each zone with a rule, the table cut off at 2028
  /// must answer as the whole one, through its end and beyond.
  @Test func slimAndFatTablesAgree() throws {
    let cut = instant("2028-01-01T00:00:00Z")
    let fatEnd = instant("2038-01-01T00:00:00Z")
    let end = instant("2060-01-01T00:00:00Z")
    var withRule = 0
    for fat in SystemZones.database.histories {
      // Gaza's table goes on to 2086, with summers that Ramadan interrupts and no rule gives.
      guard let rule = fat.rule, rule.hasDaylight, let last = fat.transitions.last, last > cut,
        last < fatEnd
      else { continue }
      withRule += 1
      let kept = fat.transitions.prefix { $0 < cut }.count
      let slim = ZoneHistory(
        transitions: Array(fat.transitions.prefix(kept)),
        offsets: Array(fat.offsets.prefix(kept + 1)), ruleFrom: fat.transitions[kept - 1],
        rule: rule)
      let (fatTable, zone) = madeZone(fat)
      let (slimTable, _) = madeZone(slim)
      var at = cut
      while at < end {
        let a = fatTable.current.offsetInterval(zone, atSeconds: at)
        let b = slimTable.current.offsetInterval(zone, atSeconds: at)
        #expect(a == b, "at \(at)")
        at = a.untilSeconds
      }
    }
    #expect(withRule > 50)
  }
}
