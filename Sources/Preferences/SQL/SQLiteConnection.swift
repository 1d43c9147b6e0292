import CSQLite
import Glibc

/// A connection to a SQLite file in write-ahead mode: readers never wait for the writer, and a commit
/// has returned when the log is on the disk.
package final class SQLiteConnection: SQLConnection, @unchecked Sendable {
  // Unchecked: SQLite is opened without its own lock, and whoever has a connection has it alone (the
  // writer's thread its own, the pool lends each to one reader).

  package enum Access: Sendable {
    /// Makes the file where there is none.
    case readWrite
    case readOnly
  }

  package let place: String
  private var raw: OpaquePointer?
  private var statements: [UInt: SQLiteStatement] = [:]
  private var locks: [String: Int32] = [:]

  private let use: SQLiteUse

  package init(
    path: String, access: Access, use: SQLiteUse = .preferences, busyMsMax: Int32
  ) throws(SQLError) {
    place = path
    self.use = use
    if access == .readWrite { try Self.makeFile(path) }
    let flags =
      access == .readWrite
      ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY
    let code = sqlite3_open_v2(path, &raw, flags | SQLITE_OPEN_NOMUTEX, nil)
    do throws(SQLError) {
      try check(code, "open")
      sqlite3_extended_result_codes(raw, 1)
      try check(csqlite_make_strict(raw), "configure")
      try check(sqlite3_busy_timeout(raw, busyMsMax), "configure")
      try configure(access)
    } catch {
      close()
      throw error
    }
  }

  deinit { precondition(raw == nil, "a database connection was dropped without close()") }

  /// With rights for the owner alone: the file holds what people chose. SQLite gives its two side
  /// files the rights of the first.
  private static func makeFile(_ path: String) throws(SQLError) {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    if file >= 0 {
      _ = Glibc.close(file)
      return
    }
    // A file that is there and cannot be written is SQLite's to report, as read-only.
    if errno == EACCES && access(path, F_OK) == 0 || errno == EROFS { return }
    throw SQLError(
      .cannotOpen, operation: "open", place: path, code: "errno \(errno)",
      reason: String(cString: strerror(errno)))
  }

  private func configure(_ access: Access) throws(SQLError) {
    let owner = try pragma("PRAGMA application_id")
    let isEmpty = try pragma("PRAGMA schema_version") == 0
    guard owner == use.applicationID || (isEmpty && owner == 0) else {
      throw SQLError(
        .notOurs, operation: "open", place: place, code: "application_id \(owner ?? 0)",
        reason: "this is the database of another application")
    }
    try execute("PRAGMA foreign_keys = ON")
    try execute("PRAGMA synchronous = \(use.isDurable ? "FULL" : "NORMAL")")
    // What was erased is overwritten with zeros.
    try execute("PRAGMA secure_delete = ON")
    try execute("PRAGMA temp_store = MEMORY")
    try execute("PRAGMA cache_size = -\(use.cacheKiB)")
    guard access == .readWrite else { return }
    if owner != use.applicationID {
      try execute("PRAGMA application_id = \(use.applicationID)")
    }
    let mode = try first("PRAGMA journal_mode = WAL", []) { $0.text(0) }
    guard mode == "wal" else {
      throw SQLError(
        .cannotOpen, operation: "open", place: place, code: "journal_mode \(mode ?? "")",
        reason: "the file system cannot share memory between processes, as a network's cannot")
    }
    try execute("PRAGMA wal_autocheckpoint = \(use.checkpointPages)")
    // The log shrinks back to this after a burst.
    try execute("PRAGMA journal_size_limit = 67108864")
  }

  private func pragma(_ sql: StaticString) throws(SQLError) -> Int64? {
    try first(sql, []) { $0.optionalInteger(0) } ?? nil
  }

  package func begin(_ kind: SQLTransactionKind) throws(SQLError) {
    switch kind {
    case .read: try run("BEGIN")
    // At once, not at the first write: a transaction that has read could no longer become a writer
    // where another process has written in between.
    case .write: try run("BEGIN IMMEDIATE")
    }
  }

  package func commit() throws(SQLError) { try run("COMMIT") }

  package func rollback() {
    // SQLite has rolled back by itself where a disk was full or broke.
    guard sqlite3_get_autocommit(raw) == 0 else { return }
    do throws(SQLError) {
      try run("ROLLBACK")
    } catch {
      // A rollback waits for nothing and writes nothing. One after which the transaction is still
      // open leaves a connection that nobody can vouch for.
      precondition(sqlite3_get_autocommit(raw) != 0, "\(error)")
    }
  }

  @discardableResult
  package func run(_ sql: StaticString, _ values: [SQLValue]) throws(SQLError) -> Int {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try check(statement.bind(values), "bind", of: sql)
    var code = statement.step()
    // Some pragmas and commands answer with a row.
    while code == SQLITE_ROW { code = statement.step() }
    guard code == SQLITE_DONE else { throw error(code, "\(sql)") }
    return Int(sqlite3_changes(raw))
  }

  package func query(
    _ sql: StaticString, _ values: [SQLValue], _ body: (any SQLRow) throws(SQLError) -> Void
  ) throws(SQLError) {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try check(statement.bind(values), "bind", of: sql)
    while true {
      switch statement.step() {
      case SQLITE_ROW: try body(statement)
      case SQLITE_DONE: return
      case let code: throw error(code, "\(sql)")
      }
    }
  }

  package func runScript(_ script: String) throws(SQLError) {
    // STRICT: a column takes its own type and nothing else, as in PostgreSQL. Without rowid a table
    // is the index of its key, and not that index and a table beside it.
    try execute(
      script.replacing("BIGINT", with: "INTEGER").replacing("BYTEA", with: "BLOB")
        .replacing("/*table*/", with: "STRICT").replacing(
          "/*keyed*/", with: "STRICT, WITHOUT ROWID"))
  }

  private func execute(_ sql: String) throws(SQLError) {
    try check(sqlite3_exec(raw, sql, nil, nil, nil), sql)
  }

  package func tryLock(_ name: StaticString) throws(SQLError) -> Bool {
    let path = lockPath(name)
    if locks[path] != nil { return true }
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw SQLError(
        .cannotOpen, operation: "lock \(path)", place: place, code: "errno \(errno)",
        reason: String(cString: strerror(errno)))
    }
    if flock(file, LOCK_EX | LOCK_NB) == 0 {
      locks[path] = file
      return true
    }
    let code = errno
    _ = Glibc.close(file)
    if let error = Self.lockError(code, path, place) { throw error }
    return false
  }

  /// Nil where the lock is another's. Anything else would stay as it is while whoever asked waited for
  /// a turn that nobody has.
  static func lockError(_ code: Int32, _ path: String, _ place: String) -> SQLError? {
    if code == EWOULDBLOCK { return nil }
    return SQLError(
      .cannotOpen, operation: "lock \(path)", place: place, code: "errno \(code)",
      reason: String(cString: strerror(code)))
  }

  package func holds(_ name: StaticString) -> Bool { locks[lockPath(name)] != nil }

  package func unlock(_ name: StaticString) {
    guard let file = locks.removeValue(forKey: lockPath(name)) else { return }
    _ = Glibc.close(file)
  }

  private func lockPath(_ name: StaticString) -> String { "\(place)-\(name).lock" }

  /// Copies the log into the file, where erased rows are zeros already, and empties it.
  package func purgeErased() throws(SQLError) -> Bool {
    let code = sqlite3_wal_checkpoint_v2(raw, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    if code & 0xFF == SQLITE_BUSY { return false }
    try check(code, "checkpoint")
    return true
  }

  package func close() {
    for statement in statements.values { statement.finalize() }
    statements = [:]
    let code = sqlite3_close(raw)
    precondition(code == SQLITE_OK, "closing \(place): a statement is still open (\(code))")
    raw = nil
    for file in locks.values { _ = Glibc.close(file) }
    locks = [:]
  }

  private func prepared(_ sql: StaticString) throws(SQLError) -> SQLiteStatement {
    let address = UInt(bitPattern: sql.utf8Start)
    if let known = statements[address] { return known }
    var made: OpaquePointer?
    let code = sqlite3_prepare_v3(
      raw, UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self),
      Int32(sql.utf8CodeUnitCount), UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil)
    guard code == SQLITE_OK, let made else { throw error(code, "\(sql)") }
    let statement = SQLiteStatement(made)
    statements[address] = statement
    return statement
  }

  private func check(
    _ code: Int32, _ operation: String, of sql: StaticString? = nil
  ) throws(SQLError) {
    guard code != SQLITE_OK else { return }
    throw error(code, sql.map { "\(operation) \($0)" } ?? operation)
  }

  private func error(_ code: Int32, _ operation: String) -> SQLError {
    SQLError(
      Self.kind(of: code), operation: operation, place: place,
      code: String(cString: sqlite3_errstr(code)) + " (\(code))",
      reason: raw.map { String(cString: sqlite3_errmsg($0)) } ?? "no connection")
  }

  static func kind(of code: Int32) -> SQLError.Kind {
    switch code & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED: .busy
    case SQLITE_FULL: .diskFull
    case SQLITE_READONLY, SQLITE_PERM: .readOnly
    case SQLITE_CANTOPEN: .cannotOpen
    case SQLITE_NOTADB, SQLITE_CORRUPT: .notOurs
    case SQLITE_IOERR: .inputOutput
    case SQLITE_CONSTRAINT, SQLITE_MISMATCH: .constraint
    case SQLITE_TOOBIG: .tooBig
    case SQLITE_NOMEM: .noMemory
    default: .other
    }
  }
}
