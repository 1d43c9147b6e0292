/// Where the core keeps what must outlive it. A pure core gets one handed in: none, one in memory
/// that a test tears, or a folder.
///
/// Each call has taken effect when it returns: a process killed after it finds it on the next
/// start. An implementation that cannot promise that ends the process.
public protocol Disk: AnyObject {
  func append(_ file: String, _ bytes: UnsafeRawBufferPointer)
  /// Puts new content in the place of a file, at once or not at all.
  func replace(_ file: String, _ bytes: [UnsafeRawBufferPointer])
  func truncate(_ file: String, to size: Int)
  func remove(_ file: String)
  func files() -> [String]
  func read(_ file: String) -> ByteSlice
}

/// A disk in memory, for tests of recovery: its content may be copied, cut and spoilt.
public final class MemoryDisk: Disk {
  public var content: [String: [UInt8]]

  public init(_ content: [String: [UInt8]] = [:]) { self.content = content }

  public func append(_ file: String, _ bytes: UnsafeRawBufferPointer) {
    content[file, default: []].append(contentsOf: bytes)
  }

  public func replace(_ file: String, _ bytes: [UnsafeRawBufferPointer]) {
    content[file] = bytes.flatMap { [UInt8]($0) }
  }

  public func truncate(_ file: String, to size: Int) {
    content[file]?.removeSubrange(size...)
  }

  public func remove(_ file: String) { content[file] = nil }
  public func files() -> [String] { content.keys.sorted() }
  public func read(_ file: String) -> ByteSlice { ByteSlice(content[file] ?? []) }
}
