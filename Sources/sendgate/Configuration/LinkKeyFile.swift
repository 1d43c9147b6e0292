import CCrypto
import Gate
import Glibc
import Telemetry

/// The keys of signed links as they stand in a file, readable by its owner alone: who has them can
/// unsubscribe anybody. One line says which key signs, one more for each key:
///
///     signing 2
///     key 1 2026-11-30T14:00:00.000Z 64 hexadecimal digits
///     key 2 2027-02-28T09:00:00.000Z 64 hexadecimal digits
struct LinkKeyFile: Equatable {
  struct Key: Equatable {
    var id: UInt16
    /// For people; not looked at.
    var madeAt: String
    var secret: [UInt8]
  }

  static let keysMax = 64
  private static let bytesMax = 16_384

  private(set) var signingID: UInt16
  private(set) var all: [Key]

  /// What signs and verifies with them.
  var keys: LinkKeys {
    LinkKeys(
      secrets: Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0.secret) }),
      signingID: signingID)
  }

  // MARK: Changes

  /// One key, which signs.
  init(nowMs: Int64) throws(CommandFailure) {
    signingID = 1
    all = [try Self.fresh(id: 1, nowMs: nowMs)]
  }

  /// Adds a key that does not sign yet, and returns its id: whoever verifies must know it first.
  mutating func add(nowMs: Int64) throws(CommandFailure) -> UInt16 {
    let last = all.map(\.id).max()!
    guard all.count < Self.keysMax, last < UInt16.max else {
      throw CommandFailure(
        ExitCode.badData, "there are \(all.count) keys up to id \(last): remove old ones first")
    }
    all.append(try Self.fresh(id: last + 1, nowMs: nowMs))
    return last + 1
  }

  mutating func sign(with id: UInt16) throws(CommandFailure) {
    guard all.contains(where: { $0.id == id }) else { throw Self.missing(id) }
    signingID = id
  }

  mutating func remove(_ id: UInt16) throws(CommandFailure) {
    guard all.contains(where: { $0.id == id }) else { throw Self.missing(id) }
    guard id != signingID else {
      throw CommandFailure(
        ExitCode.badData, "key \(id) signs: let another one sign first (link-key sign --id N)")
    }
    all.removeAll { $0.id == id }
  }

  private static func missing(_ id: UInt16) -> CommandFailure {
    CommandFailure(ExitCode.badData, "there is no key \(id)")
  }

  private static func fresh(id: UInt16, nowMs: Int64) throws(CommandFailure) -> Key {
    var secret = [UInt8](repeating: 0, count: LinkKeys.secretBytes)
    guard cc_random(&secret, secret.count) == 0 else {
      throw CommandFailure(ExitCode.software, "the system's random generator failed")
    }
    return Key(id: id, madeAt: RFC3339.text(ms: nowMs), secret: secret)
  }

  // MARK: Reading

  static func read(_ path: String) throws(CommandFailure) -> LinkKeyFile {
    guard access(path, F_OK) == 0 else {
      throw CommandFailure(
        ExitCode.noInput,
        "cannot open \(path): \(Process.reason(errno)); `sendgate link-key new --file \(path)`"
          + " makes one")
    }
    let bytes = try FileIO.read(path, bytesMax: bytesMax)
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & 0o077 == 0 else {
      throw CommandFailure(
        ExitCode.configuration,
        "the key file \(path) is open to others than its owner: chmod 600 it")
    }
    return try LinkKeyFile(text: bytes, name: path)
  }

  /// What is wrong is told by line and never quotes it: the line may hold a key.
  init(text: [UInt8], name: String) throws(CommandFailure) {
    var signing: UInt16?
    var keys: [Key] = []
    func wrong(_ line: Int, _ why: String) -> CommandFailure {
      CommandFailure(ExitCode.configuration, "line \(line) of \(name): \(why)")
    }
    let lines = text.split(separator: 0x0A, omittingEmptySubsequences: false)
    for (i, bytes) in lines.enumerated() where !bytes.isEmpty && bytes.first != UInt8(ascii: "#") {
      let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
      switch words.first {
      case "signing" where words.count == 2 && signing == nil:
        signing = Self.id(words[1])
        if signing == nil { throw wrong(i + 1, "wants the id of a key, 1 to 65535") }
      case "key" where words.count == 4:
        guard let id = Self.id(words[1]), words[3].utf8.count == 2 * LinkKeys.secretBytes,
          let secret = Hex.bytes(words[3])
        else {
          throw wrong(i + 1, "wants `key ID INSTANT` and 64 hexadecimal digits")
        }
        guard !keys.contains(where: { $0.id == id }) else { throw wrong(i + 1, "key \(id) again") }
        keys.append(Key(id: id, madeAt: String(words[2]), secret: secret))
      default: throw wrong(i + 1, "wants one `signing ID`, and `key ID INSTANT SECRET`")
      }
    }
    guard let signing, keys.contains(where: { $0.id == signing }), keys.count <= Self.keysMax else {
      throw CommandFailure(
        ExitCode.configuration,
        "\(name): no line says which of its keys signs, or there are more than \(Self.keysMax)")
    }
    signingID = signing
    all = keys
  }

  private static func id(_ text: Substring) -> UInt16? {
    guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
    return UInt16(text).flatMap { $0 > 0 ? $0 : nil }
  }

  // MARK: Writing

  var text: String {
    let lines = all.map { key in
      "key \(key.id) \(key.madeAt) \(Hex.text(key.secret))\n"
    }
    return "# Keys of sendgate's signed links. Who has them can unsubscribe anybody.\n"
      + "signing \(signingID)\n" + lines.joined()
  }

  /// Whole or not at all, also in a crash: a file with half a key would stop every gate at its start.
  func write(_ path: String) throws(CommandFailure) {
    let beside = path + ".new"
    let descriptor = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let hint = errno == EEXIST ? "; another change is under way, or was cut off: remove it" : ""
      throw CommandFailure(
        ExitCode.cannotCreate, "cannot create \(beside): \(Process.reason(errno))\(hint)")
    }
    var failure = Array(text.utf8).withUnsafeBytes { FileIO.writeAll($0, to: descriptor) }
    if failure == nil && fsync(descriptor) != 0 { failure = errno }
    if close(descriptor) != 0 && failure == nil { failure = errno }
    if failure == nil && rename(beside, path) != 0 { failure = errno }
    guard let failure else { return Self.syncFolder(of: path) }
    unlink(beside)
    throw CommandFailure(ExitCode.ioError, "cannot write \(path): \(Process.reason(failure))")
  }

  /// So that the name survives a crash too; what cannot be synced is there all the same.
  private static func syncFolder(of path: String) {
    let folder = path.contains("/") ? String(path[..<path.lastIndex(of: "/")!]) : "."
    let descriptor = open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    _ = fsync(descriptor)
    close(descriptor)
  }
}
