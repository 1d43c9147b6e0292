import CSQLite
import Glibc
import Pipeline
import Synchronization
import Telemetry

/// What the disk and SQLite give at most: rows of a document's size, nothing looked up first.
struct SQLiteFloor {
  private static let value = String(repeating: "v", count: 200)
  private static let rowsRead: Int64 = 1000
  let path: String

  init(_ path: String) { self.path = path }

  /// One thread; rows a second. Each commit is on the disk when it returns.
  func writes(rowsPerCommit: Int, seconds: Double) -> Double {
    let connection = Connection(path)
    defer { connection.close() }
    let statement = connection.prepare("INSERT INTO t (v) VALUES (?)")
    let start = SystemTime.monotonicNs()
    var count = 0
    while elapsed(since: start) < seconds {
      connection.run("BEGIN IMMEDIATE")
      for _ in 0..<rowsPerCommit { connection.insert(statement, Self.value) }
      connection.run("COMMIT")
      count += rowsPerCommit
    }
    return Double(count) / elapsed(since: start)
  }

  /// One row by its key, each thread by a connection of its own; rows a second of all.
  func reads(threads count: Int, seconds: Double) -> Double {
    let filling = Connection(path)
    let insert = filling.prepare("INSERT INTO t (v) VALUES (?)")
    filling.run("BEGIN IMMEDIATE")
    for _ in 0..<Self.rowsRead { filling.insert(insert, Self.value) }
    filling.run("COMMIT")
    let total = Atomic<Int>(0)
    let start = SystemTime.monotonicNs()
    let threads = (0..<count).map { thread in
      NamedThread(name: "floor-\(thread)") {
        let connection = Connection(path)
        defer { connection.close() }
        let select = connection.prepare("SELECT v FROM t WHERE k = ?")
        var key = Int64(thread)
        var done = 0
        while elapsed(since: start) < seconds {
          connection.look(select, key % Self.rowsRead + 1)
          key += 7
          done += 1
        }
        total.wrappingAdd(done, ordering: .relaxed)
      }
    }
    for thread in threads { thread.join() }
    filling.close()
    return Double(total.load(ordering: .relaxed)) / elapsed(since: start)
  }

  /// SQLite's own calls, and no more than they need.
  private final class Connection {
    private var raw: OpaquePointer?
    private var statements: [OpaquePointer?] = []

    init(_ path: String) {
      check(sqlite3_open(path, &raw))
      run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
      run("CREATE TABLE IF NOT EXISTS t (k INTEGER PRIMARY KEY, v TEXT NOT NULL)")
    }

    func close() {
      for statement in statements { sqlite3_finalize(statement) }
      check(sqlite3_close(raw))
    }

    func prepare(_ sql: String) -> OpaquePointer? {
      var statement: OpaquePointer?
      check(sqlite3_prepare_v2(raw, sql, -1, &statement, nil))
      statements.append(statement)
      return statement
    }

    func run(_ sql: String) { check(sqlite3_exec(raw, sql, nil, nil, nil)) }

    func insert(_ statement: OpaquePointer?, _ value: String) {
      check(csqlite_bind_text(statement, 1, value, value.utf8.count))
      check(sqlite3_step(statement))
      check(sqlite3_reset(statement))
    }

    func look(_ statement: OpaquePointer?, _ key: Int64) {
      check(sqlite3_bind_int64(statement, 1, key))
      guard sqlite3_step(statement) == SQLITE_ROW, sqlite3_column_bytes(statement, 0) > 0 else {
        fail("a row is missing")
      }
      check(sqlite3_reset(statement))
    }

    private func check(_ code: Int32) {
      guard code == SQLITE_OK || code == SQLITE_DONE else {
        fail("sqlite: \(String(cString: sqlite3_errmsg(raw)))")
      }
    }
  }
}
