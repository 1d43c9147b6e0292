import Testing

@testable import Gate

/// Every window of a small space, at every tick around a change of offset, against an oracle that
/// goes tick by tick and knows the wall clock only. All edges and changes lie on ticks of ten
/// minutes, so a tick stands for its ten minutes.
@Suite struct ZonesExhaustiveTests {
  static let tick: Int64 = 600
  /// A Monday, 2026-06-01; local midnight while the offset is 0.
  static let monday: Int64 = 20_605 * 86_400

  struct Change: Sendable, CustomStringConvertible {
    let description: String
    let before: Int32
    let at: Int64
    let after: Int32
  }

  static let changes = [
    Change(description: "none", before: 0, at: monday, after: 0),
    Change(description: "gap 02:00-03:00", before: 0, at: monday + 7200, after: 3600),
    Change(description: "overlap 02:00-03:00", before: 0, at: monday + 10_800, after: -3600),
    Change(description: "gap of 30 min over midnight", before: 0, at: monday - 600, after: 1800),
    Change(
      description: "overlap of 30 min over midnight", before: 0, at: monday + 600, after: -1800),
    Change(description: "day skipped", before: -36_000, at: monday + 36_000, after: 50_400),
    Change(description: "day repeated", before: 43_200, at: monday - 43_200, after: -43_200),
  ]

  @Test(arguments: changes)
  func everyWindow(_ change: Change) throws {
    let (publisher, zone) = madeZone(
      ZoneHistory(
        transitions: change.before == change.after ? [] : [change.at],
        offsets: change.before == change.after ? [change.before] : [change.before, change.after],
        ruleFrom: .max, rule: nil))
    let zones = publisher.current

    let edges: [UInt16] = [0, 10, 60, 120, 130, 150, 180, 420, 720, 1380, 1410, 1430]
    // Sunday is 0x40: the days before, of, and after the change.
    let daySets: [UInt8] = [0x7F, 0x01, 0x40, 0x3F, 0]
    let first = change.at - 86_400 * 3 / 2
    let asked = 3 * 144
    let known = asked + 37 * 144
    let walls = (0..<known).map { i in
      let at = first + Int64(i) * Self.tick
      return at + Int64(at < change.at ? change.before : change.after)
    }

    var windows = 0
    for start in edges {
      for end in edges + [1440] {
        for days in daySets {
          let window = QuietWindow(startMinute: start, endMinute: end, days: days)
          let inside = walls.map { Self.isQuiet(window, wall: $0) }
          let wrong = mismatches(window, inside, first, asked: asked, zone: zone, zones)
          #expect(wrong == nil, "\(change) \(window): \(wrong ?? "")")
          windows += 1
        }
      }
    }
    #expect(windows == 12 * 13 * 5)
  }

  /// By the minutes of three days laid out one after the other, unlike the code under test.
  static func isQuiet(_ window: QuietWindow, wall: Int64) -> Bool {
    let minuteOfWeek = Int((wall - monday) / 60 % 10_080 + 10_080) % 10_080
    for day in -1...6 where window.days >> UInt8((day + 7) % 7) & 1 == 1 {
      let start = day * 1440 + Int(window.startMinute)
      let length =
        window.startMinute <= window.endMinute
        ? Int(window.endMinute) - Int(window.startMinute)
        : Int(window.endMinute) + 1440 - Int(window.startMinute)
      if minuteOfWeek >= start && minuteOfWeek < start + length { return true }
    }
    return false
  }

  private func mismatches(
    _ window: QuietWindow, _ inside: [Bool], _ first: Int64, asked: Int, zone: UInt16,
    _ zones: ZoneTable
  ) -> String? {
    // From the last tick to the first: the next change of the verdict, and the next start.
    var nextOutside = inside.count
    var nextStart = inside.count
    for i in stride(from: inside.count - 1, through: 0, by: -1) {
      let at = first + Int64(i) * Self.tick
      if i < asked {
        let ends = inside[i] && nextOutside - i <= 8 * 144 ? nextOutside : nil
        let starts = nextStart - i <= 36 * 144 ? nextStart : nil
        let nowMs = at * 1000 + Int64(i % 3) * 299_999
        if window.contains(nowMs, zone: zone, in: zones) != inside[i] { return "contains at \(at)" }
        if window.endsAtMs(after: nowMs, zone: zone, in: zones) != ends.map({ ms($0, first) }) {
          return "end at \(at)"
        }
        if window.nextStartMs(after: nowMs, zone: zone, in: zones) != starts.map({ ms($0, first) })
        {
          return "next start at \(at)"
        }
      }
      if !inside[i] { nextOutside = i }
      if inside[i], i > 0, !inside[i - 1] { nextStart = i }
    }
    return nil
  }

  private func ms(_ tickIndex: Int, _ first: Int64) -> Int64 {
    (first + Int64(tickIndex) * Self.tick) * 1000
  }
}
