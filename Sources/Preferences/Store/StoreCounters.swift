import Synchronization

/// What the store did, counted by its writer.
public final class StoreCounters: Sendable {
  private let groupCount = Atomic<UInt64>(0)
  private let jobCount = Atomic<UInt64>(0)

  /// Commits that were made durable.
  public var groups: UInt64 { groupCount.load(ordering: .relaxed) }
  /// Requests in them.
  public var requests: UInt64 { jobCount.load(ordering: .relaxed) }

  func committed(jobs: Int) {
    groupCount.wrappingAdd(1, ordering: .relaxed)
    jobCount.wrappingAdd(UInt64(jobs), ordering: .relaxed)
  }
}
