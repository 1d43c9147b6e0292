/// Reads a candidate in one pass over its bytes; total: whatever the bytes are, the answer is a
/// candidate or the reason why it is none, with the ids that could be read on the way.
struct CandidateDecoder: ~Copyable {
  /// Bytes a record may have (decision table, Limits).
  static let recordBytesMax = 65_536
  static let idBytesMax = 128
  static let textBytesMax = 64

  private let indexer = JSONIndexer(capacity: CandidateDecoder.recordBytesMax)
  private let names: MemberNames
  /// Unescaped strings of the candidates of one batch; an unescaped string is never longer.
  private let scratch: UnsafeMutablePointer<UInt8>
  private let scratchBytes: Int
  private var scratchUsed = 0
  private var outsized: [UnsafeMutablePointer<UInt8>] = []

  init(batchRecordsMax: Int, seed: UInt64) {
    names = MemberNames(seed: seed)
    scratchBytes = (batchRecordsMax + 1) * Self.recordBytesMax
    scratch = .allocate(capacity: scratchBytes)
  }

  deinit {
    scratch.deallocate()
    for memory in outsized { memory.deallocate() }
  }

  /// What was decoded before must no longer be used.
  mutating func startBatch() {
    scratchUsed = 0
    freeOutsized()
  }

  private mutating func freeOutsized() {
    for memory in outsized { memory.deallocate() }
    outsized.removeAll(keepingCapacity: true)
  }

  /// - Parameter bytesMax: of a record, at most `recordBytesMax`.
  mutating func decode(_ value: Bytes?, bytesMax: Int) -> Candidate {
    var candidate = Candidate()
    guard let value else {
      candidate.invalid = .nullValue
      return candidate
    }
    if value.count <= Self.recordBytesMax {
      precondition(scratchUsed + value.count <= scratchBytes, "startBatch was not called")
      scratchUsed += read(value, &candidate, scratch: scratch + scratchUsed)
    } else {
      // Too large whatever it says; read for its ids alone, with memory of its own.
      let own = UnsafeMutablePointer<UInt8>.allocate(capacity: value.count)
      outsized.append(own)
      _ = read(value, &candidate, scratch: own)
    }
    if value.count > bytesMax {
      candidate.invalid = .recordTooLarge
      candidate.invalidMember = nil
    } else if candidate.invalid == nil {
      Self.checkRequired(&candidate)
    }
    return candidate
  }

  /// Returns the bytes of scratch it used.
  private func read(
    _ value: Bytes, _ candidate: inout Candidate, scratch: UnsafeMutablePointer<UInt8>
  ) -> Int {
    var used = 0
    do throws(JSONFault) {
      var reader = JSONReader(
        value, positions: try indexer.index(value), scratch: scratch, names: names)
      defer { used = reader.scratchEnd - scratch }
      guard reader.peek == UInt8(ascii: "{") else {
        candidate.invalid = try Self.isJSON(&reader) ? .notAnObject : .malformedJSON
        return used
      }
      try reader.readObject { (reader, name) throws(JSONFault) in
        try Self.readMember(name, &reader, &candidate)
      }
      try reader.finish()
    } catch {
      // A text that is no JSON is named as that, whatever was met before the fault.
      candidate.invalid = InvalidDetail(error)
      candidate.invalidMember = nil
    }
    return used
  }

  private static func isJSON(_ reader: inout JSONReader) throws(JSONFault) -> Bool {
    do throws(JSONFault) {
      try reader.skip()
    } catch .wrongType {
      return false
    }
    try reader.finish()
    return true
  }

  private static func checkRequired(_ candidate: inout Candidate) {
    let missing: CandidateMember
    if candidate.notificationID == nil {
      missing = .notificationID
    } else if candidate.userID == nil {
      missing = .userID
    } else if candidate.categoryText == nil {
      missing = .category
    } else {
      return
    }
    candidate.invalid = .missingMember
    candidate.invalidMember = missing
  }

  /// A fault of one member is noted and the rest read on, so that the record of an invalid candidate
  /// names the ids that could be read. The first fault is the one named.
  @inline(__always)
  private static func readMember(
    _ name: Bytes, _ reader: inout JSONReader, _ candidate: inout Candidate
  ) throws(JSONFault) {
    guard let member = CandidateMember(name) else { return try reader.skip() }
    if try reader.readNull() { return }
    var fault: InvalidDetail?
    switch member {
    case .notificationID: candidate.notificationID = try readID(&reader, &fault)
    case .userID: candidate.userID = try readID(&reader, &fault)
    case .deviceID: candidate.deviceID = try readID(&reader, &fault)
    case .subtype: candidate.subtype = try readText(&reader, textBytesMax, &fault)
    case .event: candidate.event = try readText(&reader, textBytesMax, &fault)
    case .collapseKey: candidate.collapseKey = try readText(&reader, textBytesMax, &fault)
    case .category:
      candidate.categoryText = try readText(&reader, recordBytesMax, &fault)
      candidate.category = candidate.categoryText.flatMap { Category(name: $0) }
    case .critical: candidate.critical = try readBool(&reader, &fault)
    case .smsFallback: candidate.smsFallback = try readBool(&reader, &fault)
    case .createdAt: candidate.createdAtMs = try readInstant(&reader, &fault)
    case .expiresAt: candidate.expiresAtMs = try readInstant(&reader, &fault)
    case .payload:
      if reader.peek == UInt8(ascii: "{") {
        let start = reader.offset
        try reader.skipOpaque()
        candidate.payload = reader.written(from: start, to: reader.offsetBehindLast)
      } else {
        try reader.skip()
        fault = .wrongType
      }
    }
    if let fault, candidate.invalid == nil {
      candidate.invalid = fault
      candidate.invalidMember = member
    }
  }

  @inline(__always)
  private static func readText(
    _ reader: inout JSONReader, _ bytesMax: Int, _ fault: inout InvalidDetail?
  ) throws(JSONFault) -> Bytes? {
    guard reader.peek == UInt8(ascii: "\"") else {
      try reader.skip()
      fault = .wrongType
      return nil
    }
    let text = try reader.readString()
    guard text.count <= bytesMax else {
      fault = .tooLong
      return nil
    }
    return text
  }

  @inline(__always)
  private static func readID(
    _ reader: inout JSONReader, _ fault: inout InvalidDetail?
  ) throws(JSONFault) -> Bytes? {
    guard let text = try readText(&reader, recordBytesMax, &fault) else { return nil }
    guard isID(text) else {
      fault = .malformedID
      return nil
    }
    return text
  }

  /// 1 to 128 bytes of UTF-8 without control characters (Unicode Cc).
  @inline(__always)
  static func isID(_ text: Bytes) -> Bool {
    guard 1...idBytesMax ~= text.count else { return false }
    // Nearly all ids are printable ASCII.
    if text.allWords({ $0.isASCII && !$0.hasByte(below: 0x20) && !$0.hasByte(0x7F) }) {
      return true
    }
    return isUnusualID(text)
  }

  private static func isUnusualID(_ text: Bytes) -> Bool {
    var previous: UInt8 = 0
    for byte in text {
      // U+0080 to U+009F are written C2 80 to C2 9F.
      if byte < 0x20 || byte == 0x7F || (previous == 0xC2 && byte < 0xA0) { return false }
      previous = byte
    }
    return true
  }

  @inline(__always)
  private static func readBool(
    _ reader: inout JSONReader, _ fault: inout InvalidDetail?
  ) throws(JSONFault) -> Bool {
    if reader.peek == UInt8(ascii: "t") || reader.peek == UInt8(ascii: "f") {
      return try reader.readLiteral() ?? false
    }
    try reader.skip()
    fault = .wrongType
    return false
  }

  @inline(__always)
  private static func readInstant(
    _ reader: inout JSONReader, _ fault: inout InvalidDetail?
  ) throws(JSONFault) -> Int64? {
    let instant: Int64?
    switch reader.peek {
    case UInt8(ascii: "\""): instant = Instant.parse(try reader.readString())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      instant = JSONText.integer(try reader.readNumber())
        .flatMap { Instant.readable.contains($0) ? $0 : nil }
    default:
      try reader.skip()
      fault = .wrongType
      return nil
    }
    if instant == nil { fault = .malformedInstant }
    return instant
  }
}

extension Category {
  /// Matched exactly: no case folding, no trimming.
  @inline(__always)
  init?(name: Bytes) {
    switch name.count {
    case 6 where name.equals("social"): self = .social
    case 8 where name.equals("security"): self = .security
    case 9 where name.equals("marketing"): self = .marketing
    case 13 where name.equals("transactional"): self = .transactional
    default: return nil
    }
  }
}
