import Glibc

/// Lines of a file as bytes: no text encoding is asked for, since what is in them is the reader's
/// to judge. The last line needs no newline; an empty line is a line.
struct LineReader: ~Copyable {
  private let descriptor: Int32
  private let name: String
  private let closesAtEnd: Bool
  private var buffer: UnsafeMutableRawBufferPointer
  private var start = 0
  private var end = 0
  private var searched = 0
  private var isAtEnd = false

  init(descriptor: Int32, name: String, closesAtEnd: Bool = false) {
    self.descriptor = descriptor
    self.name = name
    self.closesAtEnd = closesAtEnd
    buffer = .allocate(byteCount: 1 << 18, alignment: 16)
  }

  init(path: String) throws(CommandFailure) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CommandFailure(ExitCode.noInput, "cannot open \(path): \(Process.reason(errno))")
    }
    self.init(descriptor: descriptor, name: path, closesAtEnd: true)
  }

  deinit {
    buffer.deallocate()
    if closesAtEnd { close(descriptor) }
  }

  /// The next line without its newline; it lives until the next call. Nil at the end.
  mutating func next() throws(CommandFailure) -> UnsafeRawBufferPointer? {
    while true {
      if let newline = memchr(buffer.baseAddress! + searched, 0x0A, end - searched) {
        let at = UnsafeRawPointer(newline) - UnsafeRawPointer(buffer.baseAddress!)
        defer {
          start = at + 1
          searched = start
        }
        return UnsafeRawBufferPointer(rebasing: buffer[start..<at])
      }
      searched = end
      if isAtEnd {
        guard start < end else { return nil }
        defer { start = end }
        return UnsafeRawBufferPointer(rebasing: buffer[start..<end])
      }
      try fill()
    }
  }

  private mutating func fill() throws(CommandFailure) {
    if start > 0 {
      memmove(buffer.baseAddress!, buffer.baseAddress! + start, end - start)
      searched -= start
      end -= start
      start = 0
    }
    if end == buffer.count {
      let larger = UnsafeMutableRawBufferPointer.allocate(
        byteCount: buffer.count * 2, alignment: 16)
      memcpy(larger.baseAddress!, buffer.baseAddress!, end)
      buffer.deallocate()
      buffer = larger
    }
    while true {
      let count = read(descriptor, buffer.baseAddress! + end, buffer.count - end)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw CommandFailure(ExitCode.ioError, "cannot read \(name): \(Process.reason(errno))")
      }
      end += count
      isAtEnd = count == 0
      return
    }
  }

  static func forEachLine(
    of path: String, _ body: (UnsafeRawBufferPointer) throws(CommandFailure) -> Void
  ) throws(CommandFailure) {
    var lines = try LineReader(path: path)
    while let line = try lines.next() { try body(line) }
  }
}

/// Bytes on their way to a descriptor, written in large pieces.
struct OutputBuffer: ~Copyable {
  private let descriptor: Int32
  private var bytes: [UInt8] = []
  private static let flushFrom = 1 << 18

  init(descriptor: Int32) { self.descriptor = descriptor }

  mutating func line(_ line: UnsafeRawBufferPointer) throws(CommandFailure) {
    bytes.append(contentsOf: line)
    bytes.append(0x0A)
    if bytes.count >= Self.flushFrom { try flush() }
  }

  mutating func flush() throws(CommandFailure) {
    if let error = bytes.withUnsafeBytes({ FileIO.writeAll($0, to: descriptor) }) {
      throw CommandFailure(ExitCode.ioError, "cannot write: \(Process.reason(error))")
    }
    bytes.removeAll(keepingCapacity: true)
  }
}
