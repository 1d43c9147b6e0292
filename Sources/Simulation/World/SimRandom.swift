/// A generator with a seed (SplitMix64). Each part of the world draws from a stream of its own, so that
/// taking a fault away does not change what the others draw.
struct SimRandom {
  private var state: UInt64

  init(seed: UInt64, stream: UInt64) {
    state = seed &* 0xD134_2543_DE82_EF95 &+ stream &* 0x2545_F491_4F6C_DD1D
    _ = next()
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// Evenly enough for small ranges.
  mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

  mutating func within(_ range: ClosedRange<Int64>) -> Int64 {
    range.lowerBound + Int64(next() % UInt64(range.upperBound - range.lowerBound + 1))
  }

  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  mutating func pick<T>(_ items: [T]) -> T { items[below(items.count)] }
}
