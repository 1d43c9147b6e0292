import CSQLite
import Gate
import Glibc
import Pipeline
import Preferences
import Synchronization
import Telemetry

func measure(folder: String, seconds: Double) {
  let path = "\(folder)/store-bench.db"
  defer { remove(path) }
  func remove(_ path: String) { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }

  for rows in [1, 16, 256] {
    remove(path)
    let perSecond = rawWrites(path, rowsPerCommit: rows, seconds: seconds)
    show("sqlite alone, \(rows) rows a commit", perSecond, "rows/s")
  }
  for threads in [1, 16, 64, 256] {
    remove(path)
    writes(path, threads: threads, seconds: seconds)
  }
  remove(path)
  for threads in [1, 2, 4] { reads(path, threads: threads, seconds: seconds) }
}

/// The store alone, of a server whose ceiling other tools measure (pgbench).
func measureStore(_ database: String, seconds: Double) {
  for threads in [1, 2, 4] { reads(database, threads: threads, seconds: seconds) }
  for threads in [1, 16, 64, 256] {
    writes(database, threads: threads, seconds: seconds, run: "w\(threads)")
  }
}

func show(_ name: String, _ value: Double, _ unit: String, _ rest: String = "") {
  let padded = name + String(repeating: " ", count: max(1, 40 - name.utf8.count))
  print("\(padded)\(Int(value)) \(unit)\(rest)")
}

/// What the disk and SQLite give at most: rows of a document's size, nothing looked up, one thread.
func rawWrites(_ path: String, rowsPerCommit: Int, seconds: Double) -> Double {
  var connection: OpaquePointer?
  var statement: OpaquePointer?
  func check(_ code: Int32) {
    guard code == SQLITE_OK || code == SQLITE_DONE else {
      fail("\(path): \(String(cString: sqlite3_errmsg(connection)))")
    }
  }
  func run(_ sql: String) { check(sqlite3_exec(connection, sql, nil, nil, nil)) }
  check(sqlite3_open(path, &connection))
  run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
  run("CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT NOT NULL)")
  check(sqlite3_prepare_v2(connection, "INSERT INTO t (v) VALUES (?)", -1, &statement, nil))
  let value = String(repeating: "v", count: 200)
  let start = SystemTime.monotonicNs()
  var count = 0
  while elapsed(since: start) < seconds {
    run("BEGIN IMMEDIATE")
    for _ in 0..<rowsPerCommit {
      check(csqlite_bind_text(statement, 1, value, 200))
      check(sqlite3_step(statement))
      check(sqlite3_reset(statement))
    }
    run("COMMIT")
    count += rowsPerCommit
  }
  let perSecond = Double(count) / elapsed(since: start)
  sqlite3_finalize(statement)
  sqlite3_close(connection)
  return perSecond
}

func elapsed(since startNs: Int64) -> Double {
  Double(SystemTime.monotonicNs() - startNs) / 1_000_000_000
}

/// Events, whole: looked up, decided, state, audit, outbox and id written, answered when durable.
func writes(_ path: String, threads count: Int, seconds: Double, run: String = "w") {
  let service = openService(path)
  let latencies = Mutex<[Int64]>([])
  let start = SystemTime.monotonicNs()
  let threads = (0..<count).map { thread in
    NamedThread(name: "writer-\(thread)") {
      var own: [Int64] = []
      var number = 0
      while elapsed(since: start) < seconds {
        let began = SystemTime.monotonicNs()
        do throws(StoreError) {
          _ = try service.apply(choice(thread: thread, number: number, run: run))
        } catch {
          fail("\(error)")
        }
        own.append(SystemTime.monotonicNs() - began)
        number += 1
      }
      latencies.withLock { $0 += own }
    }
  }
  for thread in threads { thread.join() }
  let took = elapsed(since: start)
  let sorted = latencies.withLock { $0.sorted() }
  func percentile(_ p: Double) -> String {
    "\(sorted[min(sorted.count - 1, Int(Double(sorted.count) * p))] / 1000) us"
  }
  let group =
    Double(service.counters.requests.value) / Double(max(1, service.counters.groups.value))
  show(
    "store, \(count) writing threads", Double(sorted.count) / took, "events/s",
    ", \(Int(group.rounded())) a commit, p50 \(percentile(0.5)), p99 \(percentile(0.99))")
  service.close()
}

/// Settings views of users with two devices.
func reads(_ path: String, threads count: Int, seconds: Double) {
  let users = 1000
  let service = openService(path)
  do throws(StoreError) {
    if try service.user(Identifier("user-0")) == nil {
      for user in 0..<users { try fill(service, user) }
    }
  } catch {
    fail("\(error)")
  }
  let total = Atomic<Int>(0)
  let start = SystemTime.monotonicNs()
  let threads = (0..<count).map { thread in
    NamedThread(name: "reader-\(thread)") {
      var number = thread
      var done = 0
      while elapsed(since: start) < seconds {
        let view = try? service.settings(
          of: Identifier("user-\(number % users)"), device: Identifier("d-\(number % users)-1"))
        precondition(view != nil, "a settings view is missing")
        number += 7
        done += 1
      }
      total.wrappingAdd(done, ordering: .relaxed)
    }
  }
  for thread in threads { thread.join() }
  show(
    "store, \(count) reading threads",
    Double(total.load(ordering: .relaxed)) / elapsed(since: start),
    "settings views/s")
  service.close()
}

func fill(_ service: PreferenceService, _ user: Int) throws(StoreError) {
  var events = (0..<2).map { device in
    PreferenceEvent(
      eventID: Identifier("s-\(device)"), userID: Identifier("user-\(user)"),
      atMs: 1_780_000_000_000,
      body: .deviceSeen(
        Identifier("d-\(user)-\(device)"),
        DeviceSync(platform: .ios, osPermission: .granted, region: Identifier("DE")), nil))
  }
  events += (0..<3).map { choice(thread: user, number: $0, run: "f") }
  _ = try service.apply(events, ifVersion: nil)
}
