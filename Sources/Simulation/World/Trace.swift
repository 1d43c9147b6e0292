/// What happened, in order: a hash of all of it, and its lines where somebody wants to read them.
struct Trace {
  /// FNV-1a, 64 bits: the same on every machine.
  private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  private(set) var lines: [String] = []
  let keepsLines: Bool

  init(keepsLines: Bool) { self.keepsLines = keepsLines }

  mutating func add(_ number: Int64) {
    var rest = UInt64(bitPattern: number)
    for _ in 0..<8 {
      hash = (hash ^ (rest & 0xFF)) &* 0x100_0000_01B3
      rest >>= 8
    }
  }

  mutating func add(_ bytes: [UInt8]) {
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }

  /// - Parameter text: made only where it is kept; what is in it is hashed by whoever calls.
  mutating func say(_ nowMs: Int64, _ text: () -> String) {
    guard keepsLines else { return }
    lines.append("\(Self.seconds(nowMs))  \(text())")
  }

  private static func seconds(_ ms: Int64) -> String {
    let (whole, rest) = (ms / 1000, ms % 1000)
    let digits = "\(rest)"
    let text = "\(whole)." + String(repeating: "0", count: 3 - digits.count) + digits
    return String(repeating: " ", count: max(0, 8 - text.count)) + text
  }
}
