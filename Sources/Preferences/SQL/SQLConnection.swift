/// One connection to a database. Used by one thread at a time, which its owner sees to: that is all
/// that `Sendable` means here.
///
/// SQL is written once, in what both SQLite and PostgreSQL take: parameters are `$1`, `$2` …,
/// `INSERT … ON CONFLICT … DO UPDATE`, integers of 64 bits. Statements are `StaticString`: nothing that
/// came from outside can become SQL, and a prepared statement is found again by its address.
package protocol SQLConnection: AnyObject, Sendable {
  /// For messages: where it leads to.
  var place: String { get }

  func begin(_ kind: SQLTransactionKind) throws(SQLError)
  /// Returns when what was written would survive a power cut.
  func commit() throws(SQLError)
  /// Of a transaction that failed; what cannot be rolled back was never written.
  func rollback()

  /// Runs one statement that gives no rows; returns how many it changed.
  @discardableResult
  func run(_ sql: StaticString, _ values: [SQLValue]) throws(SQLError) -> Int
  /// Runs one statement and shows each of its rows.
  func query(
    _ sql: StaticString, _ values: [SQLValue], _ body: (any SQLRow) throws(SQLError) -> Void
  ) throws(SQLError)
  /// Runs a text of several statements, of the schema's; its types and endings are adapted.
  func runScript(_ script: String) throws(SQLError)

  /// Takes a lock that is held until `unlock` or until the connection is closed or lost; false where
  /// another connection holds it. Also tells whether one that was taken is still held. Outside any
  /// transaction, and none is blocked by it.
  func tryLock(_ name: StaticString) throws(SQLError) -> Bool
  /// Whether a lock was taken and not lost since, so far as this connection knows. Within a transaction
  /// that is committed afterwards, that is certain.
  func holds(_ name: StaticString) -> Bool
  /// Gives a lock back; nothing where it is not held.
  func unlock(_ name: StaticString) throws(SQLError)
  /// Makes what was erased go from logs and free pages too, where that takes doing; false where
  /// somebody was in the way, and the next time will do. Outside any transaction.
  func purgeErased() throws(SQLError) -> Bool
  func close()
}

package enum SQLTransactionKind: Sendable {
  /// Sees one state of the database, waits for nobody.
  case read
  /// Excludes every other writer, also of other processes: what it reads is still so when it writes.
  case write
}

extension SQLConnection {
  @discardableResult
  package func run(_ sql: StaticString) throws(SQLError) -> Int { try run(sql, []) }

  /// Runs `body` in a transaction; kept where it returns, undone where it throws.
  package func transaction<R>(
    _ kind: SQLTransactionKind, _ body: () throws(SQLError) -> R
  ) throws(SQLError) -> R {
    try begin(kind)
    do throws(SQLError) {
      let result = try body()
      try commit()
      return result
    } catch {
      rollback()
      throw error
    }
  }

  /// The one row there can be, made a value.
  package func first<R>(
    _ sql: StaticString, _ values: [SQLValue], _ make: (any SQLRow) throws(SQLError) -> R
  ) throws(SQLError) -> R? {
    var found: R?
    try query(sql, values) { row throws(SQLError) in if found == nil { found = try make(row) } }
    return found
  }

  /// Every row made a value.
  package func all<R>(
    _ sql: StaticString, _ values: [SQLValue], _ make: (any SQLRow) throws(SQLError) -> R
  ) throws(SQLError) -> [R] {
    var found: [R] = []
    try query(sql, values) { row throws(SQLError) in found.append(try make(row)) }
    return found
  }
}
