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

public struct PolicyError: Error, CustomStringConvertible {
  public var description: String
}

/// The policy: immutable once read.
public final class Policy: Sendable {
  public static let builtIn = Policy()
  init() {}
  /// Throws with key, value and what to write instead.
  public init(json: UnsafeRawBufferPointer) throws(PolicyError) { fatalError("stub") }
  /// Seconds that the preferences may be behind before a lane pauses; nil: never.
  public func preferencesStaleSecondsMax(_ lane: Lane) -> Int64? { fatalError("stub") }
}

/// The preferences of every user, and the defaults: written by one thread, read by the lanes.
public final class PreferenceTable: Sendable {
  public enum Applied: Sendable {
    case stored
    /// Stored, and its `version` is below the one it replaced: an alarm.
    case storedOlderVersion
    case erased
    /// Not readable: the user is `preferences_unreadable` until a readable document comes; an alarm.
    case unreadable
    /// No user to apply it to (null or empty key, over 128 bytes): counted, otherwise ignored.
    case ignored
  }

  /// - Parameter hashKey: 128 bits, random per process or kept beside a snapshot.
  public init(hashKey: (UInt64, UInt64), zones: ZonePublisher) {}

  /// One record of `preferences.state`. Writer thread only. A null value erases.
  public func apply(
    key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?, offset: Int64
  ) -> Applied { fatalError("stub") }

  /// One record of `preferences.defaults` (key = category). A null value goes back to the policy's.
  /// Writer thread only. False where it was refused (unreadable, or off for security).
  public func applyDefault(
    key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?
  ) -> Bool { fatalError("stub") }

  /// Users held, and bytes of memory in use.
  public var users: Int { fatalError("stub") }
  public var memoryBytes: Int { fatalError("stub") }
}
