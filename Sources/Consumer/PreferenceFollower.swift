import Gate
import Kafka
import Pipeline
import Synchronization

/// What came in on the preference topics, counted by the follower's thread.
public final class PreferenceCounters: Sendable {
  public enum Count: Int, CaseIterable, Sendable {
    case stored, erased
    /// Stored with a version below the one it replaced.
    case storedOlderVersion
    /// Their users are `preferences_unreadable` until a readable document comes.
    case unreadable
    /// Without a user to apply them to.
    case ignored
    case defaults, defaultsRefused
    /// Stored all the same: with a zone the tz database does not have, a window that cannot be read,
    /// a security `user-off` that only an administrator may set.
    case unknownZone, invalidWindow, securityOffIgnored
  }
  // One line of eight words; a second writer there would be a mistake anyway.
  private let words: [CounterWord] = Count.allCases.map { _ in CounterWord() }

  public init() {}

  public subscript(count: Count) -> UInt64 { words[count.rawValue].value.load(ordering: .relaxed) }

  func add(to count: Count) {
    words[count.rawValue].value.wrappingAdd(1, ordering: .relaxed)
  }

  private final class CounterWord: Sendable { let value = Atomic<UInt64>(0) }
}

/// What somebody has to look at. Never the document itself.
public enum PreferenceAlarm: Sendable, Equatable {
  case unreadable(partition: Int32, offset: Int64, why: String)
  case olderVersion(partition: Int32, offset: Int64)
  case defaultRefused(offset: Int64)
  /// The broker does not answer, or a topic is not there; the follower tries again.
  case waiting(String)
  /// The broker answers and refuses; the follower tries again.
  case refused(String)
}

/// The one writer of the preference table: reads `preferences.state` and `preferences.defaults`
/// whole, says when the lanes may rely on them, and follows them from then on.
public final class PreferenceFollower {
  public struct Settings: Sendable {
    public var properties: KafkaProperties
    public var topics: TopicNames
    public var requestTimeoutMs: Int32
    /// Away from the broker for longer than this, an erasure may have come and been cleaned away;
    /// half of the topics' `delete.retention.ms`.
    public var outOfReachMsMax: Int64

    public init(
      properties: KafkaProperties, topics: TopicNames, requestTimeoutMs: Int32 = 1500,
      outOfReachMsMax: Int64 = 43_200_000
    ) {
      self.properties = properties
      self.topics = topics
      self.requestTimeoutMs = requestTimeoutMs
      self.outOfReachMsMax = outOfReachMsMax
    }
  }

  private let table: PreferenceTable
  private let readiness: PreferenceReadiness
  private let counters: PreferenceCounters
  private let settings: Settings
  private let clock = SystemClock()
  private let onAlarm: @Sendable (PreferenceAlarm) -> Void
  private let onChange: (PreferenceChanges.Change) -> Void
  private let onOptOut: (OptOut) -> Void
  private let onReady: @Sendable (_ documents: UInt64, _ tookMs: Int64) -> Void
  private var startedAtMs: Int64 = 0
  private let state: CompactedTopicReader
  private let defaults: CompactedTopicReader

  /// To be made, run and dropped on one thread.
  ///
  /// - Parameters:
  ///   - onReady: hears once how many records of documents were read before the lanes could rely on
  ///     them, and how long that took.
  ///   - onChange: called for each user whose preferences have changed since the lanes may rely on
  ///     them, when the table has it.
  ///   - onOptOut: called likewise for each that switches something off for the account, and for an
  ///     erasure.
  public init(
    table: PreferenceTable, readiness: PreferenceReadiness, counters: PreferenceCounters,
    settings: Settings, onEvent: @escaping KafkaEventHandler,
    onAlarm: @escaping @Sendable (PreferenceAlarm) -> Void,
    onReady: @escaping @Sendable (_ documents: UInt64, _ tookMs: Int64) -> Void = { _, _ in },
    onChange: @escaping (PreferenceChanges.Change) -> Void = { _ in },
    onOptOut: @escaping (OptOut) -> Void = { _ in }
  ) throws(ConfigurationError) {
    self.onReady = onReady
    self.table = table
    self.readiness = readiness
    self.counters = counters
    self.settings = settings
    self.onAlarm = onAlarm
    self.onChange = onChange
    self.onOptOut = onOptOut
    let onProblem = { @Sendable (problem: ReadingProblem) in
      switch problem {
      case .noTopic(let name): onAlarm(.waiting("topic \(name) does not exist"))
      case .kafka(let error):
        onAlarm(error.isRefusal ? .refused("\(error)") : .waiting("\(error)"))
      }
    }
    state = try CompactedTopicReader(
      topic: settings.topics[.preferences], properties: settings.properties,
      requestTimeoutMs: settings.requestTimeoutMs, onEvent: onEvent, onProblem: onProblem)
    do throws(ConfigurationError) {
      defaults = try CompactedTopicReader(
        topic: settings.topics[.defaults], properties: settings.properties,
        requestTimeoutMs: settings.requestTimeoutMs, onEvent: onEvent, onProblem: onProblem)
    } catch {
      state.close()
      throw error
    }
  }

  /// What its readers are set to, over what the operator chose.
  public static func properties(
    _ properties: KafkaProperties
  ) throws(ConfigurationError) -> KafkaProperties {
    try CompactedTopicReader.properties(properties)
  }

  /// Runs until asked to end (nil), or until the table cannot be kept right any more (why).
  public func run(_ control: LaneControl) -> String? {
    defer {
      state.close()
      defaults.close()
    }
    startedAtMs = clock.monotonicMs()
    for reader in [state, defaults] {
      while !reader.start(nowMs: clock.monotonicMs()) {
        if control.request != .none { return nil }
        clock.sleep(ms: 500)
      }
    }
    while control.request == .none {
      // The defaults first: a user's document means nothing without them.
      if let end = defaults.read(timeoutMs: 0, applyDefault) { return end }
      if let end = state.read(timeoutMs: 100, apply) { return end }
      let nowMs = clock.monotonicMs()
      defaults.askForEnds(nowMs: nowMs)
      state.askForEnds(nowMs: nowMs)
      if let end = publishFreshness(nowMs: clock.monotonicMs()) { return end }
    }
    return nil
  }

  private func apply(_ record: RecordView) {
    switch table.apply(key: record.key, value: record.value, offset: record.offset) {
    case .stored(let notes):
      counters.add(to: .stored)
      count(notes)
    case .erased: counters.add(to: .erased)
    case .storedOlderVersion(let notes):
      counters.add(to: .storedOlderVersion)
      count(notes)
      onAlarm(.olderVersion(partition: record.partition, offset: record.offset))
    case .unreadable(let fault):
      counters.add(to: .unreadable)
      onAlarm(
        .unreadable(partition: record.partition, offset: record.offset, why: "\(fault.words)"))
    case .ignored:
      counters.add(to: .ignored)
      return
    }
    guard readiness.isReady else { return }
    let user = table.userHash(record.key!)
    onChange(PreferenceChanges.Change(partition: record.partition, user: user))
    guard !table.optOuts.isEmpty, record.timestampMs >= 0 else { return }
    onOptOut(
      OptOut(
        partition: record.partition, user: user, categories: table.optOuts,
        committedAtMs: record.timestampMs, offset: record.offset))
  }

  private func count(_ notes: DocumentNotes) {
    if notes.isEmpty { return }
    if notes.contains(.unknownZone) { counters.add(to: .unknownZone) }
    if notes.contains(.invalidWindow) { counters.add(to: .invalidWindow) }
    if notes.contains(.securityOffIgnored) { counters.add(to: .securityOffIgnored) }
  }

  private func applyDefault(_ record: RecordView) {
    if table.applyDefault(key: record.key, value: record.value) {
      counters.add(to: .defaults)
    } else {
      counters.add(to: .defaultsRefused)
      onAlarm(.defaultRefused(offset: record.offset))
    }
  }

  private func publishFreshness(nowMs: Int64) -> String? {
    guard let freshState = state.freshAtMs, let freshDefaults = defaults.freshAtMs else {
      return nil
    }
    let freshAtMs = min(freshState, freshDefaults)
    readiness.setFresh(atMs: freshAtMs)
    // After the instant: a lane that sees ready must not see it as stale.
    if !readiness.isReady {
      readiness.becomeReady()
      let read: [PreferenceCounters.Count] = [
        .stored, .storedOlderVersion, .erased, .unreadable, .ignored,
      ]
      onReady(read.reduce(0) { $0 + counters[$1] }, nowMs - startedAtMs)
    }
    guard nowMs - freshAtMs > settings.outOfReachMsMax else { return nil }
    return
      "the preference topics were out of reach for \((nowMs - freshAtMs) / 1000) s: an erasure "
      + "may have been cleaned away unseen; only reading them anew is safe"
  }
}
