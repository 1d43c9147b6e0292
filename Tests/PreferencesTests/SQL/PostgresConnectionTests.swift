import Glibc
import Testing

@testable import Preferences

/// What is PostgreSQL's alone: a server that goes, hangs, or is another's.
@Suite struct PostgresConnectionTests {
  let text: String

  init() throws { text = try PostgresServer.shared.makeSchema() }

  private func open(
    _ access: PostgresConnection.Access = .readWrite, answerMsMax: Int32 = 30_000,
    text: String? = nil
  ) throws -> PostgresConnection {
    try PostgresConnection(
      PostgresParameters(text ?? self.text, answerMsMax: answerMsMax), access: access, busyMsMax: 0)
  }

  private func makeTable(_ connection: PostgresConnection) throws {
    try connection.runScript("CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, s TEXT)")
  }

  private func process(_ connection: PostgresConnection) throws -> pid_t {
    pid_t(try connection.first("SELECT pg_backend_pid()", []) { $0.integer(0) }!)
  }

  /// Ends a session from the server's side, and waits until it is gone.
  private func terminate(_ process: pid_t) throws {
    let other = try open()
    defer { other.close() }
    try other.query("SELECT pg_terminate_backend($1, 20000)", [.integer(Int64(process))]) { _ in }
  }

  private func keys(_ connection: PostgresConnection) throws(SQLError) -> [Int64] {
    try connection.all("SELECT k FROM t ORDER BY k", []) { $0.integer(0) }
  }

  /// Nothing was under way, so nobody has to hear of it.
  @Test(arguments: [SQLTransactionKind.read, .write])
  func aSessionThatWentWhileIdleIsReplaced(kind: SQLTransactionKind) throws {
    let connection = try open()
    defer { connection.close() }
    try makeTable(connection)
    let before = try process(connection)
    try terminate(before)
    try connection.transaction(kind) { () throws(SQLError) in
      #expect(try keys(connection) == [])
    }
    #expect(try process(connection) != before)
  }

  /// Whoever was in the middle is told, and nothing of it is kept, not even what comes behind.
  @Test func aSessionThatGoesInATransactionTakesItWithIt() throws {
    let connection = try open()
    defer { connection.close() }
    try makeTable(connection)
    try connection.begin(.write)
    try connection.run("INSERT INTO t (k) VALUES (1)")
    try terminate(try process(connection))
    for _ in 0..<2 {
      let error = #expect(throws: SQLError.self) {
        try connection.run("INSERT INTO t (k) VALUES (2)")
      }
      #expect(error?.kind == .connectionLost)
      #expect(error?.concernsEverything == true)
    }
    #expect(throws: SQLError.self) { try connection.commit() }
    connection.rollback()
    _ = try connection.transaction(.write) { () throws(SQLError) in
      try connection.run("INSERT INTO t (k) VALUES (3)")
    }
    #expect(try keys(connection) == [3])
  }

  /// A lock ends with its session, and another may have it before its holder knows.
  @Test func aLockThatWasLostIsNotBelievedIn() throws {
    let first = try open()
    let second = try open()
    defer {
      first.close()
      second.close()
    }
    #expect(try first.tryLock("outbox"))
    #expect(try first.tryLock("outbox"))
    try terminate(try process(first))
    #expect(try second.tryLock("outbox"))
    #expect(try !first.tryLock("outbox"))
    #expect(!first.holds("outbox"))
    try first.unlock("outbox")
    try second.unlock("outbox")
    #expect(try first.tryLock("outbox"))
  }

  /// A server that is frozen takes what is sent, and says nothing.
  @Test func aServerThatSaysNothingIsGivenUp() throws {
    let connection = try open(answerMsMax: 300)
    defer { connection.close() }
    try makeTable(connection)
    let frozen = try process(connection)
    #expect(kill(frozen, SIGSTOP) == 0)
    defer { kill(frozen, SIGCONT) }
    let error = #expect(throws: SQLError.self) { try connection.begin(.write) }
    #expect(error?.kind == .tooSlow)
    #expect(error?.reason == "the server gave no answer within 1300 ms")
    _ = try connection.transaction(.write) { () throws(SQLError) in
      try connection.run("INSERT INTO t (k) VALUES (1)")
    }
    #expect(try keys(connection) == [1])
  }

  @Test func aStatementThatTakesTooLongIsEndedByTheServer() throws {
    let connection = try open(answerMsMax: 100)
    defer { connection.close() }
    let before = try process(connection)
    let error = #expect(throws: SQLError.self) {
      try connection.query("SELECT pg_sleep(60)", []) { _ in }
    }
    #expect(error?.kind == .tooSlow)
    #expect(error?.code == "57014")
    #expect(error?.concernsEverything == true)
    // The session is as good as before.
    #expect(try process(connection) == before)
  }

  @Test func aServerThatIsNotThereIsNamedWithoutThePassword() throws {
    for text in [
      "postgresql://somebody:hunter2@127.0.0.1:1/prefs",
      "host=/nowhere dbname=prefs password=hunter2",
    ] {
      let error = #expect(throws: SQLError.self) { _ = try open(text: text) }
      #expect(error?.kind == .connectionLost)
      #expect("\(error!)".contains("database prefs: connect: "), "\(error!)")
      #expect(!"\(error!)".contains("hunter2"))
    }
  }

  /// COMMIT of a transaction in which something failed is a rollback, and PostgreSQL calls that success.
  @Test func aTransactionThatFailedIsNotCommitted() throws {
    let connection = try open()
    defer { connection.close() }
    try makeTable(connection)
    try connection.begin(.write)
    try connection.run("INSERT INTO t (k) VALUES (1)")
    #expect(throws: SQLError.self) { try connection.run("INSERT INTO t (k) VALUES (1)") }
    let error = #expect(throws: SQLError.self) { try connection.commit() }
    #expect(error?.code == "ROLLBACK")
    #expect(try keys(connection) == [])
  }

  /// As C's text it would end there, and be another user's id.
  @Test func aNULInTextIsRefusedAndNotTheEndOfIt() throws {
    let connection = try open()
    defer { connection.close() }
    try makeTable(connection)
    let error = #expect(throws: SQLError.self) {
      try connection.run("INSERT INTO t (k, s) VALUES (1, $1)", ["a\u{0}b"])
    }
    #expect(error?.kind == .constraint)
    #expect(try keys(connection) == [])
  }

  @Test func settingsAreInForce() throws {
    let connection = try open(text: text + " application_name=test")
    defer { connection.close() }
    let found = try connection.first(
      """
      SELECT current_setting('synchronous_commit'), current_setting('statement_timeout'),
        current_setting('lock_timeout'), current_setting('idle_in_transaction_session_timeout'),
        current_setting('client_encoding'), current_setting('application_name')
      """, []
    ) { row in (0..<6).map { row.text($0) } }
    #expect(found == ["on", "30s", "1ms", "1min", "UTF8", "test"])
  }

  /// Two services in one database have nothing to do with each other.
  @Test func schemasDoNotWaitForEachOther() throws {
    let first = try open()
    let second = try open(text: try PostgresServer.shared.makeSchema())
    defer {
      first.close()
      second.close()
    }
    #expect(try first.tryLock("outbox"))
    #expect(try second.tryLock("outbox"))
    try first.begin(.write)
    try second.begin(.write)
    first.rollback()
    second.rollback()
  }

  @Test func theSchemaOfAnotherApplicationIsRefused() throws {
    let theirs = try open()
    try makeTable(theirs)
    theirs.close()
    let database = PreferenceDatabase.postgres(try PostgresParameters(text))
    let error = #expect(throws: SQLError.self) { _ = try database.connect(.writer, busyMsMax: 0) }
    #expect(error?.kind == .notOurs)
    #expect(error?.reason == "this is the schema of another application")
  }

  /// What cannot keep the store's promises is refused when it is opened.
  @Test func aDatabaseThatCannotKeepThePromisesIsRefused() throws {
    let admin = try open()
    defer { admin.close() }
    try admin.runScript(
      "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    let server = PostgresServer.shared.parameters
    let latin = #expect(throws: SQLError.self) {
      _ = try open(text: server.replacing("dbname=postgres", with: "dbname=latin"))
    }
    #expect(latin?.code == "server_encoding LATIN1")
    let schema = #expect(throws: SQLError.self) {
      _ = try open(text: server + " options='-c search_path=nowhere'")
    }
    #expect(schema?.code == "search_path")
  }

  @Test func everyCodeHasAKind() {
    let table: [(String, SQLError.Kind)] = [
      ("53100", .diskFull), ("53200", .noMemory), ("53300", .connectionLost), ("55P03", .busy),
      ("40P01", .busy), ("57014", .tooSlow), ("57P01", .connectionLost), ("57P03", .connectionLost),
      ("08006", .connectionLost), ("25006", .readOnly), ("42501", .readOnly), ("42P01", .notOurs),
      ("42P07", .notOurs), ("23505", .constraint), ("22P02", .constraint), ("54000", .tooBig),
      ("58030", .inputOutput), ("XX001", .notOurs), ("3D000", .cannotOpen), ("28P01", .cannotOpen),
      ("42601", .other), ("", .other),
    ]
    for (code, kind) in table { #expect(PostgresCodes.kind(of: code) == kind, "\(code)") }
  }
}
