import Gate
import Telemetry

/// The preference service's one face: HTTP, the readers of Kafka and the command line call this.
///
/// Every method may be called from any thread, and blocks its caller: a write until it would survive a
/// power cut, a read for as long as a few look-ups take. What throws has changed nothing.
public final class PreferenceService: Sendable {
  let store: PreferenceStore
  let machine: PreferenceMachine
  let links: SettingsLinks
  let settings: StoreSettings
  let nowMs: @Sendable () -> Int64
  public let counters: StoreCounters

  /// Opens the database, makes it where there is none, and brings its schema up to date.
  ///
  /// - Parameters:
  ///   - links: what leads to the system's notification settings.
  ///   - nowMs: the wall clock, milliseconds since the epoch.
  public init(
    database: PreferenceDatabase, machine: PreferenceMachine, links: SettingsLinks,
    settings: StoreSettings = StoreSettings(),
    nowMs: @escaping @Sendable () -> Int64 = SystemTime.wallClockMs
  ) throws(StoreError) {
    let counters = StoreCounters()
    self.counters = counters
    self.machine = machine
    self.links = links
    self.settings = settings
    self.nowMs = nowMs
    store = try PreferenceStore(database, settings: settings) { jobs in
      counters.groups.add()
      counters.requests.add(UInt64(jobs))
    }
  }

  /// Opens a database that is there, beside whoever writes it, for the methods that read.
  public init(
    reading database: PreferenceDatabase, machine: PreferenceMachine, links: SettingsLinks,
    nowMs: @escaping @Sendable () -> Int64 = SystemTime.wallClockMs
  ) throws(StoreError) {
    counters = StoreCounters()
    self.machine = machine
    self.links = links
    settings = StoreSettings()
    self.nowMs = nowMs
    store = try PreferenceStore(reading: database, settings: settings)
  }

  /// Writes what waits, then closes the database. Nothing may be called afterwards.
  public func close() { store.close() }

  // MARK: Events

  /// What became of some events.
  public enum ApplyResult: Sendable, Equatable {
    /// Of each, in order.
    case answers([EventAnswer])
    /// The user's document is at another version than was asked for; nothing was applied.
    case versionDiffers(current: Int64)
  }

  /// Applies one event; returns when that is durable.
  public func apply(_ event: PreferenceEvent) throws(StoreError) -> EventAnswer {
    guard case .answers(let answers) = try apply([event], ifVersion: nil) else {
      preconditionFailure("a version was not asked for")
    }
    return answers[0]
  }

  /// Applies events in order, in one transaction: all are kept, or none is. One that is refused is
  /// answered so and does not keep the others back.
  ///
  /// - Parameter ifVersion: only where the first event's user has a document of this version (0: has
  ///   none); events that were all seen before are answered as then whatever the version.
  public func apply(
    _ events: [PreferenceEvent], ifVersion: Int64?
  ) throws(StoreError) -> ApplyResult {
    try store.writer.perform { [self] connection throws(SQLError) in
      try apply(events, ifVersion: ifVersion, connection)
    }
  }

  /// The same without waiting: `then` is called on the writer's thread, which it must not hold up,
  /// when the events are durable or could not be applied.
  public func submit(
    _ events: [PreferenceEvent], ifVersion: Int64?,
    then: @escaping @Sendable (Result<ApplyResult, StoreError>) -> Void
  ) {
    store.writer.submit(
      GroupWriter.Job(
        run: { [self] connection throws(SQLError) in
          let result = try apply(events, ifVersion: ifVersion, connection)
          return { then(.success(result)) }
        },
        fail: { then(.failure($0)) }))
  }

  /// Applies events that are made of the user as it is then, in order and in one transaction, so that
  /// nothing comes between. Where the first was seen before, it alone is answered.
  public func apply(
    of id: Identifier, _ events: @escaping @Sendable (UserPreferences?) -> [PreferenceEvent]
  ) throws(StoreError) -> [EventAnswer] {
    try store.writer.perform { [self] connection throws(SQLError) in
      let user = try UserReader(connection: connection).user(id)?.preferences
      let writer = eventWriter(connection)
      var answers: [EventAnswer] = []
      for event in events(user) {
        answers.append(try writer.apply(event))
        if answers[0].isRepeat { break }
      }
      return answers
    }
  }

  /// Changes a default; returns when that is durable.
  public func apply(_ event: DefaultEvent) throws(StoreError) -> EventAnswer {
    try store.writer.perform { [self] connection throws(SQLError) in
      let answer = try eventWriter(connection).apply(event)
      return answer
    }
  }

  func eventWriter(_ connection: any SQLConnection) -> EventWriter {
    EventWriter(
      connection: connection, machine: machine,
      erased: ErasedUsers(connection: connection, key: store.erasureKey), nowMs: nowMs())
  }

  private func apply(
    _ events: [PreferenceEvent], ifVersion: Int64?, _ connection: any SQLConnection
  ) throws(SQLError) -> ApplyResult {
    if let wanted = ifVersion, let first = events.first {
      let stored = try UserReader(connection: connection).user(first.userID)
      let current = stored?.preferences.version ?? 0
      if current != wanted, try !wereSeen(events, stored, connection) {
        return .versionDiffers(current: current)
      }
    }
    let writer = eventWriter(connection)
    var answers: [EventAnswer] = []
    for event in events { answers.append(try writer.apply(event)) }
    return .answers(answers)
  }

  /// Whoever did not hear the answer sends the same again, under the version from before.
  private func wereSeen(
    _ events: [PreferenceEvent], _ stored: StoredUser?, _ connection: any SQLConnection
  ) throws(SQLError) -> Bool {
    guard let stored else { return false }
    let table = EventIDTable(connection: connection)
    for event in events {
      guard event.userID == stored.preferences.userID,
        try table.answer(to: event.eventID, userKey: stored.key) != nil
      else { return false }
    }
    return true
  }
}
