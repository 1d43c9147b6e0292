import CBroker

/// Makes record batches: for control markers, for compaction, and for clients in the same process.
public struct BatchBuilder {
  public var producerId: Int64 = -1
  public var producerEpoch: Int16 = -1
  public var baseSequence: Int32 = -1
  public var isTransactional = false
  public var isControl = false
  public var compression = Compression.none
  /// Bits beside those: log append time (0x8), delete horizon (0x40).
  var extraAttributes: Int16 = 0

  public init() {}

  /// One batch. Records take consecutive offsets from the first one's on, unless they are given
  /// `sparse`: then their own offsets are kept, as after a compaction, with the batch reaching to
  /// `lastOffset`. Compression other than none and lz4 traps.
  public func build(
    _ records: [Record], sparse: Bool = false, baseOffset: Int64? = nil, lastOffset: Int64? = nil,
    baseTimestampMs: Int64? = nil, maxTimestampMs: Int64? = nil
  ) -> [UInt8] {
    let base = baseOffset ?? (sparse ? records.first?.offset ?? 0 : 0)
    let firstTime = baseTimestampMs ?? records.first?.timestampMs ?? -1
    let maxTime = maxTimestampMs ?? records.map(\.timestampMs).max() ?? -1
    var body: [UInt8] = []
    for (index, record) in records.enumerated() {
      let delta = sparse ? record.offset - base : Int64(index)
      append(record, offsetDelta: delta, timeDelta: record.timestampMs - firstTime, to: &body)
    }
    let last =
      lastOffset ?? (sparse ? records.last?.offset ?? base : base + Int64(records.count - 1))
    return finish(
      body: body, count: records.count, baseOffset: base, lastDelta: Int32(last - base),
      baseTimestampMs: firstTime, maxTimestampMs: maxTime)
  }

  /// Puts a header before a body of records already encoded, compressing it if so set.
  func finish(
    body: [UInt8], count: Int, baseOffset: Int64, lastDelta: Int32, baseTimestampMs: Int64,
    maxTimestampMs: Int64
  ) -> [UInt8] {
    var body = body
    if compression == .lz4, count > 0 {
      body = Self.lz4(body)
    } else {
      precondition(compression == .none || count == 0, "only none and lz4 can be built")
    }
    var batch = [UInt8](repeating: 0, count: BatchView.headerSize)
    batch.append(contentsOf: body)
    batch.withUnsafeMutableBytes { bytes in
      let p = bytes.baseAddress!
      p.setBig(baseOffset, at: 0)
      p.setBig(Int32(bytes.count - BatchView.prefixSize), at: 8)
      p.setBig(Int32(0), at: 12)
      p.setBig(Int8(2), at: 16)
      // Of no bytes no codec makes anything: said to be compressed, an empty batch stops its readers.
      let codec = count == 0 ? Compression.none : compression
      var attributes = codec.rawValue | extraAttributes
      if isTransactional { attributes |= 0x10 }
      if isControl { attributes |= 0x20 }
      p.setBig(attributes, at: 21)
      p.setBig(lastDelta, at: 23)
      p.setBig(baseTimestampMs, at: 27)
      p.setBig(maxTimestampMs, at: 35)
      p.setBig(producerId, at: 43)
      p.setBig(producerEpoch, at: 51)
      p.setBig(baseSequence, at: 53)
      p.setBig(Int32(count), at: 57)
      p.setBig(BatchView(UnsafeRawPointer(p)).computeChecksum(), at: 17)
    }
    return batch
  }

  /// The record that ends a transaction in a partition: key (version 0, type), value (version 0,
  /// coordinator epoch).
  public static func marker(
    commit: Bool, producerId: Int64, producerEpoch: Int16, timestampMs: Int64
  ) -> [UInt8] {
    var builder = BatchBuilder()
    builder.producerId = producerId
    builder.producerEpoch = producerEpoch
    builder.isTransactional = true
    builder.isControl = true
    let record = Record(
      timestampMs: timestampMs, key: [0, 0, 0, commit ? 1 : 0], value: [0, 0, 0, 0, 0, 0])
    return builder.build([record])
  }

  private static func lz4(_ bytes: [UInt8]) -> [UInt8] {
    let bound = cbroker_lz4_bound(bytes.count)
    return [UInt8](unsafeUninitializedCapacity: bound) { out, count in
      let written = cbroker_lz4_compress(bytes, bytes.count, out.baseAddress, bound)
      precondition(written >= 0, "lz4 fits in its own bound")
      count = Int(written)
    }
  }

  private func append(
    _ record: Record, offsetDelta: Int64, timeDelta: Int64, to body: inout [UInt8]
  ) {
    var one: [UInt8] = [0]
    Self.varint(timeDelta, to: &one)
    Self.varint(offsetDelta, to: &one)
    Self.field(record.key, to: &one)
    Self.field(record.value, to: &one)
    Self.varint(Int64(record.headers.count), to: &one)
    for header in record.headers {
      Self.field([UInt8](header.name.utf8), to: &one)
      Self.field(header.value, to: &one)
    }
    Self.varint(Int64(one.count), to: &body)
    body.append(contentsOf: one)
  }

  private static func field(_ bytes: [UInt8]?, to out: inout [UInt8]) {
    varint(Int64(bytes?.count ?? -1), to: &out)
    if let bytes { out.append(contentsOf: bytes) }
  }

  private static func varint(_ value: Int64, to out: inout [UInt8]) {
    var raw = UInt64(bitPattern: (value << 1) ^ (value >> 63))
    while raw >= 0x80 {
      out.append(UInt8(raw & 0x7F) | 0x80)
      raw >>= 7
    }
    out.append(UInt8(raw))
  }
}
