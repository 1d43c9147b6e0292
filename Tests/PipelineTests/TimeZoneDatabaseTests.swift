import Gate
import Glibc
import Testing

@testable import Pipeline

@Suite struct TimeZoneDatabaseTests {
  private func load(
    _ made: MadeDatabase
  ) throws(TimeZoneDatabaseError) -> (ZonePublisher, TimeZoneDatabase) {
    let publisher = ZonePublisher(epochs: Epochs())
    let database = TimeZoneDatabase(path: made.path)
    try database.load(into: publisher)
    return (publisher, database)
  }

  private func failure(_ made: MadeDatabase) -> TimeZoneDatabaseError? {
    do throws(TimeZoneDatabaseError) {
      _ = try load(made)
      return nil
    } catch {
      return error
    }
  }

  @Test func theSystemsDatabaseHasTheZonesOfItsSourceAndNoOthers() throws {
    let publisher = ZonePublisher(epochs: Epochs())
    let database = TimeZoneDatabase(path: TimeZoneDatabase.defaultPath)
    #expect(database.changed(), "nothing is loaded yet")
    try database.load(into: publisher)
    #expect(!database.changed())

    let source = String(
      decoding: try SmallFile.read(TimeZoneDatabase.defaultPath + "/tzdata.zi"), as: UTF8.self)
    var names: Set<String> = []
    for line in source.split(separator: "\n") {
      let fields = line.split(separator: " ")
      if fields[0] == "Z" { names.insert(String(fields[1])) }
      if fields[0] == "L" { names.insert(String(fields[2])) }
    }
    names.remove("Factory")
    #expect(names.count > 500)
    for name in names { #expect(publisher.isKnown(name), "\(name)") }
    #expect(publisher.current.knownCount == names.count)
    #expect(source.hasPrefix("# version \(publisher.versionText)\n"))
  }

  /// Which names are zones, and what they are another name of.
  @Test func everyLineOfTheZoneIds() throws {
    let publisher = ZonePublisher(epochs: Epochs())
    try TimeZoneDatabase(path: TimeZoneDatabase.defaultPath).load(into: publisher)
    try #require(
      publisher.versionText >= "2026f",
      """
      these lines were made with tz database 2026f, and \(publisher.versionText) is installed: \
      install the newest one (apt-get update && apt-get install tzdata)
      """)
    let folder = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
    let text = String(
      decoding: try SmallFile.read("/\(folder)/GateTests/ZonesFixtures/zone_ids.jsonl"),
      as: UTF8.self)
    let lines = text.split(separator: "\n")
    #expect(lines.count == 60)
    for line in lines {
      // The one escape in the file.
      let name = try #require(member("zone", of: line)).replacing("\\u0000", with: "\u{0}")
      #expect(publisher.isKnown(name) == line.contains("\"valid\": true"), "\(line)")
      guard let canonical = member("canonical", of: line) else { continue }
      // Debian keeps older history of its own for some of these names, such as EST.
      let wrong = stride(from: Int64(946_684_800), to: 4_000_000_000, by: 7_654_321).filter {
        publisher.offset(name, at: $0) != publisher.offset(canonical, at: $0)
      }
      #expect(wrong.isEmpty, "\(line)")
    }
  }

  private func member(_ key: String, of line: Substring) -> String? {
    guard let start = line.firstRange(of: "\"\(key)\": \"") else { return nil }
    return String(line[start.upperBound...].prefix { $0 != "\"" })
  }

  @Test func theDirectoryIsTheEnvironmentsOrTheUsual() {
    #expect(TimeZoneDatabase.path(fromTZDIR: nil) == "/usr/share/zoneinfo")
    #expect(TimeZoneDatabase.path(fromTZDIR: "") == "/usr/share/zoneinfo")
    #expect(TimeZoneDatabase.path(fromTZDIR: "/opt/zones") == "/opt/zones")
  }

  @Test func whatIsNoZoneIsLeftOut() throws {
    let made = MadeDatabase()
    let zone = MadeDatabase.zone("UTC0")
    for name in [
      "UTC", "Area/Place", "Area/Sub/Place", "posix/UTC", "right/UTC", "localtime", "posixrules",
      "Factory", "Area/Place.dpkg-new", "zone.tab", ".hidden", "Area/Factory",
    ] {
      made.write(name, zone)
    }
    made.write("leapseconds", "# no zone")
    made.write("empty", "")
    made.write("large", [UInt8](repeating: 0, count: 2 << 20))
    let (publisher, _) = try load(made)
    for name in ["UTC", "Area/Place", "Area/Sub/Place", "Area/Factory"] {
      #expect(publisher.isKnown(name), "\(name)")
    }
    #expect(publisher.current.knownCount == 4)
  }

  @Test func linksToFilesAreZonesAndLinksToDirectoriesAreNot() throws {
    let made = MadeDatabase()
    made.write("Area/Place", MadeDatabase.zone("AAA-3"))
    made.link("Link", to: "Area/Place")
    made.link("Other/Link", to: "../Area/Place")
    made.link("Nowhere", to: "Gone")
    made.link("Loop", to: "Loop")
    made.link("Area/Up", to: "..")
    let (publisher, _) = try load(made)
    #expect(publisher.current.knownCount == 3)
    #expect(publisher.offset("Link") == 10_800)
    #expect(publisher.offset("Other/Link") == 10_800)
  }

  @Test func theVersionIsThatOfTheSourceElseOfItsFile() throws {
    let made = MadeDatabase()
    made.write("UTC", MadeDatabase.zone("UTC0"))
    #expect(try load(made).0.versionText == "unknown")
    made.write("+VERSION", "2025b\n")
    #expect(try load(made).0.versionText == "2025b")
    made.write("tzdata.zi", "# version 2026f\n# This zic input file…\nR A 1 o - …\n")
    #expect(try load(made).0.versionText == "2026f")
    made.write("tzdata.zi", "Z UTC 0 - UTC\n")
    #expect(try load(made).0.versionText == "2025b", "a source that does not say")
  }

  @Test func whatIsWrongIsNamed() {
    let missing = TimeZoneDatabase(path: "/nonexistent/zones")
    let publisher = ZonePublisher(epochs: Epochs())
    #expect(
      throws: TimeZoneDatabaseError(
        path: "/nonexistent/zones", reason: "No such file or directory")
    ) { try missing.load(into: publisher) }

    let made = MadeDatabase()
    #expect(failure(made)?.reason == "holds no time zones")
    made.write("UTC", MadeDatabase.zone("UTC0"))
    #expect(failure(made) == nil)
    made.write("Area/Bad", Array(MadeDatabase.zone("UTC0").prefix(60)))
    #expect(failure(made)?.path == made.path + "/Area/Bad")
    #expect(failure(made)?.reason == "ends too early")
    made.write("Area/Bad", MadeDatabase.zone("UTC"))
    #expect(failure(made)?.reason == "TZ string at the end: hour: no number")
    #expect(failure(made)?.description.contains("install the package tzdata") == true)
  }

  @Test func aReloadKeepsNumbersAndChangesAnswers() throws {
    let made = MadeDatabase()
    made.write("tzdata.zi", "# version 1\n")
    made.write("Area/Moves", MadeDatabase.zone("AAA-1"))
    let (publisher, database) = try load(made)
    let moves = publisher.number("Area/Moves")
    let comes = publisher.number("Area/Comes")
    #expect(!publisher.current.isKnown(comes))

    made.replace("Area/Moves", MadeDatabase.zone("AAA-1BBB,M3.5.0,M10.5.0/3"))
    made.replace("Area/Comes", MadeDatabase.zone("CCC-4"))
    made.replace("tzdata.zi", Array("# version 2\n".utf8))
    #expect(database.changed())
    try database.load(into: publisher)
    #expect(!database.changed())

    #expect(publisher.number("Area/Moves") == moves)
    #expect(publisher.number("Area/Comes") == comes)
    #expect(publisher.offset("Area/Moves") == 7200, "summer, 2026-05-28")
    #expect(publisher.offset("Area/Moves", at: 1_767_225_600) == 3600, "winter, 2026-01-01")
    #expect(publisher.offset("Area/Comes") == 14_400)
    #expect(publisher.versionText == "2")
  }

  /// A zone's users must not be judged by another zone because a file is damaged or gone.
  @Test(arguments: [
    "removed", "damaged", "emptied", "a link that leads nowhere", "a directory in its place",
  ])
  func aZoneThatIsGoneLeavesTheOldAnswersAndIsTriedAgain(_ how: String) throws {
    let made = MadeDatabase()
    let zone = MadeDatabase.zone("AAA-1")
    made.write("tzdata.zi", "# version 1\n")
    made.write("Area/Place", zone)
    made.write("Area/Other", MadeDatabase.zone("AAA-2"))
    let (publisher, database) = try load(made)

    made.remove("Area/Place")
    switch how {
    case "removed": break
    case "damaged": made.write("Area/Place", [0] + zone.dropFirst())
    case "emptied": made.write("Area/Place", "")
    case "a directory in its place": made.write("Area/Place/Inner", zone)
    default: made.link("Area/Place", to: "Gone")
    }
    // What came with it is not taken either: half an update is none.
    made.replace("Area/Other", MadeDatabase.zone("AAA-3"))
    made.replace("tzdata.zi", Array("# version 2\n".utf8))
    for _ in 0..<2 {
      #expect(database.changed(), "it is tried again")
      #expect(
        throws: TimeZoneDatabaseError(
          path: made.path + "/Area/Place",
          reason: "was a time zone when it was read before, and is removed or damaged now")
      ) { try database.load(into: publisher) }
      #expect(publisher.offset("Area/Place") == 3600)
      #expect(publisher.offset("Area/Other") == 7200)
      #expect(publisher.versionText == "1")
    }

    if how == "a directory in its place" {
      made.remove("Area/Place/Inner")
      made.removeDirectory("Area/Place")
    } else if how != "removed" {
      made.remove("Area/Place")
    }
    made.write("Area/Place", MadeDatabase.zone("AAA-4"))
    try database.load(into: publisher)
    #expect(!database.changed())
    #expect(publisher.offset("Area/Place") == 14_400)
    #expect(publisher.offset("Area/Other") == 10_800)
    #expect(publisher.versionText == "2")
  }

  @Test func howManyZonesAreGoneIsTold() throws {
    let made = MadeDatabase()
    for name in ["Area/B", "Area/A", "Area/C", "UTC"] {
      made.write(name, MadeDatabase.zone("UTC0"))
    }
    let (publisher, database) = try load(made)
    for name in ["Area/B", "Area/A", "Area/C"] { made.remove(name) }
    #expect(
      throws: TimeZoneDatabaseError(
        path: made.path + "/Area/A",
        reason: "was a time zone when it was read before, and is removed or damaged now, and 2 "
          + "more like it")
    ) { try database.load(into: publisher) }
  }

  @Test func aBrokenUpdateLeavesTheOldAnswersAndIsTriedAgain() throws {
    let made = MadeDatabase()
    made.write("Area/Place", MadeDatabase.zone("AAA-1"))
    let (publisher, database) = try load(made)
    made.replace("Area/Place", Array("TZif2".utf8))
    #expect(throws: TimeZoneDatabaseError.self) { try database.load(into: publisher) }
    #expect(publisher.offset("Area/Place") == 3600)
    #expect(database.changed())
    made.replace("Area/Place", MadeDatabase.zone("AAA-2"))
    try database.load(into: publisher)
    #expect(publisher.offset("Area/Place") == 7200)
    #expect(!database.changed())
  }

  @Test func everyKindOfChangeIsNoticed() throws {
    let made = MadeDatabase()
    made.write("tzdata.zi", "# version 1\n")
    made.write("Area/Sub/Place", MadeDatabase.zone("AAA-1"))
    made.link("Link", to: "Area/Sub/Place")
    let (publisher, database) = try load(made)
    #expect(!database.changed())

    let changes: [(String, () -> Void)] = [
      ("written in place, same size", { made.write("Area/Sub/Place", MadeDatabase.zone("AAA-2")) }),
      ("replaced", { made.replace("Area/Sub/Place", MadeDatabase.zone("AAA-3")) }),
      ("added", { made.write("Area/Other", MadeDatabase.zone("AAA-1")) }),
      ("version", { made.replace("tzdata.zi", Array("# version 2\n".utf8)) }),
      ("source gone", { made.remove("tzdata.zi") }),
      ("version file", { made.write("+VERSION", "3") }),
      ("link made", { made.link("Other", to: "Area/Sub/Place") }),
      (
        "link led elsewhere",
        {
          made.remove("Link")
          made.link("Link", to: "Area/Other")
        }
      ),
    ]
    for (what, change) in changes {
      waitForAnotherTick(of: made)
      change()
      #expect(database.changed(), "\(what)")
      try database.load(into: publisher)
      #expect(!database.changed(), "\(what)")
    }
    #expect(publisher.offset("Other") == 10_800)
    #expect(publisher.offset("Link") == 3600)
    #expect(publisher.versionText == "3")
    // A zone that goes is noticed too, and refused.
    for name in ["Area/Other", "Link"] {
      made.remove(name)
      #expect(database.changed(), "\(name)")
    }
  }

  /// A file's time of change has the resolution of the kernel's tick, 4 ms or so: until it moves on,
  /// a second write of the same size to the same file cannot be told from the first.
  private func waitForAnotherTick(of made: MadeDatabase) {
    func now() -> timespec {
      made.write("tick.tmp", "")
      var status = stat()
      precondition(stat(made.path + "/tick.tmp", &status) == 0)
      return status.st_ctim
    }
    let first = now()
    while case let next = now(), next.tv_sec == first.tv_sec && next.tv_nsec == first.tv_nsec {}
    made.remove("tick.tmp")
  }
}
