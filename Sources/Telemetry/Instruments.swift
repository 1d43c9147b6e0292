/// A count that only grows. Keep the handle: looking it up again takes the registry's lock.
public final class Counter: Sendable {
  private let cell = Cells(count: 1)

  init() {}

  /// Adds from any thread.
  public func add(_ n: UInt64 = 1) { cell.add(0, n) }

  /// Adds from the only thread that ever writes this counter; cheaper than `add`.
  public func addAsOnlyWriter(_ n: UInt64 = 1) { cell.addAsOnlyWriter(0, n) }

  public var value: UInt64 { cell.load(0) }
}

/// A value that goes up and down, in base units (seconds, bytes). Absent until first set: a gauge
/// that nobody knows the value of is left out of the exposition rather than shown as zero.
public final class Gauge: Sendable {
  private let cell = Cells(count: 1)
  /// A NaN that no arithmetic produces.
  private static let absent: UInt64 = 0x7FF8_5E4D_6A7E_0001

  init() { cell.store(0, Self.absent) }

  /// Sets from any thread; the last one wins.
  public func set(_ value: Double) { cell.store(0, value.bitPattern) }

  public func set(_ value: Int) { set(Double(value)) }

  /// Back to absent, for what is no longer there (a partition that was revoked).
  public func clear() { cell.store(0, Self.absent) }

  public var value: Double? {
    let bits = cell.load(0)
    return bits == Self.absent ? nil : Double(bitPattern: bits)
  }
}

/// Counts of observations by size, in buckets fixed at registration.
public final class Histogram: Sendable {
  /// Upper bounds, inclusive, ascending, finite; one bucket more than these takes the rest.
  public let bounds: [Double]
  private let cells: Cells

  /// From 10 microseconds to 10 seconds, three a decade: latencies of a batch, a commit, a request.
  public static let latencySeconds: [Double] = [
    0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
    0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]

  /// Powers of four from 1 to 65,536: records in a batch, documents in a read.
  public static let counts: [Double] = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536]

  init(bounds: [Double]) {
    precondition(
      !bounds.isEmpty && bounds.allSatisfy(\.isFinite)
        && zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 },
      "histogram bounds must be finite and ascending, got \(bounds)")
    self.bounds = bounds
    cells = Cells(count: bounds.count + 2)
  }

  /// Records `n` observations of `value`, from any thread. NaN is a programmer error.
  public func observe(_ value: Double, count n: UInt64 = 1) {
    cells.add(bucket(value), n)
    cells.addDouble(sumCell, value * Double(n))
  }

  /// The same from the only thread that ever writes this histogram; cheaper.
  public func observeAsOnlyWriter(_ value: Double, count n: UInt64 = 1) {
    cells.addAsOnlyWriter(bucket(value), n)
    cells.addDoubleAsOnlyWriter(sumCell, value * Double(n))
  }

  /// What was counted per bucket (not cumulated), and the sum of all values. The count of all is the
  /// sum of the buckets, so the two always agree; `sum` may run ahead or behind by what is being
  /// recorded at this moment.
  public func snapshot() -> (counts: [UInt64], sum: Double) {
    ((0...bounds.count).map { cells.load($0) }, Double(bitPattern: cells.load(sumCell)))
  }

  private var sumCell: Int { bounds.count + 1 }

  private func bucket(_ value: Double) -> Int {
    precondition(!value.isNaN, "a NaN was observed")
    var i = 0
    while i < bounds.count && value > bounds[i] { i += 1 }
    return i
  }
}
