/// A generator of pseudo-random numbers whose stream is fixed by its seed on every machine and in
/// every version: xoshiro256** (Blackman and Vigna), seeded by SplitMix64. The standard library's
/// generators promise neither.
struct Random {
  private var s0: UInt64
  private var s1: UInt64
  private var s2: UInt64
  private var s3: UInt64

  /// Streams of one seed that have nothing to do with each other: one per user, so that a candidate
  /// can name a user's device without the user being kept.
  init(seed: UInt64, stream: UInt64, index: UInt64 = 0) {
    var state = Self.mix(seed) ^ Self.mix(stream &* 0xD1B5_4A32_D192_ED03 &+ 1) ^ Self.mix(~index)
    func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      return Self.mix(state)
    }
    self.init(state: (next(), next(), next(), next()))
  }

  /// Not all zero: that state never leaves itself.
  init(state: (UInt64, UInt64, UInt64, UInt64)) {
    (s0, s1, s2, s3) = state
  }

  /// SplitMix64's output function: a bijection, so different inputs stay different.
  static func mix(_ x: UInt64) -> UInt64 {
    var z = x
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func next() -> UInt64 {
    let x = s1 &* 5
    let result = ((x << 7) | (x >> 57)) &* 9
    let shifted = s1 << 17
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    s3 = (s3 << 45) | (s3 >> 19)
    return result
  }

  /// From 0 up to but not including `bound`. The high half of a product: its bias, one in 2^64 of
  /// the bound, is far below anything a workload can show.
  mutating func below(_ bound: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  /// True in `share` of 10,000 cases.
  mutating func chance(_ share: Int) -> Bool { below(10_000) < share }

  /// The position of one of the shares, each of `shares.reduce(0, +)`.
  mutating func pick(_ shares: [Int]) -> Int {
    var rest = below(shares.reduce(0, +))
    for (i, share) in shares.enumerated() {
      if rest < share { return i }
      rest -= share
    }
    preconditionFailure("shares do not add up")
  }
}
