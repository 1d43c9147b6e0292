import Glibc

/// The calls to the provider, a line each, appended to a file or written to standard output. The first
/// failure is kept.
final class CallLog {
  private let name: String
  private let descriptor: Int32
  private let closesAtEnd: Bool
  private var bytes: [UInt8] = []
  private static let flushFrom = 1 << 18
  private(set) var failure: CommandFailure?

  /// - Parameter path: nil: nothing is written; `-`: standard output.
  init(path: String?) throws(CommandFailure) {
    name = path == "-" ? "standard output" : path ?? ""
    closesAtEnd = path != nil && path != "-"
    guard let path, path != "-" else {
      descriptor = path == nil ? -1 : STDOUT_FILENO
      return
    }
    descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw CommandFailure(
        ExitCode.cannotCreate, "cannot open \(path): \(Process.reason(errno))")
    }
    endTornLine()
  }

  deinit { if closesAtEnd { close(descriptor) } }

  /// A process that was killed while it wrote leaves part of a line; the next one must not join it.
  private func endTornLine() {
    let size = lseek(descriptor, 0, SEEK_END)
    var last: UInt8 = 0
    guard size > 0, pread(descriptor, &last, 1, size - 1) == 1, last != 0x0A else { return }
    bytes.append(0x0A)
  }

  func append(_ line: String) {
    guard descriptor >= 0 else { return }
    bytes.append(contentsOf: line.utf8)
    bytes.append(0x0A)
    if bytes.count >= Self.flushFrom { flush() }
  }

  /// Hands everything to the system; `failure` says where that did not work.
  func flush() {
    defer { bytes.removeAll(keepingCapacity: true) }
    guard failure == nil, !bytes.isEmpty else { return }
    if let error = bytes.withUnsafeBytes({ FileIO.writeAll($0, to: descriptor) }) {
      failure = CommandFailure(
        ExitCode.ioError, "cannot write \(name): \(Process.reason(error))")
    }
  }
}
