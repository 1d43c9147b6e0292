import CBroker

/// A view of a record batch of format 2: the header's fields where they lie.
///
/// Offsets within the header: base offset 0, length 8, leader epoch 12, magic 16, checksum 17,
/// attributes 21, last offset delta 23, first timestamp 27, greatest timestamp 35, producer id 43,
/// producer epoch 51, base sequence 53, record count 57, records 61. The checksum covers
/// everything from the attributes on, so that a broker may set offset and leader epoch.
struct BatchView {
  static let headerSize = 61
  /// Bytes before the part that the length field counts.
  static let prefixSize = 12

  let start: UnsafeRawPointer

  init(_ start: UnsafeRawPointer) { self.start = start }

  var baseOffset: Int64 { start.big(0) }
  var totalSize: Int { Int(start.big(8) as Int32) + Self.prefixSize }
  var magic: Int8 { start.big(16) }
  var checksum: UInt32 { start.big(17) }
  var attributes: Int16 { start.big(21) }
  var lastOffsetDelta: Int32 { start.big(23) }
  var baseTimestamp: Int64 { start.big(27) }
  var maxTimestamp: Int64 { start.big(35) }
  var producerId: Int64 { start.big(43) }
  var producerEpoch: Int16 { start.big(51) }
  var baseSequence: Int32 { start.big(53) }
  var recordCount: Int32 { start.big(57) }

  var lastOffset: Int64 { baseOffset + Int64(lastOffsetDelta) }
  var compression: Compression? { Compression(rawValue: attributes & 0x7) }
  var isTransactional: Bool { attributes & 0x10 != 0 }
  var isControl: Bool { attributes & 0x20 != 0 }

  /// Sequences wrap at 2^31 - 1.
  var lastSequence: Int32 {
    guard baseSequence >= 0 else { return -1 }
    let wide = Int64(baseSequence) + Int64(lastOffsetDelta)
    return Int32(wide > Int64(Int32.max) ? wide - Int64(Int32.max) - 1 : wide)
  }

  var records: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: start + Self.headerSize, count: totalSize - Self.headerSize)
  }

  func computeChecksum() -> UInt32 { cbroker_crc32c(start + 21, totalSize - 21) }

  /// The size of a whole, sound batch at the start of `bytes`, or why there is none.
  static func check(_ bytes: UnsafeRawBufferPointer) -> (size: Int, error: ErrorCode) {
    guard bytes.count >= headerSize, let start = bytes.baseAddress else {
      return (0, .corruptMessage)
    }
    let batch = BatchView(start)
    guard batch.magic == 2 else { return (0, .unsupportedForMessageFormat) }
    let length: Int32 = start.big(8)
    guard length >= Int32(headerSize - prefixSize), batch.totalSize <= bytes.count else {
      return (0, .corruptMessage)
    }
    guard batch.computeChecksum() == batch.checksum else { return (0, .corruptMessage) }
    return (batch.totalSize, .none)
  }
}

/// How a batch's records are compressed.
public enum Compression: Int16, Sendable {
  case none = 0
  case gzip = 1
  case snappy = 2
  case lz4 = 3
  case zstd = 4
}
