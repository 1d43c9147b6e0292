import Glibc
import Testing

@testable import Gate

/// The system's tz database for tests of the gate, by the names that `tzdata.zi` lists: a way of its
/// own to find the zones, so that it also checks the one that the gate has.
enum SystemZones {
  static let root = "/usr/share/zoneinfo"

  static let database: ZoneDatabase = {
    var database = ZoneDatabase(version: version)
    for name in names {
      do {
        let history = database.add(try TZif.parse(bytes(root + "/" + name)))
        precondition(database.add(name: name, history: history), "\(name) is not well formed")
      } catch {
        fatalError("\(name): \(error)")
      }
    }
    return database
  }()

  /// One for all tests that only read.
  static let publisher: ZonePublisher = {
    let publisher = ZonePublisher(epochs: Epochs())
    publisher.publish(database, nowSeconds: instant("2026-11-30T12:00:00Z"))
    return publisher
  }()

  private static let source = lines(root + "/tzdata.zi")

  static let version = String(source[0].split(separator: " ").last!)

  /// Zones (`Z name …`) and links (`L target name`).
  static let names: [String] = source.compactMap { line in
    let fields = line.split(separator: " ")
    let name =
      switch fields.first {
      case "Z": String(fields[1])
      case "L": String(fields[2])
      default: ""
      }
    return name.isEmpty || name == "Factory" ? nil : name
  }.sorted()

  /// Golden answers are those of one database; older data give others.
  static func requireVersion(_ wanted: String, _ what: String) throws {
    try #require(
      version >= wanted,
      """
      \(what) were computed with tz database \(wanted), and \(version) is installed: \
      install the newest one (apt-get update && apt-get install tzdata)
      """)
  }

  static func zone(_ name: String) -> UInt16 {
    let zone = publisher.intern(name)
    precondition(publisher.current.isKnown(zone), "no zone \(name)")
    return zone
  }

  static func bytes(_ path: String) -> [UInt8] {
    guard let file = fopen(path, "rb") else { fatalError("cannot open \(path)") }
    defer { fclose(file) }
    var all: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&chunk, 1, chunk.count, file), count > 0 {
      all.append(contentsOf: chunk.prefix(count))
    }
    return all
  }

  static func lines(_ path: String) -> [Substring] {
    String(decoding: bytes(path), as: UTF8.self).split(separator: "\n")
  }

  static func fixture(_ name: String, of file: String = #filePath) -> [Substring] {
    let folder = file.split(separator: "/").dropLast(2).joined(separator: "/")
    return lines("/\(folder)/ZonesFixtures/\(name)")
  }
}

extension ZonePublisher {
  func intern(_ name: String) -> UInt16 {
    Array(name.utf8).withUnsafeBytes { intern($0) }
  }

  func isKnown(_ name: String) -> Bool { current.isKnown(intern(name)) }
}

/// Seconds of `2026-01-14T19:59:59Z`, by the C library's calendar.
func instant(_ text: String) -> Int64 {
  let numbers = text.split { !$0.isNumber }.map { Int32($0)! }
  var parts = tm()
  parts.tm_year = numbers[0] - 1900
  parts.tm_mon = numbers[1] - 1
  parts.tm_mday = numbers[2]
  parts.tm_hour = numbers[3]
  parts.tm_min = numbers[4]
  parts.tm_sec = numbers[5]
  return Int64(timegm(&parts))
}

func window(_ start: String, _ end: String, days: UInt8 = QuietWindow.everyDay) -> QuietWindow {
  QuietWindow(
    startMinute: Array(start.utf8).withUnsafeBytes { QuietWindow.startMinute($0)! },
    endMinute: Array(end.utf8).withUnsafeBytes { QuietWindow.endMinute($0)! }, days: days)
}

/// Random numbers from a seed that a failing test prints (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  let seed: UInt64
  private var state: UInt64

  /// - Parameter seed: nil takes `SENDGATE_SEED` from the environment, else a new one.
  init(seed: UInt64? = nil) {
    let fromEnvironment = getenv("SENDGATE_SEED").flatMap { UInt64(String(cString: $0)) }
    self.seed = seed ?? fromEnvironment ?? UInt64.random(in: 0...UInt64.max)
    state = self.seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

/// A TZif file made by hand: the 64-bit block of version 2 and later, behind an empty first one.
struct MadeTZif {
  var version = UInt8(ascii: "2")
  var times: [Int64] = []
  var typeOfTime: [UInt8] = []
  var offsets: [Int32] = [0]
  var leaps: [(at: Int64, correction: Int32)] = []
  var footer = ""

  var bytes: [UInt8] {
    header(times: 0, types: 1, leaps: 0) + [0, 0, 0, 0, 0, 0] + abbreviation
      + header(times: times.count, types: offsets.count, leaps: leaps.count)
      + times.flatMap { Self.big($0) } + typeOfTime
      + offsets.flatMap { Self.big($0) + [0, 0] } + abbreviation
      + leaps.flatMap { Self.big($0.at) + Self.big($0.correction) }
      + Array("\n\(footer)\n".utf8)
  }

  private var abbreviation: [UInt8] { Array("LMT\0".utf8) }

  private func header(times: Int, types: Int, leaps: Int) -> [UInt8] {
    Array("TZif".utf8) + [version] + [UInt8](repeating: 0, count: 15)
      + [0, 0, Int32(leaps), Int32(times), Int32(types), 4].flatMap { Self.big($0) }
  }

  static func big<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }
}

/// A publisher with the one zone `Test/Zone`.
func madeZone(_ history: ZoneHistory, nowSeconds: Int64 = 0) -> (ZonePublisher, UInt16) {
  var database = ZoneDatabase(version: "made")
  let number = database.add(history)
  database.add(name: "Test/Zone", history: number)
  let publisher = ZonePublisher(epochs: Epochs())
  publisher.publish(database, nowSeconds: nowSeconds)
  return (publisher, publisher.intern("Test/Zone"))
}

/// To be joined by the caller.
func startThread(_ body: @escaping @Sendable () -> Void) -> pthread_t {
  final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var thread = pthread_t()
  let made = pthread_create(
    &thread, nil,
    { argument in
      Unmanaged<Box>.fromOpaque(argument!).takeRetainedValue().body()
      return nil
    }, Unmanaged.passRetained(Box(body)).toOpaque())
  precondition(made == 0, "no thread: \(made)")
  return thread
}
