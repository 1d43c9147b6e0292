import Gate
import Glibc

/// JSON lines into a file through one buffer, with no String made on the way: a million candidates
/// are 400 MB. The first failure is kept, and everything after it is left out.
final class LineWriter {
  let path: String
  private(set) var lines = 0
  private(set) var bytes = 0
  private let descriptor: Int32
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
  private var used = 0
  /// Whether the next member or element is the first of its object or array.
  private var isFirst = true
  private var failure: Int32?

  init(path: String) throws(CommandFailure) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw CommandFailure(
        ExitCode.cannotCreate, "cannot create \(path): \(Process.reason(errno))")
    }
  }

  deinit {
    close(descriptor)
    buffer.deallocate()
  }

  /// Writes what is left. Throws what went wrong here or at any time before.
  func finish() throws(CommandFailure) {
    flush()
    if let failure {
      throw CommandFailure(ExitCode.ioError, "cannot write \(path): \(Process.reason(failure))")
    }
  }

  /// Whether writing on is of any use.
  var isFailed: Bool { failure != nil }

  func endLine() {
    byte(0x0A)
    lines += 1
    isFirst = true
  }

  // MARK: JSON

  func beginObject() { begin(UInt8(ascii: "{")) }
  func endObject() { end(UInt8(ascii: "}")) }
  func beginArray() { begin(UInt8(ascii: "[")) }
  func endArray() { end(UInt8(ascii: "]")) }

  func key(_ name: StaticString) {
    separate()
    byte(0x22)
    raw(name)
    byte(0x22)
    byte(UInt8(ascii: ":"))
    // What follows is the member's value and no element of its own.
    isFirst = true
  }

  /// Text that needs no escape.
  func string(_ text: StaticString) {
    separate()
    byte(0x22)
    raw(text)
    byte(0x22)
  }

  func string(_ text: [UInt8]) {
    separate()
    byte(0x22)
    text.withUnsafeBytes { raw($0) }
    byte(0x22)
  }

  func integer(_ value: Int) {
    separate()
    digits(value)
  }

  /// `true`, `false` or `null`.
  func literal(_ text: StaticString) {
    separate()
    raw(text)
  }

  /// An instant as text: UTC, milliseconds.
  func instant(_ ms: Int64) {
    separate()
    reserve(26)
    let at = buffer.baseAddress! + used
    at.storeBytes(of: 0x22, as: UInt8.self)
    Instant.write(ms, to: (at + 1).assumingMemoryBound(to: UInt8.self))
    (at + 25).storeBytes(of: 0x22, as: UInt8.self)
    used += 26
  }

  /// A string put together from the pieces that `body` writes.
  func pieces(_ body: () -> Void) {
    separate()
    byte(0x22)
    body()
    byte(0x22)
  }

  private func begin(_ bracket: UInt8) {
    separate()
    byte(bracket)
    isFirst = true
  }

  private func end(_ bracket: UInt8) {
    byte(bracket)
    isFirst = false
  }

  private func separate() {
    if !isFirst { byte(UInt8(ascii: ",")) }
    isFirst = false
  }

  // MARK: Bytes

  func raw(_ text: StaticString) {
    raw(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  func raw(_ text: UnsafeRawBufferPointer) {
    if text.count > buffer.count {
      flush()
      write(text)
      return
    }
    reserve(text.count)
    (buffer.baseAddress! + used).copyMemory(from: text.baseAddress!, byteCount: text.count)
    used += text.count
  }

  func byte(_ value: UInt8) {
    reserve(1)
    buffer[used] = value
    used += 1
  }

  func digits(_ value: Int) {
    precondition(value >= 0, "a workload has no negative numbers")
    var divisor = 1
    while value / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      byte(0x30 + UInt8(value / divisor % 10))
      divisor /= 10
    }
  }

  /// `count` hexadecimal digits, the lowest of `value`.
  func hex(_ value: UInt64, count: Int) {
    for i in stride(from: count - 1, through: 0, by: -1) {
      let digit = UInt8(value >> UInt64(4 * i) & 15)
      byte(digit < 10 ? 0x30 + digit : 0x57 + digit)
    }
  }

  private func reserve(_ count: Int) {
    if used + count > buffer.count { flush() }
  }

  private func flush() {
    write(UnsafeRawBufferPointer(rebasing: buffer[..<used]))
    used = 0
  }

  private func write(_ text: UnsafeRawBufferPointer) {
    bytes += text.count
    if failure == nil { failure = FileIO.writeAll(text, to: descriptor) }
  }
}
