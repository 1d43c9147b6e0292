import Synchronization

/// So many requests a second on average, and so many at once.
public struct RequestRate: Sendable, Equatable {
  public var perSecond: Int
  /// At least 1.
  public var burst: Int

  public init(perSecond: Int, burst: Int) {
    precondition((1...1_000_000).contains(perSecond) && (1...1_000_000).contains(burst))
    self.perSecond = perSecond
    self.burst = burst
  }

  /// A token bucket kept as one number: the instant at which it will be full again. Taking a token
  /// moves that on by one interval; there is none to take while it lies a whole burst ahead.
  ///
  /// - Returns: nil where the token was taken, else nanoseconds until there will be one.
  func take(_ fullAtNs: inout Int64, nowNs: Int64) -> Int64? {
    let intervalNs = Int64(1_000_000_000 / perSecond)
    let next = max(fullAtNs, nowNs) + intervalNs
    let early = next - nowNs - intervalNs * Int64(burst)
    guard early <= 0 else { return early }
    fullAtNs = next
    return nil
  }
}

/// One client's bucket.
final class RequestBucket: Sendable {
  private let fullAtNs = Mutex<Int64>(0)

  /// As `RequestRate.take`.
  func take(_ rate: RequestRate, nowNs: Int64) -> Int64? {
    fullAtNs.withLock { rate.take(&$0, nowNs: nowNs) }
  }
}

/// Buckets of all addresses in memory of a fixed size: an address has the bucket that its hash (keyed
/// anew in each process) falls on. Two that share one share their rate, which with thousands of
/// buckets is rare; a table with a bucket for each would be filled up by whoever has many addresses.
final class AddressBuckets: Sendable {
  private let buckets: [RequestBucket]

  init(count: Int = 8_192) {
    buckets = (0..<count).map { _ in RequestBucket() }
  }

  subscript(_ client: ClientAddress) -> RequestBucket {
    var hasher = Hasher()
    hasher.combine(client.network)
    return buckets[Int(UInt(bitPattern: hasher.finalize()) % UInt(buckets.count))]
  }
}
