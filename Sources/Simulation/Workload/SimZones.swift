import Gate

/// A tz database of a few zones, which another version changes: enough for holds to move, and simple enough
/// that a checker needs no code of the gate's.
enum SimZones {
  static let fixed = ["Sim/Zero", "Sim/East", "Sim/West"]
  /// Its clock goes forward and back every few hours.
  static let changing = "Sim/Shift"

  /// Between two changes of its clock, and how many there are: from a quarter of a day before the worlds
  /// begin on, for four days.
  private static let changeSeconds: Int64 = 9_000
  private static let changeCount: Int64 = 40
  private static let firstChange = Scenario.wallStartMs / 1_000 - 21_600

  static func versionName(_ version: Int) -> String { "sim\(version)" }

  /// Seconds east of UTC, at an instant.
  static func offsetSeconds(_ name: String, version: Int, atMs: Int64) -> Int64 {
    switch name {
    case "Sim/East": 3_600 * 5 + 1_800 * Int64(version % 3)
    case "Sim/West": -3_600 * 7 + 900 * Int64(version % 2)
    case changing: standardSeconds(version) + (isSummer(atMs) ? 3_600 : 0)
    default: 0
    }
  }

  private static func standardSeconds(_ version: Int) -> Int64 { 7_200 + 900 * Int64(version % 2) }

  private static func isSummer(_ atMs: Int64) -> Bool {
    let sinceMs = atMs - firstChange * 1_000
    guard sinceMs >= 0 else { return false }
    return min(sinceMs / (changeSeconds * 1_000), changeCount - 1) % 2 == 0
  }

  /// The first instant after this one at which a zone's clock is set; nil: it never is again.
  static func nextChangeMs(_ name: String, afterMs: Int64) -> Int64? {
    guard name == changing else { return nil }
    let sinceMs = afterMs - firstChange * 1_000
    guard sinceMs >= 0 else { return firstChange * 1_000 }
    let next = sinceMs / (changeSeconds * 1_000) + 1
    return next < changeCount ? (firstChange + next * changeSeconds) * 1_000 : nil
  }

  static func database(version: Int) -> ZoneDatabase {
    var database = ZoneDatabase(version: versionName(version))
    for name in fixed + [changing] {
      do throws(TZifError) {
        let history = try TZif.parse(file(name, version: version))
        database.add(name: name, history: database.add(history))
      } catch {
        preconditionFailure("a zone file that cannot be read: \(error)")
      }
    }
    return database
  }

  /// A TZif file (RFC 9636, version 1).
  private static func file(_ name: String, version: Int) -> [UInt8] {
    var bytes = Array("TZif".utf8) + [UInt8](repeating: 0, count: 16)
    let changes = name == changing ? (0..<changeCount).map { firstChange + $0 * changeSeconds } : []
    let first = offsetSeconds(name, version: version, atMs: 0)
    let offsets = name == changing ? [first, first + 3_600] : [first]
    // utc flags, standard flags, leap seconds, transitions, types, bytes of names
    for count in [0, 0, 0, changes.count, offsets.count, 4] { bytes += big(Int64(count)) }
    for change in changes { bytes += big(change) }
    for number in changes.indices { bytes.append(number % 2 == 0 ? 1 : 0) }
    for (number, offset) in offsets.enumerated() { bytes += big(offset) + [UInt8(number), 0] }
    return bytes + Array("SIM\0".utf8)
  }

  private static func big(_ number: Int64) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> Int64(24 - 8 * $0)) }
  }
}
