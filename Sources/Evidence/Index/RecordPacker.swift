import CLZ4

/// Records as they are kept: LZ4 where that saves something.
struct RecordPacker: ~Copyable {
  private var room: UnsafeMutableRawBufferPointer = .allocate(byteCount: 16_384, alignment: 1)

  init() {}

  deinit { room.deallocate() }

  /// `plainBytes` is 0 where they are kept as they came.
  mutating func pack(_ bytes: UnsafeRawBufferPointer) -> (bytes: [UInt8], plainBytes: Int64) {
    guard let start = bytes.baseAddress, bytes.count > 64, let length = Int32(exactly: bytes.count)
    else { return (Array(bytes), 0) }
    let bound = Int(clz4_bound(length))
    if room.count < bound {
      room.deallocate()
      room = .allocate(byteCount: bound, alignment: 1)
    }
    let size = Int(clz4_compress(start, length, room.baseAddress, Int32(room.count)))
    guard size > 0, size < bytes.count - bytes.count / 8 else { return (Array(bytes), 0) }
    return (Array(room[..<size]), Int64(bytes.count))
  }

  /// What was packed; nil where it is broken.
  static func unpack(_ bytes: [UInt8], plainBytes: Int64) -> [UInt8]? {
    guard plainBytes > 0 else { return bytes }
    guard let length = Int32(exactly: plainBytes) else { return nil }
    var isWhole = false
    let plain = [UInt8](unsafeUninitializedCapacity: Int(length)) { out, count in
      let size = bytes.withUnsafeBytes {
        clz4_decompress($0.baseAddress, Int32($0.count), out.baseAddress, length, length)
      }
      count = max(0, Int(size))
      isWhole = size == length
    }
    return isWhole ? plain : nil
  }
}
