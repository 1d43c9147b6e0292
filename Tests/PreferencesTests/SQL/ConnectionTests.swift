import Testing

@testable import Preferences

/// What the protocol promises, of each that keeps it.
@Suite struct ConnectionTests {
  private func makeTable(_ connection: any SQLConnection) throws {
    try connection.runScript(
      "CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, s TEXT, b BYTEA) /*table*/;")
  }

  @Test(arguments: Backend.allCases)
  func valuesComeBackAsTheyWent(on backend: Backend) throws {
    let database = try TestDatabase(backend)
    let connection = try database.connect()
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

  @Test(arguments: Backend.allCases)
  func parametersGoByNumberNotByOrder(on backend: Backend) throws {
    let database = try TestDatabase(backend)
    let connection = try database.connect()
    defer { connection.close() }
    try makeTable(connection)
    try connection.run("INSERT INTO t (s, k) VALUES ($2, $1)", [7, "seven"])
    let found = try connection.all(
      "SELECT k FROM t WHERE s = $2 AND k = $1 AND $1 > 0", [7, "seven"]
    ) { $0.integer(0) }
    #expect(found == [7])
  }

  @Test(arguments: Backend.allCases)
  func whatAFailedTransactionWroteIsGone(on backend: Backend) throws {
    let database = try TestDatabase(backend)
    let connection = try database.connect()
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

  @Test(arguments: Backend.allCases)
  func aColumnTakesItsOwnTypeAlone(on backend: Backend) throws {
    let database = try TestDatabase(backend)
    let connection = try database.connect()
    defer { connection.close() }
    try makeTable(connection)
    let error = #expect(throws: SQLError.self) {
      try connection.run("INSERT INTO t (k) VALUES ($1)", ["text"])
    }
    #expect(error?.kind == .constraint)
  }

  @Test(arguments: Backend.allCases)
  func aReaderSeesOneStateAndDoesNotWaitForTheWriter(on backend: Backend) throws {
    let database = try TestDatabase(backend)
    let writer = try database.connect()
    defer { writer.close() }
    try makeTable(writer)
    let reader = try database.connect(.reader)
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

  @Test(arguments: Backend.allCases)
  func twoWritersExcludeEachOther(on backend: Backend) throws {
    let database = try TestDatabase(backend)
    let first = try database.connect()
    defer { first.close() }
    try makeTable(first)
    let second = try database.connect()
    defer { second.close() }
    try first.begin(.write)
    let error = #expect(throws: SQLError.self) { try second.begin(.write) }
    #expect(error?.kind == .busy)
    #expect(error?.concernsEverything == true)
    first.rollback()
    try second.begin(.write)
    second.rollback()
  }

  @Test(arguments: Backend.allCases)
  func aLockIsHeldUntilItsConnectionIsClosed(on backend: Backend) throws {
    let database = try TestDatabase(backend)
    let first = try database.connect()
    let second = try database.connect()
    defer { second.close() }
    #expect(try first.tryLock("publisher"))
    #expect(try !second.tryLock("publisher"))
    #expect(try second.tryLock("other"))
    first.close()
    #expect(try second.tryLock("publisher"))
  }

  @Test(arguments: Backend.allCases)
  func aLockIsGivenBack(on backend: Backend) throws {
    let database = try TestDatabase(backend)
    let first = try database.connect()
    let second = try database.connect()
    defer {
      first.close()
      second.close()
    }
    #expect(try first.tryLock("publisher"))
    #expect(first.holds("publisher") && !second.holds("publisher"))
    try first.unlock("other")
    #expect(try !second.tryLock("publisher"))
    try first.unlock("publisher")
    #expect(try second.tryLock("publisher"))
    #expect(try !first.tryLock("publisher"))
  }

  @Test(arguments: Backend.allCases)
  func readingOnlyCannotWrite(on backend: Backend) throws {
    let database = try TestDatabase(backend)
    let writer = try database.connect()
    defer { writer.close() }
    try makeTable(writer)
    let reader = try database.connect(.reader)
    defer { reader.close() }
    let error = #expect(throws: SQLError.self) { try reader.run("INSERT INTO t (k) VALUES (1)") }
    #expect(error?.kind == .readOnly)
  }
}
