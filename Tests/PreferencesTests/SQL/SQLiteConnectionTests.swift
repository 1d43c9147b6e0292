import CSQLite
import Glibc
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

  @Test func valuesComeBackAsTheyWent() throws {
    let connection = try open()
    defer { connection.close() }
    try makeTable(connection)
    let values: [(Int64, String?, [UInt8]?)] = [
      (1, "", []), (2, nil, nil), (3, "é\u{1F4A9}'; DROP TABLE t; --", [0, 1, 255]),
      (Int64.min, "a", [0]), (Int64.max, String(repeating: "x", count: 100_000), nil),
    ]
    for (k, s, b) in values {
      let changed = try connection.run(
        "INSERT INTO t (k, s, b) VALUES ($1, $2, $3)", [.integer(k), SQLValue(s), SQLValue(b)])
      #expect(changed == 1)
    }
    for (k, s, b) in values {
      let row = try connection.first("SELECT s, b FROM t WHERE k = $1", [.integer(k)]) {
        ($0.optionalText(0), $0.optionalBytes(1))
      }
      let found = try #require(row)
      #expect(found.0 == s)
      #expect(found.1 == b)
    }
  }

  @Test func parametersGoByNumberNotByOrder() throws {
    let connection = try open()
    defer { connection.close() }
    try makeTable(connection)
    try connection.run("INSERT INTO t (s, k) VALUES ($2, $1)", [7, "seven"])
    let found = try connection.all(
      "SELECT k FROM t WHERE s = $2 AND k = $1 AND $1 > 0", [7, "seven"]
    ) { $0.integer(0) }
    #expect(found == [7])
  }

  @Test func whatAFailedTransactionWroteIsGone() throws {
    let connection = try open()
    defer { connection.close() }
    try makeTable(connection)
    let error = #expect(throws: SQLError.self) {
      try connection.transaction(.write) { () throws(SQLError) in
        try connection.run("INSERT INTO t (k) VALUES ($1)", [1])
        try connection.run("INSERT INTO t (k) VALUES ($1)", [1])
      }
    }
    #expect(error?.kind == .constraint)
    #expect(error?.operation == "INSERT INTO t (k) VALUES ($1)")
    #expect(try connection.first("SELECT count(*) FROM t", []) { $0.integer(0) } == 0)
  }

  @Test func aColumnTakesItsOwnTypeAlone() throws {
    let connection = try open()
    defer { connection.close() }
    try makeTable(connection)
    let error = #expect(throws: SQLError.self) {
      try connection.run("INSERT INTO t (k) VALUES ($1)", ["text"])
    }
    #expect(error?.kind == .constraint)
  }

  @Test func aReaderSeesOneStateAndDoesNotWaitForTheWriter() throws {
    let writer = try open()
    defer { writer.close() }
    try makeTable(writer)
    let reader = try open(.readOnly)
    defer { reader.close() }
    let count = { try reader.first("SELECT count(*) FROM t", []) { $0.integer(0) } }
    try reader.begin(.read)
    #expect(try count() == 0)
    try writer.begin(.write)
    try writer.run("INSERT INTO t (k) VALUES (1)")
    #expect(try count() == 0)
    try writer.commit()
    #expect(try count() == 0)
    try reader.commit()
    #expect(try count() == 1)
  }

  @Test func twoWritersExcludeEachOther() throws {
    let first = try open()
    defer { first.close() }
    try makeTable(first)
    let second = try open()
    defer { second.close() }
    try first.begin(.write)
    let error = #expect(throws: SQLError.self) { try second.begin(.write) }
    #expect(error?.kind == .busy)
    #expect(error?.concernsEverything == true)
    first.rollback()
    try second.begin(.write)
    second.rollback()
  }

  @Test func aLockIsHeldUntilItsConnectionIsClosed() throws {
    let first = try open()
    let second = try open()
    defer { second.close() }
    #expect(try first.tryLock("publisher"))
    #expect(try !second.tryLock("publisher"))
    #expect(try second.tryLock("other"))
    first.close()
    #expect(try second.tryLock("publisher"))
  }

  @Test func aLockIsGivenBack() throws {
    let first = try open()
    let second = try open()
    defer {
      first.close()
      second.close()
    }
    #expect(try first.tryLock("publisher"))
    first.unlock("other")
    #expect(try !second.tryLock("publisher"))
    first.unlock("publisher")
    #expect(try second.tryLock("publisher"))
    #expect(try !first.tryLock("publisher"))
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

  @Test func readingOnlyCannotWrite() throws {
    let writer = try open()
    defer { writer.close() }
    try makeTable(writer)
    let reader = try open(.readOnly)
    defer { reader.close() }
    let error = #expect(throws: SQLError.self) { try reader.run("INSERT INTO t (k) VALUES (1)") }
    #expect(error?.kind == .readOnly)
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
