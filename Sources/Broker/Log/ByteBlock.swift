import Glibc

/// A fixed piece of memory that lives as long as anyone holds it.
///
/// Record data is read from a socket into one block, copied once into a log's block, and sent from
/// there: a fetch answer holds the block, so a segment may be deleted while it is being sent.
public final class ByteBlock {
  let base: UnsafeMutableRawPointer
  let capacity: Int

  init(capacity: Int) {
    self.capacity = capacity
    // Large blocks are filled once and kept: with huge pages the kernel is asked for memory a few
    // hundred times a gigabyte, not a quarter of a million times.
    let hugePage = 2 << 20
    let isLarge = capacity >= hugePage
    base = UnsafeMutableRawPointer.allocate(
      byteCount: max(capacity, 1), alignment: isLarge ? hugePage : 16)
    if isLarge { madvise(base, capacity, Int32(MADV_HUGEPAGE)) }
  }

  deinit {
    base.deallocate()
  }
}

/// Some bytes of a block.
public struct ByteSlice {
  let block: ByteBlock
  let offset: Int
  public let count: Int

  init(block: ByteBlock, offset: Int, count: Int) {
    precondition(offset >= 0 && count >= 0 && offset + count <= block.capacity)
    self.block = block
    self.offset = offset
    self.count = count
  }

  /// A slice that owns a copy of `bytes`.
  public init(_ bytes: [UInt8]) {
    let block = ByteBlock(capacity: bytes.count)
    bytes.withUnsafeBytes {
      block.base.copyMemory(from: $0.baseAddress ?? $0.empty, byteCount: $0.count)
    }
    self.init(block: block, offset: 0, count: bytes.count)
  }

  var start: UnsafeMutableRawPointer { block.base + offset }

  /// The bytes; valid while this slice's block is held.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

  public var array: [UInt8] { [UInt8](bytes) }

  func slice(from: Int, count: Int) -> ByteSlice {
    precondition(from >= 0 && from + count <= self.count)
    return ByteSlice(block: block, offset: offset + from, count: count)
  }
}

extension UnsafeRawBufferPointer {
  /// Somewhere to point for a copy of nothing.
  fileprivate var empty: UnsafeRawPointer { UnsafeRawPointer(bitPattern: 16)! }
}

extension UnsafeRawPointer {
  /// The big-endian integer at a byte offset, wherever it is aligned.
  @inline(__always)
  func big<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as: T.Type = T.self) -> T {
    T(bigEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
  }
}

extension UnsafeMutableRawPointer {
  @inline(__always)
  func setBig<T: FixedWidthInteger & BitwiseCopyable>(_ value: T, at offset: Int) {
    storeBytes(of: value.bigEndian, toByteOffset: offset, as: T.self)
  }
}
