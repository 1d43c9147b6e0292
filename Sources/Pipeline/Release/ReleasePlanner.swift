import Gate

/// What to release now, and when to wake next: earliest due first over all owned partitions, as far as
/// each provider's tokens go. No I/O, no clock.
///
/// The wall clock says what is due, the monotonic one how fast it may leave. Security is never held,
/// so nothing of it is ever paced.
public struct ReleasePlanner: Sendable {
  /// A clock that was set is noticed this soon.
  public static let sleepMsMax: Int64 = 1000

  private var apns: TokenBucket
  private var fcm: TokenBucket

  /// Rates per second of all workers together; nil for no limit.
  public init(apnsPerSecond: Int64?, fcmPerSecond: Int64?, monotonicMs: Int64) {
    apns = TokenBucket(ratePerSecond: apnsPerSecond, nowMs: monotonicMs)
    fcm = TokenBucket(ratePerSecond: fcmPerSecond, nowMs: monotonicMs)
  }

  public mutating func setShare(ownedPartitions: Int, of all: Int, monotonicMs: Int64) {
    apns.setShare(ownedPartitions: ownedPartitions, of: all, nowMs: monotonicMs)
    fcm.setShare(ownedPartitions: ownedPartitions, of: all, nowMs: monotonicMs)
  }

  /// Holds of one store, in the order they leave.
  public struct Batch {
    /// Position among the stores.
    public var store: Int
    public var holds: [HoldSlot]
    /// Each has a token.
    var isPaced = true
  }

  /// Takes up to `max` holds out of the stores, each with a token. They are part of the stores' open
  /// transactions. What is then not approved has its token back by `giveBack`; after an abort it has
  /// not, since by then time has passed.
  public mutating func take(
    from stores: [HoldStore], wallMs: Int64, monotonicMs: Int64, max: Int
  ) -> [Batch] {
    var batches: [Batch] = []
    var room = max
    // In turn the one and the other first, or a long queue of the first would leave none for the other.
    for provider in isAPNsFirst ? [Provider.apns, .fcm] : [.fcm, .apns] {
      var tokens = min(room, bucket(provider) { $0.available(nowMs: monotonicMs) })
      while tokens > 0, let (first, second) = earliest(stores, provider, wallMs) {
        if batches.last?.store != first { batches.append(Batch(store: first, holds: [])) }
        let taken = stores[first].takeDue(
          provider, notAfterMs: min(wallMs, second), max: tokens,
          into: &batches[batches.count - 1].holds)
        bucket(provider) { $0.take(taken) }
        tokens -= taken
        room -= taken
      }
    }
    isAPNsFirst.toggle()
    return batches
  }

  private var isAPNsFirst = true

  /// The store with the hold that is due first, if that is by now, and when the next store's is.
  private func earliest(
    _ stores: [HoldStore], _ provider: Provider, _ wallMs: Int64
  ) -> (store: Int, secondMs: Int64)? {
    var first: (store: Int, dueMs: Int64)?
    var second = Int64.max
    for (index, store) in stores.enumerated() {
      guard let dueMs = store.nextDueMs(provider), dueMs <= wallMs else { continue }
      if let best = first, best.dueMs <= dueMs {
        second = min(second, dueMs)
      } else {
        second = first?.dueMs ?? second
        first = (index, dueMs)
      }
    }
    return first.map { ($0.store, second) }
  }

  public mutating func giveBack(_ provider: Provider, _ count: Int) {
    bucket(provider) { $0.giveBack(count) }
  }

  /// How long there is nothing to release: until the next due, and where something is overdue until
  /// there are tokens for it. At most `sleepMsMax`.
  public mutating func waitMs(
    _ stores: [HoldStore], wallMs: Int64, monotonicMs: Int64
  ) -> Int64 {
    var wait = Self.sleepMsMax
    for provider in Provider.allCases {
      guard let dueMs = stores.compactMap({ $0.nextDueMs(provider) }).min() else { continue }
      guard let tokensMs = bucket(provider, { $0.waitMs(nowMs: monotonicMs) }) else { continue }
      wait = min(wait, max(dueMs - wallMs, tokensMs))
    }
    return max(0, wait)
  }

  private mutating func bucket<R>(
    _ provider: Provider, _ body: (inout TokenBucket) -> R
  ) -> R {
    switch provider {
    case .apns: body(&apns)
    case .fcm: body(&fcm)
    }
  }
}
