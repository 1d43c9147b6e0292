import CSQLite
import Glibc
import TestSupport
import Testing

@testable import Preferences

@Suite struct SQLiteConnectionTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("test.db") }

  private func open(
    _ access: SQLiteConnection.Access = .readWrite, busyMsMax: Int32 = 0
  ) throws -> SQLiteConnection {
    try SQLiteConnection(path: path, access: access, busyMsMax: busyMsMax)
  }

  private func makeTable(_ connection: SQLiteConnection) throws {
    try connection.runScript(
      "CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, s TEXT, b BYTEA) /*table*/;")
  }

  /// Only one answer means that another has it.
  @Test func whatKeepsALockFromBeingTakenIsSaid() {
    for code in [ENOLCK, EOPNOTSUPP, EIO, EINTR, EBADF] {
      let error = SQLiteConnection.lockError(code, "/x/p.db-intake.lock", "/x/p.db")
      #expect(error?.operation == "lock /x/p.db-intake.lock")
      #expect(error?.code == "errno \(code)")
    }
    #expect(SQLiteConnection.lockError(EWOULDBLOCK, "", "") == nil)
  }

  @Test func theFileIsTheOwnersAlone() throws {
    let connection = try open()
    defer { connection.close() }
    try makeTable(connection)
    for suffix in ["", "-wal", "-shm"] {
      var status = stat()
      #expect(stat(path + suffix, &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600, "\(suffix)")
    }
  }

  @Test func settingsAreInForce() throws {
    let connection = try open()
    defer { connection.close() }
    func value(_ sql: StaticString) throws -> Int64? {
      try connection.first(sql, []) { $0.integer(0) }
    }
    #expect(try value("PRAGMA synchronous") == 2)
    #expect(try value("PRAGMA foreign_keys") == 1)
    #expect(try value("PRAGMA secure_delete") == 1)
    #expect(try value("PRAGMA application_id") == SQLiteUse.preferences.applicationID)
    #expect(try connection.first("PRAGMA journal_mode", []) { $0.text(0) } == "wal")
    // Double quotes name columns, not strings.
    #expect(throws: SQLError.self) { try connection.run("SELECT \"nothing\"") }
  }

  @Test func errorsAreNamed() throws {
    let nowhere = folder.file("no/such/folder.db")
    let missing = #expect(throws: SQLError.self) {
      _ = try SQLiteConnection(path: nowhere, access: .readWrite, busyMsMax: 0)
    }
    #expect(missing?.kind == .cannotOpen)
    #expect("\(missing!)".hasPrefix("\(nowhere): open: "))

    let noDatabase = folder.file("text.db")
    let file = fopen(noDatabase, "w")
    for _ in 0..<2000 { fputs("not a database", file) }
    fclose(file)
    let text = #expect(throws: SQLError.self) {
      _ = try SQLiteConnection(path: noDatabase, access: .readWrite, busyMsMax: 0)
    }
    #expect(text?.kind == .notOurs)
  }

  @Test func theDatabaseOfAnotherApplicationIsRefused() throws {
    var raw: OpaquePointer?
    #expect(sqlite3_open(path, &raw) == SQLITE_OK)
    #expect(sqlite3_exec(raw, "CREATE TABLE theirs (x)", nil, nil, nil) == SQLITE_OK)
    #expect(sqlite3_close(raw) == SQLITE_OK)
    let error = #expect(throws: SQLError.self) { _ = try open() }
    #expect(error?.kind == .notOurs)
    #expect(error?.reason == "this is the database of another application")
  }

  @Test func aFullDiskIsNamedAndTheDatabaseGoesOn() throws {
    let connection = try open()
    defer { connection.close() }
    try makeTable(connection)
    // SQLite's own way of a full disk: no page more than these.
    try connection.runScript("PRAGMA max_page_count = 8;")
    let error = #expect(throws: SQLError.self) {
      try connection.transaction(.write) { () throws(SQLError) in
        try connection.run(
          "INSERT INTO t (k, b) VALUES ($1, $2)",
          [1, .bytes([UInt8](repeating: 1, count: 1_000_000))])
      }
    }
    #expect(error?.kind == .diskFull)
    #expect(error?.concernsEverything == true)
    try connection.run("INSERT INTO t (k) VALUES (2)")
    #expect(try connection.all("SELECT k FROM t", []) { $0.integer(0) } == [2])
  }

  @Test func everyCodeHasAKind() {
    let table: [(Int32, SQLError.Kind)] = [
      (SQLITE_BUSY, .busy), (SQLITE_BUSY | 2 << 8, .busy), (SQLITE_LOCKED, .busy),
      (SQLITE_FULL, .diskFull), (SQLITE_READONLY, .readOnly), (SQLITE_READONLY | 6 << 8, .readOnly),
      (SQLITE_PERM, .readOnly), (SQLITE_CANTOPEN, .cannotOpen), (SQLITE_NOTADB, .notOurs),
      (SQLITE_CORRUPT, .notOurs), (SQLITE_IOERR | 4 << 8, .inputOutput),
      (SQLITE_CONSTRAINT | 8 << 8, .constraint), (SQLITE_MISMATCH, .constraint),
      (SQLITE_TOOBIG, .tooBig),
      (SQLITE_NOMEM, .noMemory), (SQLITE_MISUSE, .other), (SQLITE_ERROR, .other),
    ]
    for (code, kind) in table { #expect(SQLiteConnection.kind(of: code) == kind, "\(code)") }
    for kind in SQLError.Kind.allCases {
      let error = SQLError(kind, operation: "o", place: "p", code: "c", reason: "r")
      #expect("\(error)" == "p: o: c: r; \(error.remedy)")
    }
  }
}
