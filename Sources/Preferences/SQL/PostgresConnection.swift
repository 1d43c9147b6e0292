import Telemetry

/// A connection to PostgreSQL, for those who outgrow one machine. A session that was lost is replaced
/// by a new one when the next transaction begins; what was under way in the lost one was not kept,
/// but for a commit whose answer was lost with it, of which nobody can know.
final class PostgresConnection: SQLConnection, @unchecked Sendable {
  // Unchecked: whoever has a connection has it alone, as with SQLite's.

  enum Access: Sendable {
    case readWrite
    case readOnly
  }

  var place: String { parameters.place }
  private let parameters: PostgresParameters
  private let access: Access
  private let busyMsMax: Int32
  /// Nil: lost, or closed.
  private var session: PostgresSession?
  /// Names of locks that this session holds; they end with it.
  private var locks: Set<String> = []
  /// The number of the schema that the tables are in: two services in one database must not wait for
  /// each other.
  private var schemaNumber: Int64 = 0
  /// Why the last connecting failed, and until when that counts: callers that queue behind a server
  /// which cannot be reached must not wait for the whole time-out each.
  private var failure: (error: SQLError, untilNs: Int64)?

  private static let failureNs: Int64 = 500_000_000
  /// A writer that vanished in the middle must not keep the others out until TCP gives up.
  private static let idleInTransactionMsMax = 60_000

  /// - Parameter busyMsMax: how long a write waits for another process's, milliseconds.
  init(
    _ parameters: PostgresParameters, access: Access, busyMsMax: Int32
  ) throws(SQLError) {
    self.parameters = parameters
    self.access = access
    self.busyMsMax = busyMsMax
    session = nil
    try connect()
  }

  deinit { precondition(session == nil, "a database connection was dropped without close()") }

  // MARK: Sessions

  private func connect() throws(SQLError) {
    if let failure, SystemTime.monotonicNs() < failure.untilNs { throw failure.error }
    failure = nil
    do throws(SQLError) {
      let made = try PostgresSession(parameters)
      session = made
      try configure(made)
    } catch {
      drop()
      failure = (error, SystemTime.monotonicNs() + Self.failureNs)
      throw error
    }
  }

  private func configure(_ session: PostgresSession) throws(SQLError) {
    // The server's own bounds, so that it too lets go of what is given up here.
    _ = try session.execute(
      """
      SET statement_timeout = \(parameters.answerMsMax);
      SET lock_timeout = \(max(1, busyMsMax));
      SET idle_in_transaction_session_timeout = \(Self.idleInTransactionMsMax);
      SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
      SET bytea_output = 'hex';
      SET default_transaction_isolation = 'read committed';
      SET default_transaction_read_only = \(access == .readOnly ? "on" : "off");
      SELECT set_config('synchronous_commit', 'on', false)
      WHERE current_setting('synchronous_commit') <> 'remote_apply';
      """)
    let found = try first(
      """
      SELECT current_setting('server_encoding'), current_setting('fsync'),
        (SELECT n.oid::bigint FROM pg_namespace n WHERE n.nspname = current_schema())
      """, []
    ) { (encoding: $0.text(0), fsync: $0.text(1), schema: $0.optionalInteger(2)) }!
    func refuse(_ kind: SQLError.Kind, _ setting: String, _ reason: String) -> SQLError {
      SQLError(kind, operation: "open", place: place, code: setting, reason: reason)
    }
    guard found.encoding == "UTF8" else {
      throw refuse(.notOurs, "server_encoding \(found.encoding)", "ids are UTF-8")
    }
    guard found.fsync == "on" else {
      throw refuse(.cannotOpen, "fsync off", "what is answered would not survive a power cut")
    }
    guard let schema = found.schema else {
      throw refuse(.cannotOpen, "search_path", "it names no schema that is there")
    }
    schemaNumber = schema
  }

  private func drop() {
    session?.end()
    session = nil
    locks = []
  }

  func close() { drop() }

  private func usable() throws(SQLError) -> PostgresSession {
    if let session, session.isUsable { return session }
    drop()
    try connect()
    return session!
  }

  /// Runs what begins something new. A session that went while nobody used it, as where the server was
  /// restarted, is found out by this statement: nothing was under way in it, so a new one does as well.
  private func begin(_ sql: String) throws(SQLError) {
    do throws(SQLError) {
      _ = try usable().execute(sql)
    } catch {
      guard error.kind == .connectionLost, failure == nil else { throw error }
      drop()
      _ = try usable().execute(sql)
    }
  }

  /// Refuses a schema in which another application has its tables.
  func checkOwner() throws(SQLError) {
    let found = try first(
      """
      SELECT count(*), count(CASE WHEN tablename = 'schema_version' THEN 1 END) FROM pg_tables
      WHERE schemaname = current_schema()
      """, []
    ) { (tables: $0.integer(0), own: $0.integer(1)) }!
    guard found.tables == 0 || found.own == 1 else {
      throw SQLError(
        .notOurs, operation: "open", place: place, code: "\(found.tables) tables",
        reason: "this is the schema of another application")
    }
  }

  // MARK: Transactions

  func begin(_ kind: SQLTransactionKind) throws(SQLError) {
    do throws(SQLError) {
      switch kind {
      case .read: try begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
      case .write:
        try begin("BEGIN")
        // Before anything is read: what is read is then still so when it is written. The lock is let
        // go of behind the commit.
        try query("SELECT pg_advisory_xact_lock($1)", [lockNumber("write")]) { _ in }
      }
    } catch {
      rollback()
      throw error
    }
  }

  func commit() throws(SQLError) {
    guard let session else { throw notConnected("COMMIT") }
    let done = try session.execute("COMMIT")
    // Of a transaction in which a statement failed, COMMIT is a rollback, and no error.
    guard done.command == "COMMIT" else {
      throw SQLError(
        .other, operation: "COMMIT", place: place, code: done.command,
        reason: "a statement of the transaction had failed")
    }
  }

  func rollback() {
    guard let session else { return }
    guard session.isUsable else { return drop() }
    guard session.isInTransaction else { return }
    do throws(SQLError) {
      _ = try session.execute("ROLLBACK")
    } catch {
      // The server rolls back what it can no longer be asked to commit.
      drop()
    }
  }

  // MARK: Statements

  @discardableResult
  func run(_ sql: StaticString, _ values: [SQLValue]) throws(SQLError) -> Int {
    try perform(sql, values).changedCount
  }

  func query(
    _ sql: StaticString, _ values: [SQLValue], _ body: (any SQLRow) throws(SQLError) -> Void
  ) throws(SQLError) {
    let result = try perform(sql, values)
    for row in 0..<result.rowCount { try body(PostgresRow(result: result.raw, row: row)) }
  }

  func runScript(_ script: String) throws(SQLError) {
    guard let session else { throw notConnected("run a script") }
    _ = try session.execute(script)
  }

  /// Never in a new session: a transaction's later statements must not run without its first.
  private func perform(
    _ sql: StaticString, _ values: [SQLValue]
  ) throws(SQLError) -> PostgresResult {
    guard let session else { throw notConnected("\(sql)") }
    return try session.execute(sql, values)
  }

  private func notConnected(_ operation: String) -> SQLError {
    SQLError(
      .connectionLost, operation: operation, place: place, code: "",
      reason: "the session was lost before")
  }

  // MARK: Locks

  func tryLock(_ name: StaticString) throws(SQLError) -> Bool {
    // Whether the session is still there is not known before the server has answered: a lock that is
    // believed to be held may be another's by now.
    try begin("SELECT 1")
    if locks.contains("\(name)") { return true }
    let isTaken = try first("SELECT pg_try_advisory_lock($1)::int", [lockNumber(name)]) {
      $0.flag(0)
    }
    if isTaken == true { locks.insert("\(name)") }
    return isTaken == true
  }

  func holds(_ name: StaticString) -> Bool { locks.contains("\(name)") }

  func unlock(_ name: StaticString) throws(SQLError) {
    guard locks.remove("\(name)") != nil else { return }
    do throws(SQLError) {
      try query("SELECT pg_advisory_unlock($1)", [lockNumber(name)]) { _ in }
    } catch {
      // It ends with its session.
      drop()
      throw error
    }
  }

  /// Advisory locks are numbers that a whole database shares: the schema's, and 32 bits of the name.
  private func lockNumber(_ name: StaticString) -> SQLValue {
    var hash: UInt32 = 0x7367_5046
    for byte in "\(name)".utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    return .integer(schemaNumber << 32 | Int64(hash))
  }

  /// The server's autovacuum frees what was erased; it does not overwrite it.
  func purgeErased() throws(SQLError) -> Bool { true }
}
