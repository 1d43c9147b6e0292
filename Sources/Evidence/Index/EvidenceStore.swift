import Preferences

/// The database with its one writing thread and its readers.
final class EvidenceStore: Sendable {
  let writer: GroupWriter
  let readers: ReaderPool
  let erased: ErasedUsers

  /// Opens the database, makes it where there is none, and brings its schema up to date.
  init(_ database: EvidenceDatabase, readersCount: Int) throws(StoreError) {
    var opened: [any SQLConnection] = []
    do throws(StoreError) {
      let writing = try Self.sql { () throws(SQLError) in try database.connect(.writer) }
      opened.append(writing)
      _ = try Migrations.apply(EvidenceSchema.migrations, to: writing)
      erased = try Self.sql { () throws(SQLError) in
        try writing.transaction(.write) { () throws(SQLError) in try ErasedUsers(writing) }
      }
      for _ in 0..<readersCount {
        opened.append(try Self.sql { () throws(SQLError) in try database.connect(.reader) })
      }
    } catch {
      for connection in opened { connection.close() }
      throw error
    }
    readers = ReaderPool(Array(opened.dropFirst()))
    writer = GroupWriter(
      connection: opened[0], jobsMax: 1_000, groupJobsMax: 16, threadName: "evidence-write"
    ) { _ in }
  }

  /// Readers alone, of a database that is there.
  static func readers(_ database: EvidenceDatabase, count: Int) throws(StoreError) -> ReaderPool {
    var opened: [any SQLConnection] = []
    do throws(StoreError) {
      for _ in 0..<count {
        opened.append(try sql { () throws(SQLError) in try database.connect(.reader) })
      }
      try Migrations.check(EvidenceSchema.migrations, of: opened[0])
    } catch {
      for connection in opened { connection.close() }
      throw error
    }
    return ReaderPool(opened)
  }

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

extension EvidenceDatabase {
  enum Role: Sendable { case writer, reader }

  /// How long another process may hold the write lock before a write gives up.
  private static let busyMsMax: Int32 = 5_000

  func connect(_ role: Role) throws(SQLError) -> any SQLConnection {
    switch self {
    case .sqlite(let path):
      var use = SQLiteUse.evidence
      if role == .reader { use.cacheKiB = 16_384 }
      return try SQLiteConnection(
        path: path, access: role == .writer ? .readWrite : .readOnly, use: use,
        busyMsMax: Self.busyMsMax)
    }
  }
}
