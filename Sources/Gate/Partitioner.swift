/// Which partition a key belongs to: `murmur2_random`, the default of Kafka's Java client and what
/// every producer of candidates and preferences is told to use, so that clients in all languages
/// agree. The gate holds each candidate against it (requirements T5): a user's candidates on a
/// partition that is not theirs would be decided without that user's order, caps and holds.
public enum Partitioner {
  /// The partition of `key` among `count`. A null key has none: the partitioner draws one at random.
  public static func partition(forKey key: UnsafeRawBufferPointer, count: Int32) -> Int32 {
    precondition(count > 0, "a topic has at least one partition, not \(count)")
    // The sign bit is cleared, not negated: -2^31 has no positive counterpart.
    return Int32(bitPattern: murmur2(key) & 0x7FFF_FFFF) % count
  }

  /// MurmurHash2, 32 bits, little-endian words, with the seed Kafka fixed.
  static func murmur2(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    let multiplier: UInt32 = 0x5BD1_E995
    var hash = 0x9747_B28C ^ UInt32(truncatingIfNeeded: bytes.count)
    let words = bytes.count / 4
    for i in 0..<words {
      let word = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: i * 4, as: UInt32.self))
      let spread = word &* multiplier
      hash = (hash &* multiplier) ^ ((spread ^ (spread >> 24)) &* multiplier)
    }
    let rest = bytes.count & 3
    if rest > 0 {
      for i in 0..<rest { hash ^= UInt32(bytes[words * 4 + i]) << UInt32(i * 8) }
      hash = hash &* multiplier
    }
    hash = (hash ^ (hash >> 13)) &* multiplier
    return hash ^ (hash >> 15)
  }
}
