import Glibc
import Synchronization
import Testing

@testable import Gate

@Suite struct ZonesPublisherTests {
  private func database(_ version: String, _ zones: [(String, Int32)]) -> ZoneDatabase {
    var database = ZoneDatabase(version: version)
    for (name, offset) in zones {
      let history = database.add(
        ZoneHistory(transitions: [], offsets: [offset], ruleFrom: .min, rule: nil))
      database.add(name: name, history: history)
    }
    return database
  }

  private func offset(_ publisher: ZonePublisher, _ zone: UInt16) -> Int32 {
    publisher.current.offsetInterval(zone, atSeconds: 0).offsetSeconds
  }

  @Test func withoutADatabaseNothingIsKnown() {
    let publisher = ZonePublisher(epochs: Epochs())
    #expect(String(decoding: publisher.current.version, as: UTF8.self) == "unknown")
    #expect(publisher.current.knownCount == 0)
    #expect(!publisher.isKnown("UTC"))
    #expect(publisher.intern("UTC") != 0)
  }

  @Test func numbersStayAcrossReloads() {
    let publisher = ZonePublisher(epochs: Epochs())
    let early = publisher.intern("Z/Later")
    publisher.publish(database("1", [("A/A", 1), ("B/B", 2)]), nowSeconds: 0)
    let a = publisher.intern("A/A")
    let b = publisher.intern("B/B")
    #expect(Set([0, early, a, b]).count == 4)
    #expect(!publisher.current.isKnown(early))

    publisher.publish(database("2", [("Z/Later", 26), ("C/C", 3), ("A/A", 11)]), nowSeconds: 0)
    #expect(publisher.intern("A/A") == a)
    #expect(publisher.intern("B/B") == b)
    #expect(publisher.intern("Z/Later") == early)
    #expect(offset(publisher, a) == 11)
    #expect(offset(publisher, early) == 26)
    #expect(!publisher.current.isKnown(b), "gone from the database")
    #expect(String(decoding: publisher.current.name(b), as: UTF8.self) == "B/B")
    #expect(String(decoding: publisher.current.version, as: UTF8.self) == "2")

    publisher.publish(database("3", [("B/B", 4)]), nowSeconds: 0)
    #expect(offset(publisher, b) == 4)
    #expect(publisher.current.knownCount == 1)
  }

  @Test func theCachesAreRenewedInPlaceOfTheTable() {
    let publisher = ZonePublisher(epochs: Epochs())
    publisher.publish(SystemZones.database, nowSeconds: 0)
    let zone = publisher.intern("Europe/Berlin")
    let now = instant("2026-07-01T00:00:00Z")
    let before = publisher.current.offsetInterval(zone, atSeconds: now)
    publisher.renewCaches(nowSeconds: now)
    let entry = publisher.current.header.pointee.entries[Int(zone)]
    #expect(entry.cachedFrom <= now && now < entry.cachedUntil)
    #expect(entry.cachedOffset == 7200)
    #expect(publisher.current.offsetInterval(zone, atSeconds: now) == before)
    #expect(String(decoding: publisher.current.version, as: UTF8.self) == SystemZones.version)
    #expect(publisher.current.knownCount == SystemZones.names.count)
  }

  @Test func namesMatchByteForByte() {
    let publisher = ZonePublisher(epochs: Epochs())
    publisher.publish(database("1", [("Europe/Berlin", 1)]), nowSeconds: 0)
    let zone = publisher.intern("Europe/Berlin")
    #expect(publisher.current.isKnown(zone))
    for name in ["Europe/berlin", "Europe/Berlin2", "Europe/Berli", "/Europe/Berlin"] {
      #expect(publisher.intern(name) != zone)
    }
  }

  @Test func namesThatNoZoneCanHaveGetNoNumber() {
    let publisher = ZonePublisher(epochs: Epochs())
    for name in [
      "", " ", "/", "/UTC", "UTC/", "America//New_York", "America/../UTC", "..", "zone.tab",
      "America/Los Angeles", "UTC\u{0}", "TZ=UTC", "+08:00", "Zürich", "Paris.dpkg-new",
      String(repeating: "a", count: 65), String(repeating: "a", count: 100_000),
    ] {
      #expect(publisher.intern(name) == 0, "\(name.prefix(80))")
    }
    #expect(publisher.intern(String(repeating: "a", count: 64)) != 0)
    #expect(publisher.intern("Etc/GMT+12") != 0)
  }

  @Test func documentsCannotUseUpTheNumbersOfLaterZones() {
    let publisher = ZonePublisher(epochs: Epochs())
    var given = 0
    for i in 0..<5000 where publisher.intern("Junk/Zone\(i)") != 0 { given += 1 }
    #expect(given == 4095 - ZoneNameRegistry.reservedForDatabases)
    #expect(publisher.intern("Junk/Zone4999") == 0)
    #expect(publisher.intern("Junk/Zone7") == 8, "what has a number keeps it")

    publisher.publish(
      database("1", (0..<600).map { ("Real/Zone\($0)", Int32($0)) }), nowSeconds: 0)
    #expect(publisher.current.knownCount == ZoneNameRegistry.reservedForDatabases)
    #expect(publisher.isKnown("Real/Zone0"))
    #expect(offset(publisher, publisher.intern("Real/Zone511")) == 511)
    #expect(publisher.intern("Real/Zone512") == 0)
  }

  @Test func aTableIsFreedOnceEveryReaderHasPassed() {
    let epochs = Epochs()
    let publisher = ZonePublisher(epochs: epochs)
    let reader = epochs.register()
    epochs.passBoundary(reader)
    let held = publisher.current

    publisher.publish(database("1", [("A/A", 1)]), nowSeconds: 0)
    publisher.publish(database("2", [("A/A", 2)]), nowSeconds: 0)
    #expect(publisher.retiredCount == 2, "the reader is still at its batch")
    #expect(held.knownCount == 0, "and its table still there")

    epochs.passBoundary(reader)
    publisher.publish(database("3", [("A/A", 3)]), nowSeconds: 0)
    #expect(publisher.retiredCount == 1, "only the one that the reader may have taken since")

    epochs.goIdle(reader)
    publisher.publish(database("4", [("A/A", 4)]), nowSeconds: 0)
    #expect(publisher.retiredCount == 0)
  }

  private final class Race: Sendable {
    let epochs = Epochs()
    let publisher: ZonePublisher
    let readersDone = Atomic<Int>(0)
    let mixed = Atomic<Int>(0)

    init() { publisher = ZonePublisher(epochs: epochs) }

    /// The version of each table is the offset of its zone.
    func read(_ zone: UInt16, batches: Int) {
      let reader = epochs.register()
      for _ in 0..<batches {
        epochs.passBoundary(reader)
        let zones = publisher.current
        for at in 0..<10 {
          let offset = zones.offsetInterval(zone, atSeconds: Int64(at)).offsetSeconds
          if String(decoding: zones.version, as: UTF8.self) != "\(offset)" {
            mixed.wrappingAdd(1, ordering: .relaxed)
          }
        }
      }
      epochs.goIdle(reader)
      readersDone.wrappingAdd(1, ordering: .releasing)
    }
  }

  /// Readers that pass boundaries while tables come and go see one table or the next, never parts of
  /// both or of one that is gone. On threads of their own: the test's are too few to wait on.
  @Test func readersRaceAWriter() {
    let race = Race()
    race.publisher.publish(database("0", [("A/A", 0)]), nowSeconds: 0)
    let zone = race.publisher.intern("A/A")
    let threads = (0..<2).map { _ in startThread { race.read(zone, batches: 3000) } }
    var version: Int32 = 0
    while race.readersDone.load(ordering: .acquiring) < threads.count {
      version = (version + 1) % 90_000
      race.publisher.publish(
        database("\(version)", [("A/A", version)]), nowSeconds: Int64(version % 20))
    }
    for thread in threads { pthread_join(thread, nil) }
    #expect(race.mixed.load(ordering: .relaxed) == 0)
    #expect(version > 0)
    race.publisher.renewCaches(nowSeconds: 0)
    #expect(race.publisher.retiredCount == 0, "nobody is left to wait for")
  }

  @Test func aVersionThatCouldBreakARecordIsUnknown() {
    #expect(ZoneDatabase(version: "2026f").version == "2026f")
    #expect(ZoneDatabase(version: "2026f-12-gabc1234-dirty").version == "2026f-12-gabc1234-dirty")
    for version in ["", "2026\"f", "a b", "2026f\n", String(repeating: "1", count: 33), "é"] {
      #expect(ZoneDatabase(version: version).version == "unknown")
    }
  }

  @Test(arguments: [
    ("europe/berlin", ["Europe/Berlin"]),
    ("America/Los Angeles", ["America/Los_Angeles"]),
    ("Berlin", ["Europe/Berlin"]),
    ("Germany/Berlin", ["Europe/Berlin"]),
    ("Pacific/Vancouver", ["America/Vancouver"]),
    ("Europe/Berln", ["Europe/Berlin"]),
    ("Eurpoe/Paris", ["Europe/Paris"]),
    ("utc", ["UTC"]),
    ("CST", []),
    ("UTC+8", []),
    ("GMT+8", []),
    ("+08:00", []),
    ("China Standard Time", []),
    ("", []),
    (String(repeating: "x", count: 100_000), []),
  ])
  func closeMatches(_ name: String, _ expected: [String]) {
    let found = SystemZones.publisher.suggestions(for: name)
    #expect(found.prefix(max(1, expected.count)) == expected[...], "\(name.prefix(80)): \(found)")
    #expect(found.count <= 3)
  }
}
