import Gate
import Glibc

/// The state of a whole tree in one number: a change of any name, file or directory changes it.
struct TimeZoneFingerprint: Equatable {
  private var hash: UInt64 = 0xcbf2_9ce4_8422_2325

  mutating func add(_ value: UInt64) {
    hash = (hash ^ value) &* 0x9e37_79b9_7f4a_7c15 ^ (hash >> 29)
  }

  mutating func add(_ name: String) {
    for byte in name.utf8 { add(UInt64(byte)) }
  }

  /// A file that is replaced gets another inode or time of change; one written in place, another
  /// time of change, which cannot be set back as that of modification can.
  mutating func add(_ status: stat) {
    add(UInt64(truncatingIfNeeded: status.st_dev))
    add(UInt64(truncatingIfNeeded: status.st_ino))
    add(UInt64(truncatingIfNeeded: status.st_size))
    add(UInt64(truncatingIfNeeded: status.st_ctim.tv_sec))
    add(UInt64(truncatingIfNeeded: status.st_ctim.tv_nsec))
  }
}

/// The names under a tz database's directory that may be zones, and its state.
struct TimeZoneTree {
  struct FileID: Hashable {
    let device: UInt64
    let inode: UInt64
  }

  static let sourceName = "tzdata.zi"
  static let versionName = "+VERSION"

  /// Top-level names that lead to zones and are none: copies of the database under other rules,
  /// the host's own zone, and the zone that means "not set".
  private static let excluded: Set<String> = [
    "posix", "right", "localtime", "posixrules", "Factory", versionName,
  ]

  /// Names as in documents, in order of the walk.
  private(set) var files: [(name: String, id: FileID)] = []
  private(set) var fingerprint = TimeZoneFingerprint()

  init(_ path: String) throws(TimeZoneDatabaseError) {
    for name in [Self.sourceName, Self.versionName] {
      var status = stat()
      if stat(path + "/" + name, &status) == 0 { fingerprint.add(status) }
    }
    try walk(path, prefix: "")
  }

  private mutating func walk(_ root: String, prefix: String) throws(TimeZoneDatabaseError) {
    let directory = prefix.isEmpty ? root : root + "/" + prefix.dropLast()
    for entry in try Self.entries(directory) {
      let name = prefix + entry
      var copy = name
      // Keeps out `.` and `..`, tables, and a package manager's half-made files.
      guard copy.withUTF8({ ZoneName.isWellFormed(UnsafeRawBufferPointer($0)) }),
        !(prefix.isEmpty && Self.excluded.contains(entry))
      else { continue }

      let file = root + "/" + name
      var status = stat()
      var link = stat()
      guard lstat(file, &link) == 0 else { throw Self.error(file) }
      // Links to files are zones by another name; one that leads nowhere is none.
      guard stat(file, &status) == 0 else { continue }
      fingerprint.add(name)
      fingerprint.add(link)
      fingerprint.add(status)
      switch status.st_mode & S_IFMT {
      case S_IFREG:
        files.append(
          (name, FileID(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))))
      case S_IFDIR where link.st_mode & S_IFMT == S_IFDIR:
        // Not through links: a link to a directory above would never end.
        try walk(root, prefix: name + "/")
      default: continue
      }
    }
  }

  /// Sorted: the order on disk is no property of the database.
  private static func entries(_ path: String) throws(TimeZoneDatabaseError) -> [String] {
    guard let directory = opendir(path) else { throw error(path) }
    defer { closedir(directory) }
    var names: [String] = []
    errno = 0
    while let entry = readdir(directory) {
      names.append(
        withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        })
      errno = 0
    }
    if errno != 0 { throw error(path) }
    return names.sorted()
  }

  static func error(_ path: String) -> TimeZoneDatabaseError {
    TimeZoneDatabaseError(path: path, reason: String(cString: strerror(errno)))
  }
}

/// Reads a file that is known to be small.
enum SmallFile {
  /// The largest zone file of 2026 has under 4 kB.
  static let bytesMax = 1 << 20

  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// At most this many bytes from the start; by default enough to see that it is too large.
  static func read(
    _ path: String, prefixBytes limit: Int = bytesMax + 1
  ) throws(TimeZoneDatabaseError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw TimeZoneTree.error(path) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: min(limit, 8192))
    while bytes.count < limit {
      let count = Glibc.read(descriptor, &chunk, min(chunk.count, limit - bytes.count))
      if count < 0 {
        if errno == EINTR { continue }
        throw TimeZoneTree.error(path)
      }
      if count == 0 { break }
      bytes.append(contentsOf: chunk.prefix(count))
    }
    return bytes
  }
}
