/// Why bytes could not be understood. The connection they came by is closed.
public enum WireError: Error, Equatable {
  case truncated
  case badLength(Int)
  case badText
  case unknownApi(Int16)
  case unsupportedVersion(api: Int16, version: Int16)
}

/// Reads or writes one message, field by field.
///
/// A message lists its fields once, in order, with the versions that carry them; the same list
/// decodes and encodes. So a layout is written in one place and a round trip tests it.
///
/// In flexible versions (KIP-482) lengths are unsigned varints plus one and each structure ends
/// with tagged fields, none of which this broker needs: they are skipped, and written as none.
public struct Codec {
  let version: Int16
  let flexible: Bool
  let reading: Bool

  private let block: ByteBlock?
  private var position: Int
  private let end: Int

  /// What has been written, less the record data that is spliced in between.
  private(set) var out: [UInt8] = []
  /// Record data to be sent from where it lies, each before `out[at]`.
  private(set) var splices: [(at: Int, slice: ByteSlice)] = []

  init(reading slice: ByteSlice, version: Int16, flexible: Bool) {
    self.version = version
    self.flexible = flexible
    reading = true
    block = slice.block
    position = slice.offset
    end = slice.offset + slice.count
  }

  init(writingVersion version: Int16, flexible: Bool) {
    self.version = version
    self.flexible = flexible
    reading = false
    block = nil
    position = 0
    end = 0
    out.reserveCapacity(256)
  }

  var remaining: Int { end - position }

  // MARK: Integers

  mutating func int8(_ value: inout Int8) throws(WireError) { try integer(&value) }
  mutating func int16(_ value: inout Int16) throws(WireError) { try integer(&value) }
  mutating func int32(_ value: inout Int32) throws(WireError) { try integer(&value) }
  mutating func int64(_ value: inout Int64) throws(WireError) { try integer(&value) }

  mutating func bool(_ value: inout Bool) throws(WireError) {
    var byte: Int8 = value ? 1 : 0
    try integer(&byte)
    value = byte != 0
  }

  mutating func error(_ value: inout ErrorCode) throws(WireError) {
    var code = value.rawValue
    try integer(&code)
    value = ErrorCode(rawValue: code)
  }

  private mutating func integer<T: FixedWidthInteger & BitwiseCopyable>(
    _ value: inout T
  ) throws(WireError) {
    if reading {
      let at = try take(MemoryLayout<T>.size)
      value = UnsafeRawPointer(block!.base).big(at)
    } else {
      withUnsafeBytes(of: value.bigEndian) { out.append(contentsOf: $0) }
    }
  }

  private mutating func take(_ count: Int) throws(WireError) -> Int {
    guard count >= 0, count <= end - position else { throw .truncated }
    defer { position += count }
    return position
  }

  /// An unsigned varint, as lengths have it in flexible versions.
  private mutating func varint(_ value: inout Int) throws(WireError) {
    if reading {
      var result = 0
      var shift = 0
      while true {
        let byte = block!.base.load(fromByteOffset: try take(1), as: UInt8.self)
        result |= Int(byte & 0x7F) << shift
        if byte & 0x80 == 0 { break }
        shift += 7
        if shift > 28 { throw .badLength(result) }
      }
      value = result
    } else {
      var rest = value
      while rest >= 0x80 {
        out.append(UInt8(rest & 0x7F) | 0x80)
        rest >>= 7
      }
      out.append(UInt8(rest))
    }
  }

  // MARK: Lengths

  /// A length, -1 for null. `wide` lengths take four bytes when not flexible, the others two.
  private mutating func length(_ value: inout Int, wide: Bool) throws(WireError) {
    if flexible {
      var plusOne = value + 1
      try varint(&plusOne)
      value = plusOne - 1
    } else if wide {
      var narrow = Int32(truncatingIfNeeded: value)
      try integer(&narrow)
      value = Int(narrow)
    } else {
      var narrow = Int16(truncatingIfNeeded: value)
      try integer(&narrow)
      value = Int(narrow)
    }
    if value < -1 { throw .badLength(value) }
  }

  // MARK: Text and bytes

  mutating func string(_ value: inout String) throws(WireError) {
    var optional: String? = value
    try optionalString(&optional)
    guard let optional else { throw .badLength(-1) }
    value = optional
  }

  mutating func optionalString(_ value: inout String?) throws(WireError) {
    var count = value?.utf8.count ?? -1
    try length(&count, wide: false)
    if reading {
      value = count < 0 ? nil : try text(count)
    } else if let value {
      out.append(contentsOf: value.utf8)
    }
  }

  /// The client's name in a request header is never compact, whatever the version.
  mutating func headerString(_ value: inout String?) throws(WireError) {
    var count = Int16(truncatingIfNeeded: value?.utf8.count ?? -1)
    try integer(&count)
    if count < -1 { throw .badLength(Int(count)) }
    if reading {
      value = count < 0 ? nil : try text(Int(count))
    } else if let value {
      out.append(contentsOf: value.utf8)
    }
  }

  private mutating func text(_ count: Int) throws(WireError) -> String {
    let at = try take(count)
    let bytes = UnsafeRawBufferPointer(start: block!.base + at, count: count)
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .badText }
    return text
  }

  mutating func bytes(_ value: inout [UInt8]) throws(WireError) {
    var count = value.count
    try length(&count, wide: true)
    if reading {
      // A null is read as none: the fields that use this are not nullable, but clients differ.
      let at = try take(max(count, 0))
      value = [UInt8](UnsafeRawBufferPointer(start: block!.base + at, count: max(count, 0)))
    } else {
      out.append(contentsOf: value)
    }
  }

  /// Record batches: read as one slice of the frame, written as splices without a copy.
  mutating func records(_ value: inout [ByteSlice]?) throws(WireError) {
    var count = value.map { $0.reduce(0) { $0 + $1.count } } ?? -1
    try length(&count, wide: true)
    if reading {
      if count < 0 {
        value = nil
      } else {
        let at = try take(count)
        value = [ByteSlice(block: block!, offset: at, count: count)]
      }
    } else if let value {
      for slice in value where slice.count > 0 { splices.append((out.count, slice)) }
    }
  }

  // MARK: Arrays

  mutating func array<Item: WireStruct>(_ value: inout [Item]) throws(WireError) {
    var optional: [Item]? = value
    value = []
    try optionalArray(&optional)
    value = optional ?? []
  }

  mutating func optionalArray<Item: WireStruct>(_ value: inout [Item]?) throws(WireError) {
    var count = value?.count ?? -1
    try length(&count, wide: true)
    if reading {
      if count < 0 {
        value = nil
        return
      }
      // Every item takes a byte at least, so a count past the frame's end is a lie.
      guard count <= remaining else { throw .badLength(count) }
      var items: [Item] = []
      items.reserveCapacity(min(count, 1024))
      for _ in 0..<count {
        var item = Item()
        try item.code(&self)
        items.append(item)
      }
      value = items
    } else if var items = value {
      for index in items.indices { try items[index].code(&self) }
      value = items
    }
  }

  mutating func int32s(_ value: inout [Int32]) throws(WireError) {
    var count = value.count
    try length(&count, wide: true)
    if reading {
      guard count <= remaining / 4 else { throw .badLength(count) }
      value = []
      for _ in 0..<max(count, 0) {
        var item: Int32 = 0
        try integer(&item)
        value.append(item)
      }
    } else {
      for item in value {
        var item = item
        try integer(&item)
      }
    }
  }

  mutating func strings(_ value: inout [String]) throws(WireError) {
    var optional: [String]? = value
    try optionalStrings(&optional)
    value = optional ?? []
  }

  mutating func optionalStrings(_ value: inout [String]?) throws(WireError) {
    var count = value?.count ?? -1
    try length(&count, wide: true)
    if reading {
      guard count <= remaining else { throw .badLength(count) }
      var items: [String] = []
      for _ in 0..<max(count, 0) {
        var item = ""
        try string(&item)
        items.append(item)
      }
      value = count < 0 ? nil : items
    } else if let value {
      for item in value {
        var item = item
        try string(&item)
      }
    }
  }

  // MARK: Tagged fields

  /// The end of a structure: the tagged fields of flexible versions, skipped and never written.
  mutating func tags() throws(WireError) {
    guard flexible else { return }
    var count = 0
    try varint(&count)
    guard reading else { return }
    for _ in 0..<count {
      var ignored = 0
      try varint(&ignored)
      try varint(&ignored)
      _ = try take(ignored)
    }
  }

  /// Fills in a frame's length, which is known when all is written.
  mutating func setFrameLength() {
    let count = out.count + splices.reduce(0) { $0 + $1.slice.count } - 4
    out.withUnsafeMutableBytes { $0.baseAddress!.setBig(Int32(count), at: 0) }
  }
}

/// A message or a part of one: its fields in order.
public protocol WireStruct {
  init()
  mutating func code(_ c: inout Codec) throws(WireError)
}
