import Testing

@testable import Gate

@Suite struct ZonesTZifTests {
  @Test func everySystemZoneReads() {
    #expect(SystemZones.database.nameCount == SystemZones.names.count)
    #expect(SystemZones.names.count > 500)
  }

  @Test func transitionsTypesAndFooter() throws {
    let made = MadeTZif(
      times: [-100, 0, 100, 200], typeOfTime: [1, 1, 0, 2], offsets: [3600, 7200, 0],
      footer: "<-03>3")
    let history = try TZif.parse(made.bytes)
    // The second transition changes nothing and is left out.
    #expect(history.transitions == [-100, 100, 200])
    #expect(history.offsets == [3600, 7200, 3600, 0])
    #expect(history.ruleFrom == 200)
    #expect(history.rule == FooterRule(standardOffset: -10_800))
  }

  @Test(arguments: [UInt8(ascii: "2"), UInt8(ascii: "3"), UInt8(ascii: "4"), UInt8(ascii: "5")])
  func versionsWith64Bits(_ version: UInt8) throws {
    let history = try TZif.parse(
      MadeTZif(version: version, times: [1 << 40], typeOfTime: [1], offsets: [0, 60]).bytes)
    #expect(history.transitions == [1 << 40])
    #expect(history.rule == nil)
  }

  @Test func version1HasOneBlockOf32Bits() throws {
    var bytes = Array("TZif".utf8) + [UInt8](repeating: 0, count: 16)
    for count: Int32 in [0, 0, 0, 1, 2, 4] { bytes += MadeTZif.big(count) }
    bytes += MadeTZif.big(Int32(-1000)) + [1]
    bytes += MadeTZif.big(Int32(0)) + [0, 0] + MadeTZif.big(Int32(3600)) + [1, 0]
    bytes += Array("ABC\0".utf8)
    let history = try TZif.parse(bytes)
    #expect(history.transitions == [-1000])
    #expect(history.offsets == [0, 3600])
    #expect(history.rule == nil)
  }

  @Test func whatIsWrongIsNamed() throws {
    let good = MadeTZif(times: [0, 10], typeOfTime: [0, 1], offsets: [0, 3600], footer: "UTC0")
    func error(_ change: (inout MadeTZif) -> Void) -> TZifError? {
      var made = good
      change(&made)
      return error(made.bytes)
    }
    func error(_ bytes: [UInt8]) -> TZifError? {
      do throws(TZifError) {
        _ = try TZif.parse(bytes)
        return nil
      } catch {
        return error
      }
    }
    #expect(error(good.bytes) == nil)
    #expect(error([]) == .truncated)
    #expect(error(Array("TZi".utf8)) == .truncated)
    #expect(error(Array("# version 2026f\n".utf8)) == .notTZif)
    #expect(error { $0.version = UInt8(ascii: "1") } == .unknownVersion(UInt8(ascii: "1")))
    #expect(error { $0.times = [10, 10] } == .transitionsNotAscending)
    #expect(error { $0.typeOfTime = [0, 2] } == .badTypeIndex)
    #expect(error { $0.offsets = [0, 93_600] } == .offsetOutOfRange(93_600))
    #expect(error { $0.offsets = [.min, 0] } == .offsetOutOfRange(.min))
    #expect(error { $0.offsets = [] } == .badCount("typecnt"))
    #expect(error { $0.leaps = [(0, 1)] } == .countsLeapSeconds)
    #expect(error { $0.footer = "UTC" } == .badFooter("hour: no number"))
    for length in 0..<good.bytes.count {
      let cut = error(Array(good.bytes.prefix(length)))
      #expect(cut == .truncated || cut == .badFooter("no newline after it"), "\(length) bytes")
    }
  }

  @Test func rightFilesAreRefused() {
    let path = SystemZones.root + "/right/Europe/Paris"
    #expect(throws: TZifError.countsLeapSeconds) { try TZif.parse(SystemZones.bytes(path)) }
  }

  /// Any bytes: real files with some changed, cut off or added. What still reads must give sound
  /// answers too.
  @Test func changedFilesNeverTrap() throws {
    var random = SeededGenerator()
    let files = SystemZones.names.map { SystemZones.bytes(SystemZones.root + "/" + $0) }
    var readable = 0
    var refused = 0
    for round in 0..<6000 {
      let bytes = Self.changed(files.randomElement(using: &random)!, using: &random)
      do throws(TZifError) {
        let (publisher, zone) = madeZone(try TZif.parse(bytes), nowSeconds: 1_800_000_000)
        readable += 1
        let zones = publisher.current
        for _ in 0..<6 {
          let at = Int64.random(in: -5_000_000_000...9_000_000_000, using: &random)
          let (offset, until) = zones.offsetInterval(zone, atSeconds: at)
          #expect(until > at && abs(offset) < 93_600, "seed \(random.seed), round \(round)")
          _ = window("22:00", "07:00").endsAtMs(after: at * 1000, zone: zone, in: zones)
        }
      } catch {
        refused += 1
      }
    }
    #expect(readable > 500 && refused > 500, "seed \(random.seed): \(readable), \(refused)")
  }

  private static func changed(
    _ bytes: [UInt8], using random: inout SeededGenerator
  ) -> [UInt8] {
    var bytes = bytes
    // The header and the footer are a small part of a file: half of the changes go there.
    let footer = max(0, bytes.count - 40)..<bytes.count
    let header = 0..<min(88, bytes.count)
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let part = [header, footer, 0..<bytes.count, 0..<bytes.count].randomElement(using: &random)!
      let at = Int.random(in: part, using: &random)
      bytes[at] =
        Bool.random(using: &random)
        ? UInt8.random(in: 0...255, using: &random)
        : Array("0123456789,.-+/<>MJ:\n".utf8).randomElement(using: &random)!
    }
    switch Int.random(in: 0..<8, using: &random) {
    case 0: bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
    case 1: bytes.insert(0, at: Int.random(in: 0...bytes.count, using: &random))
    default: break
    }
    return bytes
  }
}
