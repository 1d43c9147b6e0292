import CSQLite
import Evidence
import Glibc
import Preferences
import Telemetry

/// The index: records decoded and written in transactions as from Kafka, beside the same rows put into
/// the same tables by nothing but SQLite's own calls.
struct EvidenceBench {
  let folder: String
  let count: Int
  private let batchMax = 20_000
  private var path: String { "\(folder)/store-bench-evidence.db" }
  private var barePath: String { "\(folder)/store-bench-bare.db" }

  init(folder: String, count: Int) {
    self.folder = folder
    self.count = count
  }

  func run() {
    remove()
    defer { remove() }
    let index = takeIn()
    let bare = insertBare()
    show("evidence : sqlite alone", 100 * index / bare, "%")
  }

  private func remove() {
    for path in [path, barePath] {
      for suffix in ["", "-wal", "-shm", "-index.lock"] { unlink(path + suffix) }
    }
  }

  /// A million users, each notification its own, as the gate writes it.
  private func records(from first: Int, _ random: inout SystemRandomNumberGenerator)
    -> [DirectRecord]
  {
    (first..<min(first + batchMax, count)).map { number in
      let user = "u-\(UInt32.random(in: 0..<1_000_000, using: &random))"
      let atMs = 1_780_000_000_000 + Int64(number)
      let text = sampleRecord(
        notification: "n-\(UInt64.random(in: 0...UInt64.max, using: &random))", user: user,
        device: "d-\(user)-\(number & 1)", at: RFC3339.text(ms: atMs))
      return DirectRecord(
        offset: Int64(number), timestampMs: atMs, key: Array(user.utf8), value: Array(text.utf8))
    }
  }

  private func takeIn() -> Double {
    do throws(StoreError) {
      let index = try EvidenceIndex(.sqlite(path: path))
      defer { index.close() }
      var intake = try DirectIntake(index, content: "dropped")
      var random = SystemRandomNumberGenerator()
      var seconds = 0.0
      var slowest = 0.0
      for first in stride(from: 0, to: count, by: batchMax) {
        let batch = records(from: first, &random)
        let start = SystemTime.monotonicNs()
        try intake.take(batch)
        let took = elapsed(since: start)
        seconds += took
        slowest = max(slowest, took / Double(batch.count))
      }
      show(
        "evidence, \(count) records", Double(count) / seconds, "records/s",
        ", slowest batch \(Int(1 / slowest)), \(fileBytes(path) / count) bytes a record")
      return Double(count) / seconds
    } catch {
      fail("\(error)")
    }
  }

  private func fileBytes(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  private func insertBare() -> Double {
    let source = BareConnection(path)
    let target = BareConnection(barePath)
    defer {
      source.close()
      target.close()
    }
    target.run(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -131072;"
        + "PRAGMA wal_autocheckpoint = 16384; PRAGMA temp_store = MEMORY")
    for sql in source.texts("SELECT sql FROM sqlite_master WHERE tbl_name = 'attempts'") {
      target.run(sql)
    }
    let insert = target.prepare("INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    let select = source.prepare("SELECT * FROM attempts ORDER BY sequence")
    var seconds = 0.0
    var rows = 0
    while true {
      var values: [[OpaquePointer]] = []
      while values.count < batchMax, sqlite3_step(select) == SQLITE_ROW {
        values.append((0..<11).map { sqlite3_value_dup(sqlite3_column_value(select, $0))! })
      }
      if values.isEmpty { break }
      let start = SystemTime.monotonicNs()
      target.run("BEGIN IMMEDIATE")
      for row in values {
        for (column, value) in row.enumerated() {
          target.check(sqlite3_bind_value(insert, Int32(column + 1), value))
        }
        target.check(sqlite3_step(insert))
        target.check(sqlite3_reset(insert))
      }
      target.run("COMMIT")
      seconds += elapsed(since: start)
      rows += values.count
      for value in values.joined() { sqlite3_value_free(value) }
    }
    sqlite3_finalize(insert)
    sqlite3_finalize(select)
    show("sqlite alone, the same rows", Double(rows) / seconds, "records/s")
    return Double(rows) / seconds
  }
}

/// SQLite and nothing else.
final class BareConnection {
  private let path: String
  private var raw: OpaquePointer?

  init(_ path: String) {
    self.path = path
    check(sqlite3_open(path, &raw))
  }

  func check(_ code: Int32) {
    guard code == SQLITE_OK || code == SQLITE_DONE else {
      fail("\(path): \(String(cString: sqlite3_errmsg(raw)))")
    }
  }

  func run(_ sql: String) { check(sqlite3_exec(raw, sql, nil, nil, nil)) }

  func prepare(_ sql: String) -> OpaquePointer? {
    var statement: OpaquePointer?
    check(sqlite3_prepare_v2(raw, sql, -1, &statement, nil))
    return statement
  }

  func texts(_ sql: String) -> [String] {
    let statement = prepare(sql)
    defer { sqlite3_finalize(statement) }
    var found: [String] = []
    while sqlite3_step(statement) == SQLITE_ROW {
      if let text = sqlite3_column_text(statement, 0) { found.append(String(cString: text)) }
    }
    return found
  }

  func close() { sqlite3_close(raw) }
}

/// A drop of some 1,100 bytes, most of them the same in all.
func sampleRecord(notification: String, user: String, device: String, at: String) -> String {
  """
  {"outcome":"dropped","reason":"account_opted_out","blocked_by":["account_opted_out",\
  "os_permission_denied"],"notification_id":"\(notification)","user_id":"\(user)",\
  "device_id":"\(device)","category":"marketing","subtype":"sale","decided_at":"\(at)",\
  "policy_version":"2026-03-09","preference_version":17,"preference_offset":90210,\
  "tzdb_version":"2026f","gate_version":"0.1.0","evidence":{"user_category_opt_in":\
  {"account":"user-off","device":"default","effective":false},"os_permission":"denied",\
  "device_token_status":"active","quiet_hours":{"start":"22:00","end":"08:00",\
  "timezone":"Europe/Berlin","timezone_source":"device","in_window":true,\
  "ends_at":"2026-03-10T07:00:00.000Z"},"suppression_reason":null},"notification":\
  {"notification_id":"\(notification)","user_id":"\(user)","category":"marketing",\
  "subtype":"sale","created_at":"\(at)","expires_at":"2026-06-30T00:00:00Z",\
  "payload":{"title":"Something of \(device) is cheaper today","body":"The thing that you have \
  looked at, number \(notification), costs less until midnight; tap to see it.",\
  "link":"https://shop.example/\(notification)?from=push","image":"https://cdn.example/\(device)"}}}
  """
}
