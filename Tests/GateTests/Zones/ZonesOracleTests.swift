import Testing

@testable import Gate

/// Against readers that share no code with the gate: Python's zoneinfo and the C library. The
/// fixtures' folder has the scripts that made them, and the seed is in their first line.
@Suite struct ZonesOracleTests {
  @Test func threeThousandWindowsTriedMinuteByMinute() throws {
    let lines = SystemZones.fixture("windows.tsv")
    let version = lines[0].split { $0 == " " || $0 == "," }[3]
    try SystemZones.requireVersion(String(version), "these windows")
    #expect(lines.count == 3001)
    let zones = SystemZones.publisher.current
    for line in lines.dropFirst() {
      let field = line.split(separator: "\t")
      let zone = SystemZones.zone(String(field[0]))
      let window = QuietWindow(
        startMinute: UInt16(field[1])!, endMinute: UInt16(field[2])!, days: UInt8(field[3])!)
      let now = Int64(field[4])!
      #expect(
        window.contains(now, zone: zone, in: zones) == (field[5] == "1"), "contains: \(line)")
      #expect(
        window.endsAtMs(after: now, zone: zone, in: zones) == Int64(field[6]).map { $0 * 1000 },
        "ends at: \(line)")
      #expect(
        window.nextStartMs(after: now, zone: zone, in: zones) == Int64(field[7]).map { $0 * 1000 },
        "next start: \(line)")
    }
  }

  @Test func twoThousandFooterOffsets() throws {
    let lines = SystemZones.fixture("footers.tsv").dropFirst()
    #expect(lines.count >= 2000)
    for line in lines {
      let field = line.split(separator: "\t")
      let rule = try #require(try TZif.parse(MadeTZif(footer: String(field[0])).bytes).rule)
      #expect(rule.interval(at: Int64(field[1])!).offset == Int32(field[2])!, "\(line)")
    }
  }
}
