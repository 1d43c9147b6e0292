/// Why a file is not a zone the gate can use.
public enum TZifError: Error, Equatable, CustomStringConvertible {
  case notTZif
  case unknownVersion(UInt8)
  case truncated
  /// A count in the header that RFC 9636 rules out, by its name there.
  case badCount(String)
  /// The file counts leap seconds (`right/…`); instants here do not.
  case countsLeapSeconds
  case transitionsNotAscending
  case badTypeIndex
  case badAbbreviationIndex
  case badDaylightFlag
  /// More than 25:59:59 from UTC, in seconds.
  case offsetOutOfRange(Int32)
  /// The TZ string at the end, with what is wrong with it.
  case badFooter(String)

  public var description: String {
    switch self {
    case .notTZif: "does not start with TZif"
    case .unknownVersion(let byte): "TZif version byte \(byte) is not known"
    case .truncated: "ends too early"
    case .badCount(let name): "header: \(name) is not allowed"
    case .countsLeapSeconds: "counts leap seconds, as the files under right/ do"
    case .transitionsNotAscending: "transition times do not ascend"
    case .badTypeIndex: "a transition names a local time type that is not there"
    case .badAbbreviationIndex: "a local time type names an abbreviation that is not there"
    case .badDaylightFlag: "a daylight flag is neither 0 nor 1"
    case .offsetOutOfRange(let seconds): "an offset of \(seconds) s from UTC is out of range"
    case .badFooter(let why): "TZ string at the end: \(why)"
    }
  }
}

/// Reads TZif files (RFC 9636), versions 1 to 4 and later ones that keep their form.
public enum TZif {
  /// Total: any bytes give a history or an error.
  public static func parse(
    _ bytes: UnsafeRawBufferPointer
  ) throws(TZifError) -> ZoneHistory {
    var cursor = Cursor(bytes)
    let first = try Header(&cursor)
    guard first.has64BitBlock else { return try history(&cursor, first, timeBytes: 4) }
    // The first block repeats the second for readers that know 32 bits only.
    try cursor.skip(first.blockBytes(timeBytes: 4))
    let second = try Header(&cursor)
    return try history(&cursor, second, timeBytes: 8)
  }

  public static func parse(_ bytes: [UInt8]) throws(TZifError) -> ZoneHistory {
    // By way of a result: `withUnsafeBytes` does not pass the error's type on.
    try bytes.withUnsafeBytes { bytes in
      Result { () throws(TZifError) in try parse(bytes) }
    }.get()
  }

  private struct Header {
    let has64BitBlock: Bool
    let utFlags: Int
    let standardFlags: Int
    let leaps: Int
    let times: Int
    let types: Int
    let abbreviationBytes: Int

    init(_ cursor: inout Cursor) throws(TZifError) {
      for expected in "TZif".utf8 where try cursor.byte() != expected { throw .notTZif }
      let version = try cursor.byte()
      switch version {
      case 0: has64BitBlock = false
      case UInt8(ascii: "2")...UInt8(ascii: "9"): has64BitBlock = true
      default: throw .unknownVersion(version)
      }
      try cursor.skip(15)
      utFlags = try cursor.count()
      standardFlags = try cursor.count()
      leaps = try cursor.count()
      times = try cursor.count()
      types = try cursor.count()
      abbreviationBytes = try cursor.count()
    }

    /// Counts are below 2^32, so the sum is far from overflow.
    func blockBytes(timeBytes: Int) -> Int {
      times * (timeBytes + 1) + types * 6 + abbreviationBytes + leaps * (timeBytes + 4)
        + standardFlags + utFlags
    }

    func check() throws(TZifError) {
      // A type is one byte in the list of transitions.
      guard (1...256).contains(types) else { throw .badCount("typecnt") }
      guard abbreviationBytes > 0 else { throw .badCount("charcnt") }
      guard standardFlags == 0 || standardFlags == types else { throw .badCount("isstdcnt") }
      guard utFlags == 0 || utFlags == types else { throw .badCount("isutcnt") }
      guard leaps == 0 else { throw .countsLeapSeconds }
    }
  }

  private static func history(
    _ cursor: inout Cursor, _ header: Header, timeBytes: Int
  ) throws(TZifError) -> ZoneHistory {
    try header.check()
    // Before anything is allocated by counts that a broken file may have made up.
    try cursor.require(header.blockBytes(timeBytes: timeBytes))

    var times: [Int64] = []
    times.reserveCapacity(header.times)
    for _ in 0..<header.times {
      let time = timeBytes == 8 ? try cursor.int64() : Int64(try cursor.int32())
      if let last = times.last, last >= time { throw .transitionsNotAscending }
      times.append(time)
    }
    var typeOfTime: [Int] = []
    typeOfTime.reserveCapacity(header.times)
    for _ in 0..<header.times {
      let type = Int(try cursor.byte())
      guard type < header.types else { throw .badTypeIndex }
      typeOfTime.append(type)
    }
    var offsetOfType: [Int32] = []
    offsetOfType.reserveCapacity(header.types)
    for _ in 0..<header.types {
      let offset = try cursor.int32()
      guard (-93_599...93_599).contains(offset) else { throw .offsetOutOfRange(offset) }
      guard try cursor.byte() <= 1 else { throw .badDaylightFlag }
      guard Int(try cursor.byte()) < header.abbreviationBytes else { throw .badAbbreviationIndex }
      offsetOfType.append(offset)
    }
    try cursor.skip(header.abbreviationBytes + header.standardFlags + header.utFlags)

    var rule: FooterRule?
    if timeBytes == 8 {
      let text = try cursor.footer()
      if !text.isEmpty { rule = try FooterText.parse(text) }
    }
    return merged(times, typeOfTime.map { offsetOfType[$0] }, before: offsetOfType[0], rule)
  }

  /// Leaves out transitions at which the offset stays what it was.
  private static func merged(
    _ times: [Int64], _ offsetOfTime: [Int32], before: Int32, _ rule: FooterRule?
  ) -> ZoneHistory {
    var transitions: [Int64] = []
    var offsets = [before]
    for (time, offset) in zip(times, offsetOfTime) where offset != offsets.last {
      transitions.append(time)
      offsets.append(offset)
    }
    return ZoneHistory(
      transitions: transitions, offsets: offsets, ruleFrom: times.last ?? .min, rule: rule)
  }

  private struct Cursor {
    private let bytes: UnsafeRawBufferPointer
    private var at = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    func require(_ count: Int) throws(TZifError) {
      guard count <= bytes.count - at else { throw .truncated }
    }

    mutating func skip(_ count: Int) throws(TZifError) {
      try require(count)
      at += count
    }

    mutating func byte() throws(TZifError) -> UInt8 {
      try require(1)
      defer { at += 1 }
      return bytes[at]
    }

    mutating func int32() throws(TZifError) -> Int32 {
      try require(4)
      defer { at += 4 }
      return Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: at, as: Int32.self))
    }

    mutating func int64() throws(TZifError) -> Int64 {
      try require(8)
      defer { at += 8 }
      return Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: at, as: Int64.self))
    }

    mutating func count() throws(TZifError) -> Int {
      Int(UInt32(bitPattern: try int32()))
    }

    /// The text between the two newlines after the data; what a later version may add behind it is
    /// left alone.
    mutating func footer() throws(TZifError) -> UnsafeRawBufferPointer {
      guard try byte() == UInt8(ascii: "\n") else { throw .badFooter("no newline before it") }
      let rest = UnsafeRawBufferPointer(rebasing: bytes[at...])
      guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else {
        throw .badFooter("no newline after it")
      }
      return UnsafeRawBufferPointer(rebasing: rest[..<end])
    }
  }
}
