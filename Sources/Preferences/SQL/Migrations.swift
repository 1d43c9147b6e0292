/// One step of the schema: what brings a database of version `version - 1` to `version`.
package struct Migration: Sendable {
  var version: Int64
  var script: String

  package init(version: Int64, script: String) {
    self.version = version
    self.script = script
  }
}

package enum Migrations {
  /// Brings the database to the newest version, in one transaction: whatever interrupts it leaves the
  /// version that was there. Returns the version found, 0 for a new database.
  ///
  /// - Parameter migrations: in order, from 1, without a gap.
  package static func apply(
    _ migrations: [Migration], to connection: any SQLConnection
  ) throws(StoreError) -> Int64 {
    precondition(migrations.enumerated().allSatisfy { $1.version == Int64($0 + 1) })
    do throws(SQLError) {
      try connection.begin(.write)
    } catch {
      throw .sql(error)
    }
    do throws(StoreError) {
      let found = try version(connection)
      let known = Int64(migrations.count)
      // Not even read: what a newer release means by a column this one cannot know.
      guard found <= known else {
        throw .newerSchema(found: found, known: known, place: connection.place)
      }
      do throws(SQLError) {
        for migration in migrations[Int(found)...] {
          try connection.runScript(migration.script)
          try connection.run(
            "UPDATE schema_version SET version = $1", [.integer(migration.version)])
        }
        try connection.commit()
      } catch {
        throw .sql(error)
      }
      return found
    } catch {
      connection.rollback()
      throw error
    }
  }

  /// For who only reads: the schema must be this release's.
  package static func check(
    _ migrations: [Migration], of connection: any SQLConnection
  ) throws(StoreError) {
    let known = Int64(migrations.count)
    let found: Int64
    do throws(SQLError) {
      found =
        try connection.first("SELECT version FROM schema_version", [], { $0.integer(0) }) ?? 0
    } catch {
      throw .sql(error)
    }
    if found > known { throw .newerSchema(found: found, known: known, place: connection.place) }
    if found < known { throw .olderSchema(found: found, known: known, place: connection.place) }
  }

  private static func version(_ connection: any SQLConnection) throws(StoreError) -> Int64 {
    do throws(SQLError) {
      try connection.runScript(
        "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL) /*table*/;")
      if let found = try connection.first(
        "SELECT version FROM schema_version", [], { $0.integer(0) })
      {
        return found
      }
      try connection.run("INSERT INTO schema_version (version) VALUES (0)")
      return 0
    } catch {
      throw .sql(error)
    }
  }
}
