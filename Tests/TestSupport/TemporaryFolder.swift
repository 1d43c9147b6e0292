import Glibc

/// A folder of one test's own, gone with it.
public final class TemporaryFolder {
  public let path: String

  public init() {
    var template = Array("/tmp/sendgate-test-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { preconditionFailure("mkdtemp: errno \(errno)") }
    path = String(cString: made)
  }

  deinit { Self.remove(path) }

  public func file(_ name: String) -> String { "\(path)/\(name)" }

  /// What a link leads to stays: it is nobody's here.
  private static func remove(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFDIR, let folder = opendir(path) else {
      unlink(path)
      return
    }
    var names: [String] = []
    while let entry = readdir(folder) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        })
    }
    closedir(folder)
    for name in names where name != "." && name != ".." { remove("\(path)/\(name)") }
    rmdir(path)
  }
}
