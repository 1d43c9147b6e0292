import CBroker

/// The append-only file of everything but records: length, CRC-32C and entry, again and again.
final class Journal {
  static let file = "journal"

  private let disk: any Disk
  private(set) var size: Int
  /// From this size on it is worth writing anew: when most of it has been said again since.
  private var worthRewriting = 64 << 20

  var isLong: Bool { size > worthRewriting }

  init(disk: any Disk, size: Int) {
    self.disk = disk
    self.size = size
  }

  func write(_ entry: JournalEntry) {
    let bytes = Self.encode(entry)
    bytes.withUnsafeBytes { disk.append(Self.file, $0) }
    size += bytes.count
  }

  /// Puts a journal that says the same, only shorter, in the place of this one.
  func rewrite(_ entries: [JournalEntry]) {
    let bytes = entries.flatMap(Self.encode)
    bytes.withUnsafeBytes { disk.replace(Self.file, [$0]) }
    size = bytes.count
    worthRewriting = max(64 << 20, 2 * size)
  }

  private static func encode(_ entry: JournalEntry) -> [UInt8] {
    var c = Codec(writingVersion: 0, flexible: false)
    do { try entry.encode(&c) } catch { preconditionFailure("writing does not fail: \(error)") }
    var bytes = [UInt8](repeating: 0, count: 8)
    bytes.append(contentsOf: c.out)
    bytes.withUnsafeMutableBytes {
      let p = $0.baseAddress!
      p.setBig(UInt32($0.count - 8), at: 0)
      p.setBig(cbroker_crc32c(p + 8, $0.count - 8), at: 4)
    }
    return bytes
  }

  /// The entries of a journal up to the first that is cut or spoilt, and where that begins.
  static func read(_ bytes: ByteSlice) -> (entries: [JournalEntry], sound: Int) {
    var entries: [JournalEntry] = []
    var at = 0
    while bytes.count - at >= 8 {
      let start = UnsafeRawPointer(bytes.start + at)
      let length = Int(start.big(0) as UInt32)
      guard length <= bytes.count - at - 8, cbroker_crc32c(start + 8, length) == start.big(4) else {
        break
      }
      var c = Codec(
        reading: bytes.slice(from: at + 8, count: length), version: 0, flexible: false)
      guard let entry = try? JournalEntry.decode(&c) else { break }
      entries.append(entry)
      at += 8 + length
    }
    return (entries, at)
  }
}
