import Gate
import Glibc
import TestSupport

/// A tz database made for a test, in a directory of its own that goes with it.
final class MadeDatabase {
  private let folder = TemporaryFolder()
  var path: String { folder.path }

  /// Replaces a file the way a package manager does: beside it, then by renaming.
  func replace(_ name: String, _ bytes: [UInt8]) {
    makeDirectories(of: name)
    write(name + ".dpkg-new", bytes)
    precondition(rename("\(path)/\(name).dpkg-new", "\(path)/\(name)") == 0)
  }

  func write(_ name: String, _ bytes: [UInt8]) {
    makeDirectories(of: name)
    let file = fopen("\(path)/\(name)", "wb")!
    precondition(fwrite(bytes, 1, bytes.count, file) == bytes.count)
    fclose(file)
  }

  func write(_ name: String, _ text: String) { write(name, Array(text.utf8)) }

  func link(_ name: String, to target: String) {
    makeDirectories(of: name)
    precondition(symlink(target, "\(path)/\(name)") == 0)
  }

  func remove(_ name: String) { precondition(unlink("\(path)/\(name)") == 0) }

  func removeDirectory(_ name: String) { precondition(rmdir("\(path)/\(name)") == 0) }

  private func makeDirectories(of name: String) {
    var directory = path
    for part in name.split(separator: "/").dropLast() {
      directory += "/" + part
      mkdir(directory, 0o755)
    }
  }

  /// A zone without a table, all in its footer.
  static func zone(_ footer: String) -> [UInt8] {
    let header =
      Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15)
      + [0, 0, 0, 0, 1, 4].flatMap { [0, 0, 0, $0] }
    let block: [UInt8] = [0, 0, 0, 0, 0, 0] + Array("LMT\0".utf8)
    return header + block + header + block + Array("\n\(footer)\n".utf8)
  }
}

extension ZonePublisher {
  func number(_ name: String) -> UInt16 { Array(name.utf8).withUnsafeBytes { intern($0) } }

  func isKnown(_ name: String) -> Bool { current.isKnown(number(name)) }

  func offset(_ name: String, at seconds: Int64 = 1_780_000_000) -> Int32 {
    current.offsetInterval(number(name), atSeconds: seconds).offsetSeconds
  }

  var versionText: String { String(decoding: current.version, as: UTF8.self) }
}
