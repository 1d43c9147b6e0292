/// Decode, look up, decide, encode: the whole of a decision for a batch of records, on one thread.
/// Owns its scratch memory; nothing is allocated per record once it is warm.
public final class Engine {
  /// The most records one call takes: enough to hide a look-up's cache miss behind its neighbours',
  /// few enough that their bytes stay in cache.
  public static let batchRecordsMax = 64

  /// - Parameter partitionCount: of the candidate topic; 0 switches the key and partition checks off
  ///   (`evaluate`, which has no broker).
  public init(
    lane: Lane, policy: Policy, preferences: PreferenceTable, zones: ZonePublisher,
    partitionCount: Int32
  ) {
    fatalError("stub")
  }

  /// Decides every record at `nowMs`, outputs in input order, devices in document order.
  /// The result lives until the next call.
  public func decide(
    _ records: UnsafeBufferPointer<InputRecord>, nowMs: Int64
  ) -> UnsafeBufferPointer<OutputRecord> {
    fatalError("stub")
  }
}

/// Where the current zone table is published: one atomic pointer.
public final class ZonePublisher: Sendable {
  public init() {}
}

