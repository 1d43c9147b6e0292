import Glibc
import Preferences
import Web

/// The files of `serve`, as far as they can be judged without starting it.
enum ServeFiles {
  /// What was found good, a line each. Throws what `serve` would end with.
  static func check(_ configuration: ServeConfiguration) throws(CommandFailure) -> [String] {
    var lines: [String] = []
    let tokens = try TokensFile.read(configuration.tokensFile)
    lines.append("tokens: \(tokens.entries.count) in \(configuration.tokensFile)")
    if let files = configuration.certificateFiles {
      _ = try files.read()
      lines.append("certificate: \(files.certificate), key \(files.key)")
    }
    if case .sqlite(let path) = configuration.store.database {
      let isThere = try checkDatabase(path)
      lines.append("database: \(path), \(isThere ? "there" : "made by the first start")")
    }
    let scheme = configuration.certificateFiles == nil ? "http" : "https"
    lines.append("service: \(scheme)://\(configuration.address)")
    return lines
  }

  /// Whether it is there. It is not opened: SQLite makes files beside one that it opens, and they would
  /// belong to whoever checks, so that the service could not use its own database any more.
  private static func checkDatabase(_ path: String) throws(CommandFailure) -> Bool {
    func refuse(_ code: Int32, _ why: String) -> CommandFailure {
      CommandFailure(code, "serve.database.file \(path): \(why)")
    }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    guard access(folder, W_OK | X_OK) == 0 else {
      throw refuse(
        ExitCode.cannotCreate,
        "its folder must be writable, for the log that SQLite keeps beside it: "
          + Process.reason(errno))
    }
    guard access(path, F_OK) == 0 else { return false }
    guard access(path, R_OK | W_OK) == 0 else {
      throw refuse(ExitCode.cannotCreate, Process.reason(errno))
    }
    let magic = Array("SQLite format 3\0".utf8)
    let start = try beginning(of: path, bytes: magic.count)
    // One that was never written is an empty file.
    guard start.isEmpty || start == magic else {
      throw refuse(ExitCode.badData, "this is no SQLite database")
    }
    return true
  }

  private static func beginning(of path: String, bytes: Int) throws(CommandFailure) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CommandFailure(ExitCode.noInput, "cannot open \(path): \(Process.reason(errno))")
    }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: bytes)
    let count = read(descriptor, &buffer, bytes)
    guard count >= 0 else {
      throw CommandFailure(ExitCode.noInput, "cannot read \(path): \(Process.reason(errno))")
    }
    return Array(buffer.prefix(count))
  }
}
