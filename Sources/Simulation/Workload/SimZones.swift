import Gate

/// A tz database of a few zones at fixed offsets, which another version changes: enough for holds to move,
/// and simple enough that a checker needs no code of the gate's.
enum SimZones {
  static let names = ["Sim/Zero", "Sim/East", "Sim/West"]

  static func versionName(_ version: Int) -> String { "sim\(version)" }

  /// Seconds east of UTC.
  static func offsetSeconds(_ name: String, version: Int) -> Int64 {
    switch name {
    case "Sim/East": 3_600 * 5 + 1_800 * Int64(version % 3)
    case "Sim/West": -3_600 * 7 + 900 * Int64(version % 2)
    default: 0
    }
  }

  static func database(version: Int) -> ZoneDatabase {
    var database = ZoneDatabase(version: versionName(version))
    for name in names {
      do throws(TZifError) {
        let history = try TZif.parse(file(offsetSeconds(name, version: version)))
        database.add(name: name, history: database.add(history))
      } catch {
        preconditionFailure("a zone file that cannot be read: \(error)")
      }
    }
    return database
  }

  /// A TZif file (RFC 9636, version 1) of one offset for ever.
  private static func file(_ offsetSeconds: Int64) -> [UInt8] {
    var bytes = Array("TZif".utf8) + [UInt8](repeating: 0, count: 16)
    // utc flags, standard flags, leap seconds, transitions, types, bytes of names
    for count: UInt32 in [0, 0, 0, 0, 1, 4] { bytes += big(count) }
    return bytes + big(UInt32(bitPattern: Int32(offsetSeconds))) + [0, 0] + Array("SIM\0".utf8)
  }

  private static func big(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(24 - 8 * $0)) }
  }
}
