import Gate
import Synchronization
import Telemetry

@testable import Preferences

struct FewZones: ZoneNames {
  func isKnown(_ zone: String) -> Bool { ["UTC", "Europe/Berlin", "Asia/Tokyo"].contains(zone) }
  func suggestions(for zone: String) -> [String] { ["Europe/Berlin"] }
}

/// A service on a database of its own, with a clock that stands still until it is set.
final class StoreWorld {
  let database: TestDatabase
  let machine = PreferenceMachine(policy: .builtIn, zones: FewZones())
  let links = SettingsLinks(androidPackage: "org.example.app")!
  private let clock = Clock()
  private(set) var service: PreferenceService!

  final class Clock: Sendable { let nowMs = Mutex<Int64>(StoreWorld.startMs) }

  static let startMs: Int64 = 1_780_000_000_000

  /// Of SQLite the file's.
  var path: String { database.text }

  var nowMs: Int64 {
    get { clock.nowMs.withLock { $0 } }
    set { clock.nowMs.withLock { $0 = newValue } }
  }

  init(_ backend: Backend = .sqlite) throws {
    database = try TestDatabase(backend)
    service = try open()
  }

  func open(_ settings: StoreSettings = StoreSettings()) throws -> PreferenceService {
    let clock = clock
    return try PreferenceService(
      database: database.database, machine: machine, links: links, settings: settings,
      nowMs: { clock.nowMs.withLock { $0 } })
  }

  /// Closes the service and opens the database again.
  func reopen(_ settings: StoreSettings = StoreSettings()) throws {
    service.close()
    service = nil
    service = try open(settings)
  }

  /// The service was closed by the test.
  func forget() { service = nil }

  deinit { service?.close() }

  /// Everything that waits to be published.
  func outbox() throws -> [OutboxTable.Row] {
    try service.store.readers.read { connection throws(SQLError) in
      try OutboxTable(connection: connection).rows(after: 0, limit: .max)
    }
  }

  func audit(_ user: Identifier) throws -> [AuditRow] {
    try service.audit(of: user, limit: .max) ?? []
  }

  struct TookTooLong: Error { var what: String }

  /// Waits until it is so; throws where no machine is that slow, so that a test ends that hangs.
  func wait(for what: String, _ isSo: () throws -> Bool) throws {
    let untilMs = SystemTime.monotonicNs() / 1_000_000 + 120_000
    while try !isSo() {
      guard SystemTime.monotonicNs() / 1_000_000 < untilMs else { throw TookTooLong(what: what) }
      service.store.pause(ms: 5) { false }
    }
  }

  /// A choice of the account, by default in the app.
  func choice(
    _ id: String, _ user: Identifier, _ category: Category, _ state: Choice,
    at ms: Int64 = StoreWorld.startMs, source: ChoiceSource = .inAppSettings
  ) -> PreferenceEvent {
    PreferenceEvent(
      eventID: Identifier(id), userID: user, atMs: ms, source: source,
      body: .choiceSet(.account, category, state))
  }

  func seen(
    _ id: String, _ user: Identifier, _ device: String, at ms: Int64 = StoreWorld.startMs
  ) -> PreferenceEvent {
    PreferenceEvent(
      eventID: Identifier(id), userID: user, atMs: ms,
      body: .deviceSeen(
        Identifier(device),
        DeviceSync(
          platform: .ios, osPermission: .granted, timezone: Identifier("Europe/Berlin"),
          region: Identifier("DE")),
        nil))
  }

  func erased(_ id: String, _ user: Identifier, at ms: Int64) -> PreferenceEvent {
    PreferenceEvent(eventID: Identifier(id), userID: user, atMs: ms, body: .userErased)
  }
}
