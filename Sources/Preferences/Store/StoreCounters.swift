import Synchronization

/// A number that only grows, counted and read by any thread.
public final class EventCount: Sendable {
  private let word = Atomic<UInt64>(0)

  package init() {}

  public var value: UInt64 { word.load(ordering: .relaxed) }
  package func add(_ n: UInt64 = 1) { word.wrappingAdd(n, ordering: .relaxed) }
}

/// What the store did.
public final class StoreCounters: Sendable {
  /// Commits that were made durable.
  public let groups = EventCount()
  /// Requests in them.
  public let requests = EventCount()
}

/// Something that holds or does not; set by one thread, read by any.
public final class Flag: Sendable {
  private let word = Atomic<Bool>(false)

  package init() {}

  public var value: Bool { word.load(ordering: .relaxed) }
  package func set(_ value: Bool) { word.store(value, ordering: .relaxed) }
}
