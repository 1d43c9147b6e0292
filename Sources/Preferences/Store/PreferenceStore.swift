/// The database with its one writing thread and its readers.
final class PreferenceStore: Sendable {
  let database: PreferenceDatabase
  let writer: GroupWriter
  let readers: ReaderPool
  /// The key of the hashes of erased users.
  let erasureKey: [UInt8]
  /// How many groups were written by this process; whoever waits for something to publish is woken.
  private let written = Monitor<UInt64>(0)

  /// Opens the database, makes it where there is none, and brings its schema up to date.
  init(
    _ database: PreferenceDatabase, settings: StoreSettings,
    onGroup: @escaping @Sendable (_ jobs: Int) -> Void
  ) throws(StoreError) {
    self.database = database
    var opened: [any SQLConnection] = []
    do throws(StoreError) {
      let writing = try Self.sql { () throws(SQLError) in
        try database.connect(.writer, busyMsMax: settings.busyMsMax)
      }
      opened.append(writing)
      _ = try Migrations.apply(Schema.migrations, to: writing)
      erasureKey = try Self.sql { () throws(SQLError) in
        try writing.transaction(.write) { () throws(SQLError) in try Secrets.erasureKey(writing) }
      }
      for _ in 0..<settings.readersCount {
        opened.append(
          try Self.sql { () throws(SQLError) in
            try database.connect(.reader, busyMsMax: settings.busyMsMax)
          })
      }
    } catch {
      for connection in opened { connection.close() }
      throw error
    }
    readers = ReaderPool(Array(opened.dropFirst()))
    let written = written
    writer = GroupWriter(
      connection: opened[0], jobsMax: settings.waitingMax, groupJobsMax: settings.groupMax
    ) { jobs in
      onGroup(jobs)
      written.change { $0 += 1 }
    }
  }

  /// Opens a database that is there and writes nothing to it; a write is refused as `readOnly`.
  init(reading database: PreferenceDatabase, settings: StoreSettings) throws(StoreError) {
    self.database = database
    erasureKey = []
    var opened: [any SQLConnection] = []
    do throws(StoreError) {
      for _ in 0..<2 {
        opened.append(
          try Self.sql { () throws(SQLError) in
            try database.connect(.reader, busyMsMax: settings.busyMsMax)
          })
      }
      try Migrations.check(Schema.migrations, of: opened[1])
    } catch {
      for connection in opened { connection.close() }
      throw error
    }
    readers = ReaderPool([opened[1]])
    writer = GroupWriter(connection: opened[0], jobsMax: 1, groupJobsMax: 1) { _ in }
  }

  var writes: UInt64 { written.wait { $0 } }

  /// Waits until something was written since; returns how many groups were by then.
  func waitForWrites(after seen: UInt64, timeoutMs: Int64) -> UInt64 {
    written.wait(timeoutMs: timeoutMs) { $0 > seen ? $0 : nil } ?? seen
  }

  /// Wakes everybody who waits for a write or pauses.
  func wake() { written.change { $0 += 1 } }

  /// Waits, but no longer than until `isOver` at a wake.
  func pause(ms: Int64, _ isOver: () -> Bool) {
    _ = written.wait(timeoutMs: ms) { _ in isOver() ? () : nil }
  }

  var isClosed: Bool { writer.isClosed }

  /// Writes what waits, then closes everything.
  func close() {
    writer.close()
    readers.close()
  }

  private static func sql<R>(_ body: () throws(SQLError) -> R) throws(StoreError) -> R {
    do throws(SQLError) {
      return try body()
    } catch {
      throw .sql(error)
    }
  }
}

/// How the store works. The defaults suit one machine.
public struct StoreSettings: Sendable {
  /// How long another process may hold the write lock before a write gives up, milliseconds.
  public var busyMsMax: Int32 = 5_000
  /// Connections that read; as many reads run at once.
  public var readersCount = 4
  /// Writes that may wait; one more is refused.
  public var waitingMax = 10_000
  /// Writes that share a commit.
  public var groupMax = 256
  /// For how long the id of an event is known, so that a repetition changes nothing: 30 days.
  public var eventIDsKeptMs: Int64 = 30 * 86_400_000
  /// The same of what was done by a link: for as long as links live, or one that is used again when its
  /// event is forgotten mutes again. 180 days.
  public var linkEventIDsKeptMs: Int64 = 180 * 86_400_000
  /// For how long it is known that a user was erased, so that what was on its way does not bring the
  /// user back: 30 days.
  public var erasuresKeptMs: Int64 = 30 * 86_400_000

  public init() {}
}
