import Glibc
import Telemetry
import Web

/// Takes over what changes in the tokens file, so that a token that is taken away is of no use a
/// moment later. Lives on the main thread.
final class TokensWatcher {
  private let path: String
  private let keeper: Gatekeeper
  private let log: Logger
  private var seen: Mark?
  private var refusal: String?

  /// What tells one state of the file from another.
  private struct Mark: Equatable {
    var inode: UInt
    var size: Int
    var modifiedS: Int
    var modifiedNs: Int
    var changedS: Int
    var changedNs: Int
  }

  init(_ path: String, _ keeper: Gatekeeper, _ log: Logger) {
    self.path = path
    self.keeper = keeper
    self.log = log
    seen = Self.mark(path)
  }

  /// To be called about once a second.
  func turn() {
    let now = Self.mark(path)
    guard now != seen || refusal != nil else { return }
    do throws(CommandFailure) {
      let table = try TokensFile.read(path)
      keeper.replace(table)
      log.info("Read the tokens file again", ["tokens": .integer(table.entries.count)])
      refusal = nil
      seen = now
    } catch {
      // Half an edit must not lock everybody out: those read before count on.
      if refusal != error.description {
        log.error(
          "The tokens file cannot be read again; the tokens read before count on",
          ["reason": .string(error.description)])
      }
      refusal = error.description
      seen = now
    }
  }

  private static func mark(_ path: String) -> Mark? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return Mark(
      inode: status.st_ino, size: status.st_size, modifiedS: status.st_mtim.tv_sec,
      modifiedNs: status.st_mtim.tv_nsec, changedS: status.st_ctim.tv_sec,
      changedNs: status.st_ctim.tv_nsec)
  }
}
