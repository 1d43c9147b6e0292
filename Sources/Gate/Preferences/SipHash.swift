/// SipHash with a 128-bit result (Aumasson and Bernstein, 2012), keyed: user ids are input that
/// somebody else chooses, and an unkeyed hash lets them choose collisions too.
package struct SipHash: Sendable {
  private let key0: UInt64
  private let key1: UInt64

  package init(key: (UInt64, UInt64)) {
    key0 = key.0
    key1 = key.1
  }

  private struct State {
    var v0, v1, v2, v3: UInt64

    @inline(__always)
    mutating func round() {
      v0 = v0 &+ v1
      v1 = (v1 << 13 | v1 >> 51) ^ v0
      v0 = v0 << 32 | v0 >> 32
      v2 = v2 &+ v3
      v3 = (v3 << 16 | v3 >> 48) ^ v2
      v0 = v0 &+ v3
      v3 = (v3 << 21 | v3 >> 43) ^ v0
      v2 = v2 &+ v1
      v1 = (v1 << 17 | v1 >> 47) ^ v2
      v2 = v2 << 32 | v2 >> 32
    }

    var digest: UInt64 { v0 ^ v1 ^ v2 ^ v3 }
  }

  /// SipHash-1-3: one round a word, three at the end.
  @inline(__always)
  package func hash(_ bytes: UnsafeRawBufferPointer) -> UserHash {
    hash(bytes, compression: 1, finalization: 3)
  }

  @inline(__always)
  func hash(_ bytes: Bytes, compression: Int, finalization: Int) -> UserHash {
    var s = State(
      v0: key0 ^ 0x736f_6d65_7073_6575, v1: key1 ^ 0x646f_7261_6e64_6f6d ^ 0xEE,
      v2: key0 ^ 0x6c79_6765_6e65_7261, v3: key1 ^ 0x7465_6462_7974_6573)
    @inline(__always) func absorb(_ word: UInt64) {
      s.v3 ^= word
      for _ in 0..<compression { s.round() }
      s.v0 ^= word
    }
    let whole = bytes.count & ~7
    for at in stride(from: 0, to: whole, by: 8) {
      absorb(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)))
    }
    var last = UInt64(truncatingIfNeeded: bytes.count) << 56
    for at in whole..<bytes.count { last |= UInt64(bytes[at]) << UInt64((at - whole) * 8) }
    absorb(last)
    s.v2 ^= 0xEE
    for _ in 0..<finalization { s.round() }
    let high = s.digest
    s.v1 ^= 0xDD
    for _ in 0..<finalization { s.round() }
    return UserHash(first: high, second: s.digest)
  }
}

/// A user in the table: no id is kept.
package struct UserHash: Hashable, Sendable {
  package var first: UInt64
  package var second: UInt64

  @inline(__always)
  package init(first: UInt64, second: UInt64) {
    self.first = first
    self.second = second
  }
}
