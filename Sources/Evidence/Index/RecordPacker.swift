import CLZ4

/// A record as it is kept.
struct PackedRecord: Sendable, Equatable {
  /// 0: as it came. Else LZ4 with the dictionary of this number.
  var packing: Int64
  /// The record's own length.
  var plainBytes: Int64
  var bytes: [UInt8]
}

/// Packs records: LZ4 with a dictionary of what all of them say, where that saves something. One thread
/// makes every call.
struct RecordPacker: ~Copyable {
  private let dictionary: OpaquePointer
  private var room: UnsafeMutableRawBufferPointer = .allocate(byteCount: 16_384, alignment: 1)

  /// Below, there is nothing to save.
  private static let bytesMin = 32

  init() {
    let text = RecordDictionary.newest.text
    guard let made = clz4_dictionary_new(text.utf8Start, Int32(text.utf8CodeUnitCount)) else {
      preconditionFailure("out of memory")
    }
    dictionary = made
  }

  deinit {
    clz4_dictionary_free(dictionary)
    room.deallocate()
  }

  mutating func pack(_ record: UnsafeRawBufferPointer) -> PackedRecord {
    guard let start = record.baseAddress, record.count >= Self.bytesMin,
      let length = Int32(exactly: record.count), clz4_bound(length) > 0
    else { return Self.plain(record) }
    let bound = Int(clz4_bound(length))
    if room.count < bound {
      room.deallocate()
      room = .allocate(byteCount: bound, alignment: 1)
    }
    let size = Int(
      clz4_compress_with(dictionary, start, length, room.baseAddress, Int32(room.count)))
    guard size > 0, size < record.count else { return Self.plain(record) }
    return PackedRecord(
      packing: RecordDictionary.newest.number, plainBytes: Int64(record.count),
      bytes: Array(room[..<size]))
  }

  private static func plain(_ record: UnsafeRawBufferPointer) -> PackedRecord {
    PackedRecord(packing: 0, plainBytes: Int64(record.count), bytes: Array(record))
  }

  /// Nil where it is broken, or a newer release packed it.
  static func unpack(_ packed: PackedRecord) -> [UInt8]? {
    if packed.packing == 0 { return packed.bytes }
    guard let text = RecordDictionary.all.first(where: { $0.number == packed.packing })?.text,
      let length = Int32(exactly: packed.plainBytes), length >= 0
    else { return nil }
    var isWhole = false
    let plain = [UInt8](unsafeUninitializedCapacity: Int(length)) { out, count in
      let size = packed.bytes.withUnsafeBytes {
        clz4_decompress_with(
          text.utf8Start, Int32(text.utf8CodeUnitCount), $0.baseAddress, Int32($0.count),
          out.baseAddress, length)
      }
      count = max(0, Int(size))
      isWhole = size == length
    }
    return isWhole ? plain : nil
  }
}
