import Glibc

/// What the command takes from and gives to the process around it.
enum Process {
  /// The whole environment. Of two entries of one name the first counts, as for `getenv`.
  static func environment() -> [String: String] {
    var found: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
      let parts = String(cString: text).split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 && found[String(parts[0])] == nil {
        found[String(parts[0])] = String(parts[1])
      }
      entry += 1
    }
    return found
  }

  /// This machine's name, or nil where it has none.
  static func hostName() -> String? {
    var name = [UInt8](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return nil }
    let text = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
    return text.isEmpty ? nil : text
  }

  static func print(_ text: String, to descriptor: Int32) {
    // A reader that has gone (`sendgate --help | head -1`) is no error of the command's.
    _ = Array(text.utf8).withUnsafeBytes { FileIO.writeAll($0, to: descriptor) }
  }

  static func reason(_ number: Int32) -> String { String(cString: strerror(number)) }
}

/// Whole files, by the calls of the C library.
enum FileIO {
  /// The whole of a file of at most `bytesMax`.
  static func read(_ path: String, bytesMax: Int) throws(CommandFailure) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CommandFailure(ExitCode.noInput, "cannot open \(path): \(Process.reason(errno))")
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else {
        throw CommandFailure(ExitCode.noInput, "cannot read \(path): \(Process.reason(errno))")
      }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
      guard bytes.count <= bytesMax else {
        throw CommandFailure(ExitCode.badData, "\(path) is larger than \(bytesMax) bytes")
      }
    }
  }

  /// Nil on success, else the errno.
  static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32? {
    var rest = bytes
    while !rest.isEmpty {
      let written = write(descriptor, rest.baseAddress, rest.count)
      if written < 0 && errno == EINTR { continue }
      guard written >= 0 else { return errno }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
    }
    return nil
  }
}
