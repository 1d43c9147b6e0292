import Gate
import Glibc
import Pipeline
import Preferences
import Synchronization
import Telemetry

func measure(folder: String, seconds: Double) {
  let path = "\(folder)/store-bench.db"
  defer { removeDatabase(path) }

  for rows in [1, 16, 256] {
    removeDatabase(path)
    let perSecond = SQLiteFloor(path).writes(rowsPerCommit: rows, seconds: seconds)
    show("sqlite alone, \(rows) rows a commit", perSecond, "rows/s")
  }
  for threads in [1, 16, 64, 256] {
    removeDatabase(path)
    writes(path, threads: threads, seconds: seconds)
  }
  removeDatabase(path)
  for threads in [1, 2, 4] { reads(path, threads: threads, seconds: seconds) }
}

func removeDatabase(_ path: String) {
  for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
}

/// For a script that sets a service's rate beside it.
func printFloor(folder: String, seconds: Double, rowsPerCommit: Int) {
  let path = "\(folder)/store-floor.db"
  defer { removeDatabase(path) }
  let single = SQLiteFloor(path).writes(rowsPerCommit: 1, seconds: seconds)
  let grouped = SQLiteFloor(path).writes(rowsPerCommit: rowsPerCommit, seconds: seconds)
  let reads = SQLiteFloor(path).reads(threads: 2, seconds: seconds)
  print(
    "{\"commits_per_second\":\(Int(single)),\"rows_per_second\":\(Int(grouped)),"
      + "\"reads_per_second\":\(Int(reads))}")
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
