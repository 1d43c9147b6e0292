import Testing

@testable import Gate

/// The golden lines: windows from the field, with answers computed by tz database 2026f.
@Suite struct ZonesGoldenTests {
  struct Line {
    let id: String
    let zone: String
    let window: QuietWindow
    let now: Int64
    let quiet: Bool
    let endsAt: Int64?
    let note: String
  }

  static let lines: [Line] = SystemZones.fixture("zones.jsonl").map { text in
    let ends = string(text, "ends_at")
    return Line(
      id: string(text, "id")!, zone: string(text, "zone")!,
      window: window(string(text, "start")!, string(text, "end")!),
      now: instant(string(text, "now")!), quiet: text.contains("\"quiet\": true"),
      endsAt: ends.map { instant($0) }, note: string(text, "note")!)
  }

  @Test func everyLineHolds() throws {
    try SystemZones.requireVersion("2026f", "these lines")
    #expect(Self.lines.count == 184)
    let zones = SystemZones.publisher.current
    for line in Self.lines {
      let zone = SystemZones.zone(line.zone)
      let quiet = line.window.contains(line.now * 1000, zone: zone, in: zones)
      #expect(quiet == line.quiet, "\(line.id) \(line.zone): \(line.note)")
      let endsAt = line.window.endsAtMs(after: line.now * 1000, zone: zone, in: zones)
      #expect(endsAt == line.endsAt.map { $0 * 1000 }, "\(line.id) \(line.zone): \(line.note)")
    }
  }

  /// Enough for lines that are one flat object of plain strings.
  private static func string(_ line: Substring, _ member: String) -> String? {
    guard let key = line.range(of: "\"\(member)\": \"") else { return nil }
    return String(line[key.upperBound...].prefix { $0 != "\"" })
  }
}

extension Substring {
  fileprivate func range(of part: String) -> Range<Index>? { firstRange(of: part) }
}
