import Testing

@testable import Gate

@Suite struct ZonesTableTests {
  private let berlin = SystemZones.zone("Europe/Berlin")

  @Test func theTableSaysWhatItHolds() {
    let zones = SystemZones.publisher.current
    #expect(String(decoding: zones.version, as: UTF8.self) == SystemZones.version)
    #expect(zones.knownCount == SystemZones.names.count)
    for name in SystemZones.names {
      #expect(String(decoding: zones.name(SystemZones.zone(name)), as: UTF8.self) == name)
    }
    #expect(!zones.isKnown(0))
    #expect(zones.name(0).isEmpty)
    #expect(!zones.isKnown(4095))
    #expect(zones.name(.max).isEmpty)
    #expect(zones.offsetInterval(0, atSeconds: 5) == (0, .max))
    #expect(zones.offsetInterval(.max, atSeconds: .max) == (0, .max))
  }

  @Test func anEntryIsACacheLine() {
    #expect(MemoryLayout<ZoneTable.Entry>.stride == 64)
    #expect(MemoryLayout<ZoneTable>.size == MemoryLayout<Int>.size)
  }

  /// Each interval ends where the offset changes, and not before.
  @Test func intervalsTileTime() {
    let zones = SystemZones.publisher.current
    let end = instant("2150-01-01T00:00:00Z")
    for name in SystemZones.names {
      let zone = SystemZones.zone(name)
      var at = Int64.min
      var wrong: [Int64] = []
      while at < end {
        let (offset, until) = zones.offsetInterval(zone, atSeconds: at)
        guard until < .max else { break }
        if until <= at || zones.offsetInterval(zone, atSeconds: until - 1).offsetSeconds != offset
          || zones.offsetInterval(zone, atSeconds: until).offsetSeconds == offset
        {
          wrong.append(at)
          if wrong.count > 10 { break }
        }
        at = until
      }
      #expect(wrong.isEmpty, "\(name)")
    }
  }

  /// The cache is a matter of speed only.
  @Test(arguments: [
    "1900-01-01T00:00:00Z", "1985-08-01T00:00:00Z", "2037-12-01T00:00:00Z", "2090-07-01T00:00:00Z",
  ])
  func everyInstantOfTheCacheGivesTheSameAnswers(_ now: String) {
    let cached = ZonePublisher(epochs: Epochs())
    cached.publish(SystemZones.database, nowSeconds: instant(now))
    let a = cached.current
    let b = SystemZones.publisher.current
    let instants = stride(
      from: instant("1850-01-01T00:00:00Z"), to: instant("2140-01-01T00:00:00Z"), by: 123_456_789)
    for name in SystemZones.names {
      let zoneA = cached.intern(name)
      let zoneB = SystemZones.zone(name)
      let wrong = instants.filter {
        a.offsetInterval(zoneA, atSeconds: $0) != b.offsetInterval(zoneB, atSeconds: $0)
      }
      #expect(wrong.isEmpty, "\(name)")
    }
  }

  @Test func noOpTransitionsBeforeTheRuleDoNotEndAnInterval() {
    let rule = FooterRule(standardOffset: 3600)
    let (same, zone) = madeZone(
      ZoneHistory(transitions: [100], offsets: [0, 3600], ruleFrom: 200, rule: rule), nowSeconds: 0)
    #expect(same.current.offsetInterval(zone, atSeconds: 150) == (3600, .max))
    let (other, _) = madeZone(
      ZoneHistory(transitions: [100], offsets: [0, 7200], ruleFrom: 200, rule: rule), nowSeconds: 0)
    #expect(other.current.offsetInterval(zone, atSeconds: 150) == (7200, 200))
    #expect(other.current.offsetInterval(zone, atSeconds: 200) == (3600, .max))
  }

  @Test func aLinkIsTheSameZone() {
    let zones = SystemZones.publisher.current
    let now = instant("2026-07-10T11:00:00Z")
    for (link, target) in [("US/Eastern", "America/New_York"), ("Asia/Saigon", "Asia/Ho_Chi_Minh")]
    {
      #expect(
        zones.offsetInterval(SystemZones.zone(link), atSeconds: now)
          == zones.offsetInterval(SystemZones.zone(target), atSeconds: now))
    }
  }
}
