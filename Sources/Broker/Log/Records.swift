import CBroker

/// One record, with its offset and time made absolute.
public struct Record: Equatable, Sendable {
  public var offset: Int64
  public var timestampMs: Int64
  public var key: [UInt8]?
  public var value: [UInt8]?
  public var headers: [Header]

  public struct Header: Equatable, Sendable {
    public var name: String
    public var value: [UInt8]?

    public init(name: String, value: [UInt8]?) {
      self.name = name
      self.value = value
    }
  }

  public init(
    offset: Int64 = 0, timestampMs: Int64 = 0, key: [UInt8]? = nil, value: [UInt8]? = nil,
    headers: [Header] = []
  ) {
    self.offset = offset
    self.timestampMs = timestampMs
    self.key = key
    self.value = value
    self.headers = headers
  }
}

/// Walks the records of a batch body (uncompressed) without copying them.
struct RecordCursor {
  private let bytes: UnsafeRawBufferPointer
  private var at = 0

  /// The current record, as ranges into the body.
  private(set) var whole = 0..<0
  private(set) var timestampDelta: Int64 = 0
  private(set) var offsetDelta: Int64 = 0
  private(set) var key: Range<Int>?
  private(set) var value: Range<Int>?
  private(set) var headers = 0..<0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// Moves to the next record; false at the end, nil when the bytes are no records.
  mutating func next() -> Bool? {
    guard at < bytes.count else { return false }
    let begin = at
    guard let length = varint(), length >= 0, length <= bytes.count - at else { return nil }
    let end = at + Int(length)
    at += 1
    guard at <= end, let time = varint(), let offset = varint(), let key = field(end),
      let value = field(end), at <= end
    else { return nil }
    whole = begin..<end
    timestampDelta = time
    offsetDelta = offset
    self.key = key.0
    self.value = value.0
    headers = at..<end
    at = end
    return true
  }

  /// A field with its length before it; the inner nil is a null.
  private mutating func field(_ end: Int) -> (Range<Int>?, Void)? {
    guard let length = varint() else { return nil }
    if length < 0 { return (nil, ()) }
    guard length <= end - at else { return nil }
    defer { at += Int(length) }
    return (at..<at + Int(length), ())
  }

  private mutating func varint() -> Int64? {
    var raw: UInt64 = 0
    var shift: UInt64 = 0
    while at < bytes.count, shift < 64 {
      let byte = bytes[at]
      at += 1
      raw |= UInt64(byte & 0x7F) << shift
      if byte & 0x80 == 0 { return Int64(raw >> 1) ^ -Int64(raw & 1) }
      shift += 7
    }
    return nil
  }

  func decodeHeaders() -> [Record.Header] {
    var inner = RecordCursor(UnsafeRawBufferPointer(rebasing: bytes[headers]))
    guard let count = inner.varint(), count > 0 else { return [] }
    var result: [Record.Header] = []
    for _ in 0..<count {
      guard let name = inner.field(inner.bytes.count)?.0,
        let value = inner.field(inner.bytes.count)
      else { return result }
      result.append(
        Record.Header(
          name: String(decoding: inner.bytes[name], as: UTF8.self),
          value: value.0.map { [UInt8](inner.bytes[$0]) }))
    }
    return result
  }
}

extension BatchView {
  /// Gives the records' bytes, decompressed where this broker can: none and lz4. Nil for the other
  /// kinds, and for an lz4 frame that is broken.
  func withPlainRecords<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
    switch compression {
    case Compression.none?: return body(records)
    case .lz4?:
      // The frame does not have to tell its content's size, so the room grows until it fits.
      var capacity = max(records.count * 4, 4096)
      while capacity <= 1 << 30 {
        let block = ByteBlock(capacity: capacity)
        let count = cbroker_lz4_decompress(
          records.baseAddress, records.count, block.base, capacity)
        if count >= 0 { return body(UnsafeRawBufferPointer(start: block.base, count: Int(count))) }
        if count == -1 { return nil }
        capacity *= 4
      }
      return nil
    default: return nil
    }
  }

  /// The batch's records as values; nil when they cannot be read here.
  func decodeRecords() -> [Record]? {
    withPlainRecords { bytes -> [Record]? in
      var cursor = RecordCursor(bytes)
      var result: [Record] = []
      while let more = cursor.next() {
        guard more else { return result }
        result.append(
          Record(
            offset: baseOffset + cursor.offsetDelta,
            timestampMs: attributes & 0x8 != 0
              ? maxTimestamp : baseTimestamp + cursor.timestampDelta,
            key: cursor.key.map { [UInt8](bytes[$0]) },
            value: cursor.value.map { [UInt8](bytes[$0]) },
            headers: cursor.decodeHeaders()))
      }
      return nil
    } ?? nil
  }
}
