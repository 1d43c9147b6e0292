/// How many releases may leave now: a token each, refilled with time, so that no second ever sees more
/// than the rate. Pure over the time it is given, which must be monotonic: a wall clock that is set
/// forward would hand out an hour of tokens.
///
/// What may leave at once is a tenth of the rate (one at least), and the rest refills evenly at what
/// is left of it: in no stretch of a second do the two add up to more than the rate. The cost is a
/// tenth of the throughput.
public struct TokenBucket: Sendable {
  /// Parts of a token, so that a share of a small rate adds up exactly.
  private static let unit: Int64 = 1_000_000
  /// Per second.
  public static let rateMax: Int64 = 10_000_000

  /// Nil: without limit.
  private let ratePerSecond: Int64?
  private var capacityUnits: Int64 = 0
  private var unitsPerMs: Int64 = 0
  private var units: Int64 = 0
  private var filledAtMs: Int64

  /// - Parameter ratePerSecond: of all workers together, 1 to `rateMax`; nil for no limit.
  public init(ratePerSecond: Int64?, nowMs: Int64) {
    precondition(ratePerSecond.map { 1...Self.rateMax ~= $0 } ?? true)
    self.ratePerSecond = ratePerSecond
    filledAtMs = nowMs
  }

  public var isUnlimited: Bool { ratePerSecond == nil }

  /// This worker's part: `rate × owned / all`. What it has saved goes down to what it may save now,
  /// and never up: partitions change hands, tokens do not.
  public mutating func setShare(ownedPartitions: Int, of all: Int, nowMs: Int64) {
    precondition(0...all ~= ownedPartitions && all > 0)
    guard let ratePerSecond else { return }
    fill(nowMs: nowMs)
    let share = ratePerSecond * Self.unit / Int64(all) * Int64(ownedPartitions)
    guard share > 0 else {
      (capacityUnits, unitsPerMs, units) = (0, 0, 0)
      return
    }
    // In a second that starts with a full bucket: capacity + 999 ms of refill < share + 1 token.
    capacityUnits = max(Self.unit, share / 10)
    unitsPerMs = max(1, min(share, share + Self.unit - capacityUnits) / 1000)
    units = min(units, capacityUnits)
  }

  private mutating func fill(nowMs: Int64) {
    guard nowMs > filledAtMs else { return }
    let elapsedMs = nowMs - filledAtMs
    filledAtMs = nowMs
    let fullInMs = unitsPerMs > 0 ? (capacityUnits - units) / unitsPerMs + 1 : 0
    units = min(capacityUnits, units + min(elapsedMs, fullInMs) * unitsPerMs)
  }

  /// Whole tokens there are now.
  public mutating func available(nowMs: Int64) -> Int {
    guard !isUnlimited else { return Int.max }
    fill(nowMs: nowMs)
    return Int(units / Self.unit)
  }

  /// Takes tokens that there are.
  public mutating func take(_ count: Int) {
    guard !isUnlimited else { return }
    units -= Int64(count) * Self.unit
    precondition(units >= 0, "tokens that were not there")
  }

  /// Tokens that were taken at `nowMs` or just before, for releases that did not come about.
  public mutating func giveBack(_ count: Int) {
    guard !isUnlimited else { return }
    units = min(capacityUnits, units + Int64(count) * Self.unit)
  }

  /// How long until there are tokens for half of what may leave at once, and one at least: to wake
  /// for every single one costs more than it brings. Nil where none will come.
  public mutating func waitMs(nowMs: Int64) -> Int64? {
    guard !isUnlimited else { return 0 }
    fill(nowMs: nowMs)
    let wanted = max(Self.unit, capacityUnits / 2)
    if units >= wanted { return 0 }
    guard unitsPerMs > 0 else { return nil }
    return (wanted - units + unitsPerMs - 1) / unitsPerMs
  }
}
