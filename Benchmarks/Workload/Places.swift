import Gate
import Glibc

/// A few zones of the system's database, read here: what measures the gate links nothing else.
public enum Places {
  /// Region and zone, roughly by population.
  static let all: [(region: String, zone: String)] = [
    ("CN", "Asia/Shanghai"), ("IN", "Asia/Kolkata"), ("US", "America/New_York"),
    ("US", "America/Chicago"), ("US", "America/Los_Angeles"), ("BR", "America/Sao_Paulo"),
    ("JP", "Asia/Tokyo"), ("DE", "Europe/Berlin"), ("FR", "Europe/Paris"),
    ("GB", "Europe/London"), ("IT", "Europe/Rome"), ("NG", "Africa/Lagos"),
    ("MX", "America/Mexico_City"), ("ID", "Asia/Jakarta"), ("EG", "Africa/Cairo"),
    ("AU", "Australia/Sydney"),
  ]

  /// Of every zone that is published.
  public static var names: [String] { all.map(\.zone) + ["UTC"] }

  public static func publish(into publisher: ZonePublisher, nowSeconds: Int64) {
    var database = ZoneDatabase(version: "workload")
    for zone in names {
      let history: ZoneHistory
      do {
        history = try TZif.parse(bytes("/usr/share/zoneinfo/\(zone)"))
      } catch {
        fatalError("\(zone): \(error)")
      }
      database.add(name: zone, history: database.add(history))
    }
    publisher.publish(database, nowSeconds: nowSeconds)
  }

  private static func bytes(_ path: String) -> [UInt8] {
    guard let file = fopen(path, "rb") else { fatalError("\(path): install tzdata") }
    defer { fclose(file) }
    var all = [UInt8](repeating: 0, count: 65_536)
    let count = fread(&all, 1, all.count, file)
    return Array(all.prefix(count))
  }
}
