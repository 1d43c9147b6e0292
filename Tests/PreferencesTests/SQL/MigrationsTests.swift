import Testing

@testable import Preferences

@Suite struct MigrationsTests {
  private let first = Migration(
    version: 1, script: "CREATE TABLE a (k BIGINT NOT NULL PRIMARY KEY) /*keyed*/;")
  private let second = Migration(
    version: 2,
    script: """
      ALTER TABLE a ADD COLUMN s TEXT NOT NULL DEFAULT 'old';
      CREATE TABLE b (k BIGINT NOT NULL PRIMARY KEY REFERENCES a (k)) /*keyed*/;
      """)

  @Test(arguments: Backend.allCases)
  func oldDataIsCarriedOver(on backend: Backend) throws {
    let database = try TestDatabase(backend)
    do {
      let connection = try database.connect()
      defer { connection.close() }
      #expect(try Migrations.apply([first], to: connection) == 0)
      try connection.run("INSERT INTO a (k) VALUES (7)")
    }
    let connection = try database.connect()
    defer { connection.close() }
    #expect(try Migrations.apply([first, second], to: connection) == 1)
    let rows = try connection.all("SELECT k, s FROM a", []) { "\($0.integer(0)) \($0.text(1))" }
    #expect(rows == ["7 old"])
    #expect(try Migrations.apply([first, second], to: connection) == 2)
  }

  @Test(arguments: Backend.allCases)
  func aNewerSchemaIsRefusedAndLeftAlone(on backend: Backend) throws {
    let database = try TestDatabase(backend)
    let connection = try database.connect()
    defer { connection.close() }
    _ = try Migrations.apply([first, second], to: connection)
    let error = #expect(throws: StoreError.self) { try Migrations.apply([first], to: connection) }
    #expect(error == .newerSchema(found: 2, known: 1, place: connection.place))
    #expect(
      "\(error!)".hasSuffix(
        "its schema is version 2, this release knows up to 1; start the release that made it, or a "
          + "newer one"))
    #expect(try Migrations.apply([first, second], to: connection) == 2)
  }

  @Test(arguments: Backend.allCases)
  func aStepThatFailsLeavesTheVersionThatWasThere(on backend: Backend) throws {
    let database = try TestDatabase(backend)
    let connection = try database.connect()
    defer { connection.close() }
    _ = try Migrations.apply([first], to: connection)
    let broken = Migration(
      version: 2, script: "CREATE TABLE c (k BIGINT NOT NULL) /*table*/; CREATE TABLE a (k BIGINT);"
    )
    #expect(throws: StoreError.self) { try Migrations.apply([first, broken], to: connection) }
    let names: StaticString =
      switch backend {
      case .sqlite: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
      case .postgres:
        "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename"
      }
    let tables = try connection.all(names, []) { $0.text(0) }
    #expect(tables == ["a", "schema_version"])
    #expect(try Migrations.apply([first, second], to: connection) == 1)
  }
}
