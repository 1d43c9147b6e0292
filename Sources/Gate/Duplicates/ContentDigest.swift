/// What a notification says, in 16 bits: enough to notice that an id was given to two of them. Only
/// category, subtype, event and payload count: a producer that sends again may date it anew.
///
/// Written to the state topic, so the same on every machine and in every version.
enum ContentDigest {
  /// Of an id that was written before there were digests.
  static let unknown: UInt16 = 0

  static func of(_ candidate: Candidate) -> UInt16 {
    var sum = mix(0, candidate.categoryText)
    sum = mix(sum, candidate.subtype)
    sum = mix(sum, candidate.event)
    sum = mix(sum, candidate.payload)
    let folded = UInt16(truncatingIfNeeded: sum >> 48)
    return folded == unknown ? 1 : folded
  }

  /// The length goes in too, so that no part can lend bytes to the next one.
  @inline(__always)
  private static func mix(_ sum: UInt64, _ bytes: Bytes?) -> UInt64 {
    guard let bytes else { return step(sum, .max) }
    var sum = step(sum, UInt64(bytes.count))
    var at = 0
    while at + 8 <= bytes.count {
      let word = bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)
      sum = step(sum, UInt64(littleEndian: word))
      at += 8
    }
    var rest: UInt64 = 0
    while at < bytes.count {
      rest = rest << 8 | UInt64(bytes[at])
      at += 1
    }
    return step(sum, rest)
  }

  /// A product's high bits depend on all of its factor's; folding them down lets the next one too.
  @inline(__always)
  private static func step(_ sum: UInt64, _ word: UInt64) -> UInt64 {
    let product = (sum ^ (word &+ 0x9E37_79B9_7F4A_7C15)) &* 0xD6E8_FEB8_6659_FD93
    return product ^ product >> 32
  }
}
