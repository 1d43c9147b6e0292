import Glibc

/// The key of the preference table's hash, kept in a file where tables of several runs must agree (a
/// snapshot). 32 hexadecimal digits, readable by its owner alone: who knows the key can make user ids
/// that all fall into one slot.
enum HashKeyFile {
  /// Reads the key, or makes a file with a fresh one where there is none.
  static func load(_ path: String) throws(CommandFailure) -> (UInt64, UInt64) {
    let key = random()
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor < 0 && errno == EEXIST { return try read(path) }
    guard descriptor >= 0 else {
      throw CommandFailure(
        ExitCode.cannotCreate, "cannot create hash.key.file \(path): \(Process.reason(errno))")
    }
    let text = Array((hex(key.0) + hex(key.1) + "\n").utf8)
    var failure = text.withUnsafeBytes { FileIO.writeAll($0, to: descriptor) }
    // On disk before it is used: a key lost in a crash makes every snapshot hashed by it useless.
    if failure == nil && fsync(descriptor) != 0 { failure = errno }
    if close(descriptor) != 0 && failure == nil { failure = errno }
    if let failure {
      unlink(path)
      throw CommandFailure(
        ExitCode.ioError, "cannot write hash.key.file \(path): \(Process.reason(failure))")
    }
    return key
  }

  /// A key for the life of a process.
  static func random() -> (UInt64, UInt64) {
    // The system's own generator; it cannot fail once the machine has started.
    var generator = SystemRandomNumberGenerator()
    return (generator.next(), generator.next())
  }

  private static func read(_ path: String) throws(CommandFailure) -> (UInt64, UInt64) {
    let bytes = try FileIO.read(path, bytesMax: 64)
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & 0o077 == 0 else {
      throw CommandFailure(
        ExitCode.configuration,
        "hash.key.file \(path) is open to others than its owner: chmod 600 it")
    }
    let digits = String(decoding: bytes.prefix(32), as: UTF8.self)
    let rest = bytes.dropFirst(32)
    guard digits.utf8.count == 32, rest.isEmpty || rest.elementsEqual([0x0A]),
      digits.utf8.allSatisfy({ isHexDigit($0) }),
      let high = UInt64(digits.prefix(16), radix: 16),
      let low = UInt64(digits.suffix(16), radix: 16)
    else {
      throw CommandFailure(
        ExitCode.configuration,
        "hash.key.file \(path) does not hold 32 hexadecimal digits; remove it to have one made")
    }
    return (high, low)
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) || (0x41...0x46).contains(byte)
  }

  private static func hex(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
