import Gate
import Glibc

/// What went wrong with the tz database on disk: which path, and why.
public struct TimeZoneDatabaseError: Error, Equatable, CustomStringConvertible {
  public let path: String
  public let reason: String

  public var description: String {
    "time zones: \(path): \(reason); install the package tzdata, or set TZDIR to a tz database"
  }
}

/// The system's tz database: `$TZDIR`, else `/usr/share/zoneinfo`. Read as a whole, so that no text
/// from a document ever becomes part of a path; looked at again for changes, so that an update of
/// the package takes effect without a restart (requirements Q3).
///
/// For one thread.
public final class TimeZoneDatabase {
  public static let defaultPath = "/usr/share/zoneinfo"

  public let path: String
  /// Of what is published; nil: nothing yet.
  private var loaded: TimeZoneFingerprint?

  /// - Parameter path: nil takes it from the environment.
  public init(path: String? = nil) {
    self.path = path ?? Self.path(fromTZDIR: getenv("TZDIR").map { String(cString: $0) })
  }

  /// An empty variable counts as none, as in the C library.
  static func path(fromTZDIR value: String?) -> String {
    guard let value, !value.isEmpty else { return defaultPath }
    return value
  }

  /// Reads the database and publishes it. Where it throws, what was published before stays, and
  /// `changed()` goes on saying so: one zone that cannot be read, or was known and is none any more,
  /// fails the whole load, since its users would silently be judged in another zone.
  /// - Parameter nowSeconds: see `ZonePublisher.publish`.
  public func load(into publisher: ZonePublisher, nowSeconds: Int64) throws(TimeZoneDatabaseError) {
    // Before the reading: what changes during it differs from this, and is noticed afterwards.
    let tree = try TimeZoneTree(path)
    let database = try read(tree)
    try checkWhole(database, publisher)
    publisher.publish(database, nowSeconds: nowSeconds)
    loaded = tree.fingerprint
  }

  /// As `load(into:nowSeconds:)`, around the present.
  public func load(into publisher: ZonePublisher) throws(TimeZoneDatabaseError) {
    try load(into: publisher, nowSeconds: SystemClock().wallMs() / 1_000)
  }

  /// Whether `load` would read something else than what it published last, or has yet to publish.
  /// Looks at the state of every directory and file (two calls a name, 1.4 ms for the system's
  /// database), reads none of them.
  public func changed() -> Bool {
    guard let loaded else { return true }
    guard let tree = try? TimeZoneTree(path) else { return true }
    return tree.fingerprint != loaded
  }

  /// The package never takes a name away; a name that is gone is a damaged file, a half-made update,
  /// or names that moved to a package which is not there.
  private func checkWhole(
    _ database: ZoneDatabase, _ publisher: ZonePublisher
  ) throws(TimeZoneDatabaseError) {
    let missing = publisher.missing(from: database).sorted()
    guard let first = missing.first else { return }
    let others = missing.count > 1 ? ", and \(missing.count - 1) more like it" : ""
    throw TimeZoneDatabaseError(
      path: path + "/" + first,
      reason: "was a time zone when it was read before, and is removed or damaged now\(others)")
  }

  private func read(_ tree: TimeZoneTree) throws(TimeZoneDatabaseError) -> ZoneDatabase {
    var database = ZoneDatabase(version: try version())
    // Links lead to one file under several names: it is read once.
    var historyOfFile: [TimeZoneTree.FileID: Int?] = [:]
    for file in tree.files {
      let known = historyOfFile[file.id]
      let history: Int?
      if let known {
        history = known
      } else {
        history = try readHistory(file.name, into: &database)
        historyOfFile[file.id] = .some(history)
      }
      if let history { database.add(name: file.name, history: history) }
    }
    guard database.nameCount > 0 else {
      throw TimeZoneDatabaseError(path: path, reason: "holds no time zones")
    }
    return database
  }

  /// Nil where the file is none of a zone.
  private func readHistory(
    _ name: String, into database: inout ZoneDatabase
  ) throws(TimeZoneDatabaseError) -> Int? {
    let file = path + "/" + name
    let bytes = try SmallFile.read(file)
    guard bytes.starts(with: "TZif".utf8) else { return nil }
    guard bytes.count <= SmallFile.bytesMax else {
      throw TimeZoneDatabaseError(path: file, reason: "over \(SmallFile.bytesMax) bytes")
    }
    do throws(TZifError) {
      return database.add(try TZif.parse(bytes))
    } catch {
      throw TimeZoneDatabaseError(path: file, reason: error.description)
    }
  }

  /// From the first line of `tzdata.zi` (`# version 2026f`), else the file `+VERSION`.
  private func version() throws(TimeZoneDatabaseError) -> String {
    let source = path + "/" + TimeZoneTree.sourceName
    if SmallFile.exists(source) {
      let line = try SmallFile.read(source, prefixBytes: 256).prefix { $0 != UInt8(ascii: "\n") }
      let marker = Array("# version ".utf8)
      if line.starts(with: marker) {
        return String(decoding: line.dropFirst(marker.count), as: UTF8.self)
      }
    }
    let plain = path + "/" + TimeZoneTree.versionName
    if SmallFile.exists(plain) {
      let text = try SmallFile.read(plain, prefixBytes: 256)
      return String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
    return "unknown"
  }
}
