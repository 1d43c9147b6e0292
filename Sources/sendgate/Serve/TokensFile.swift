import Glibc
import Web

/// The file with the hashes of tokens. What stands in it is no secret, but who may write it lets
/// anybody in: so nobody may but its owner.
enum TokensFile {
  static let bytesMax = 1 << 20

  static func read(_ path: String) throws(CommandFailure) -> TokenTable {
    let bytes = try FileIO.read(path, bytesMax: bytesMax)
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & 0o022 == 0 else {
      throw CommandFailure(
        ExitCode.configuration,
        "the tokens file \(path) can be written by others than its owner: chmod go-w it")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandFailure(ExitCode.configuration, "the tokens file \(path) is not UTF-8 text")
    }
    do throws(TokenTable.Fault) {
      return try TokenTable(parsing: text)
    } catch {
      throw CommandFailure(ExitCode.configuration, "the tokens file \(path): \(error)")
    }
  }

  /// Adds a line behind what is there, which must be in order: a token that nobody can use would
  /// look as if it had been made.
  static func append(
    _ line: String, named name: String, to path: String
  ) throws(CommandFailure) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw CommandFailure(
        ExitCode.cannotCreate, "cannot open the tokens file \(path): \(Process.reason(errno))")
    }
    defer { close(descriptor) }
    let table = try read(path)
    if table.entries.contains(where: { $0.id == name }) {
      throw CommandFailure(
        ExitCode.badData, "the tokens file \(path) has a token named \(name) already")
    }
    guard table.entries.count < TokenTable.entriesMax else {
      throw CommandFailure(
        ExitCode.badData, "the tokens file \(path) has \(TokenTable.entriesMax) tokens already")
    }
    // A last line without its end must not join the new one.
    var text = line + "\n"
    let size = lseek(descriptor, 0, SEEK_END)
    var last: UInt8 = 0
    if size > 0, pread(descriptor, &last, 1, size - 1) == 1, last != 0x0A { text = "\n" + text }
    var failure = Array(text.utf8).withUnsafeBytes { FileIO.writeAll($0, to: descriptor) }
    if failure == nil && fsync(descriptor) != 0 { failure = errno }
    if let failure {
      throw CommandFailure(
        ExitCode.ioError, "cannot write the tokens file \(path): \(Process.reason(failure))")
    }
  }
}
