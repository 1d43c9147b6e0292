import Gate
import Glibc
import Preferences
import Synchronization
import Telemetry
import TestSupport

@testable import Evidence

/// An index on a file of its own, with a clock that stands still until it is set.
final class EvidenceWorld {
  let folder = TemporaryFolder()
  var settings = EvidenceSettings()
  private let clock = Clock()
  private(set) var index: EvidenceIndex!

  final class Clock: Sendable { let nowMs = Mutex<Int64>(EvidenceWorld.startMs) }

  static let startMs: Int64 = 1_780_000_000_000
  static let dayMs: Int64 = 86_400_000

  var path: String { folder.file("evidence.db") }
  var reader: EvidenceReader { index.reader }

  var nowMs: Int64 {
    get { clock.nowMs.withLock { $0 } }
    set { clock.nowMs.withLock { $0 = newValue } }
  }

  init(_ settings: EvidenceSettings = EvidenceSettings()) throws {
    self.settings = settings
    try open()
  }

  private func open() throws {
    let clock = clock
    index = try EvidenceIndex(
      .sqlite(path: path), settings: settings, nowMs: { clock.nowMs.withLock { $0 } })
  }

  func reopen() throws {
    index.close()
    index = nil
    try open()
  }

  deinit { index?.close() }

  /// Takes records of one partition, as many to a transaction as come.
  func take(_ content: String, _ records: [Sample]) throws {
    var intake = try DirectIntake(index, content: content)
    try intake.take(records.map(\.direct))
  }

  /// Everything the database says but how far it is behind.
  func dump() throws -> [String] {
    let tables: [StaticString] = [
      """
      SELECT group_concat(sequence || '|' || source || '|' || kafka_offset || '|' || at_ms || '|'
        || ifnull(user_id, '-') || '|' || ifnull(notification_id, '-') || '|'
        || ifnull(device_id, '-') || '|' || is_readable || '|' || hex(record), char(10))
        FROM (SELECT * FROM attempts ORDER BY sequence)
      """,
      """
      SELECT group_concat(sequence || '|' || source || '|' || kafka_offset || '|' || at_ms || '|'
        || ifnull(user_id, '-') || '|' || ifnull(notification_id, '-') || '|'
        || ifnull(device_id, '-') || '|' || hex(record), char(10))
        FROM (SELECT * FROM receipts ORDER BY sequence)
      """,
      """
      SELECT group_concat(user_id || '|' || notification_id || '|' || device_id || '|' || due_ms,
        char(10)) FROM (SELECT * FROM holds_open ORDER BY 1, 2, 3)
      """,
      """
      SELECT group_concat(hour_ms || '|' || outcome || '|' || category || '|' || reason || '|' || n,
        char(10)) FROM (SELECT * FROM counts ORDER BY 1, 2, 3, 4)
      """,
      """
      SELECT group_concat(topic || '|' || partition_number || '|' || incarnation || '|'
        || next_offset || '|' || last_digest, char(10)) FROM (SELECT * FROM sources ORDER BY source)
      """,
    ]
    return try index.store.readers.read { connection throws(SQLError) in
      var found: [String] = []
      for sql in tables {
        found.append((try connection.first(sql, []) { $0.optionalText(0) } ?? nil) ?? "")
      }
      return found
    }
  }
}

/// One record of a partition.
struct Sample {
  var offset: Int64
  var atMs: Int64
  var key: [UInt8]?
  var value: [UInt8]?

  init(_ offset: Int64, key: String?, _ value: String?, atMs: Int64 = EvidenceWorld.startMs) {
    self.offset = offset
    self.atMs = atMs
    self.key = key.map { Array($0.utf8) }
    self.value = value.map { Array($0.utf8) }
  }

  func written(atMs: Int64) -> Sample {
    var sample = self
    sample.atMs = atMs
    return sample
  }

  var direct: DirectRecord {
    DirectRecord(offset: offset, timestampMs: atMs, key: key, value: value)
  }
}

/// The record of a decision, as docs/contracts.md has it.
func decision(
  _ outcome: String, _ reason: String, user: String = "u-1", notification: String = "n-1",
  device: String = "d-1", category: String = "marketing", atMs: Int64 = EvidenceWorld.startMs,
  members: String = ""
) -> String {
  """
  {"outcome":"\(outcome)","reason":"\(reason)","blocked_by":["\(reason)","token_expired"],\
  "notification_id":"\(notification)","user_id":"\(user)","device_id":"\(device)",\
  "category":"\(category)","subtype":"sale","decided_at":"\(Instant.text(atMs))",\
  "policy_version":"2026-03-09","preference_version":17,"preference_offset":90210,\
  "tzdb_version":"2026f","gate_version":"0.1.0","evidence":{"user_category_opt_in":\
  {"account":"default","device":"user-off","effective":false},"os_permission":"granted",\
  "device_token_status":"active","quiet_hours":{"start":"22:00","end":"08:00",\
  "timezone":"Europe/Berlin","timezone_source":"device","in_window":true,\
  "ends_at":"2026-03-10T07:00:00.000Z","days":["mon"]},"suppression_reason":"bounced"}\(members),\
  "notification":{"notification_id":"\(notification)","event":"price_drop","payload":{"a":1,"a":2}}}
  """
}

func deferral(
  _ notification: String = "n-1", atMs: Int64 = EvidenceWorld.startMs, dueMs: Int64,
  user: String = "u-1", device: String = "d-1", members: String = ""
) -> String {
  decision(
    "deferred", "quiet_hours_deferred", user: user, notification: notification, device: device,
    atMs: atMs, members: ",\"deliver_after\":\"\(Instant.text(dueMs))\"" + members)
}

func held(atMs: Int64, dueMs: Int64) -> String {
  """
  ,"held":{"decided_at":"\(Instant.text(atMs))","deliver_after":"\(Instant.text(dueMs))"}
  """
}

func receipt(
  _ members: String, notification: String = "n-1", device: String = "d-1", user: String = "u-1"
) -> String {
  """
  {"notification_id":"\(notification)","device_id":"\(device)","user_id":"\(user)",\(members)}
  """
}

/// A file's bytes as text, for searching; of one that is not there, none.
func contents(_ path: String) throws -> String {
  let file = open(path, O_RDONLY)
  guard file >= 0 else { return "" }
  defer { close(file) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 65_536)
  while true {
    let count = read(file, &chunk, chunk.count)
    guard count > 0 else { break }
    bytes += chunk[..<count].map { $0 < 0x80 ? $0 : UInt8(ascii: "?") }
  }
  return String(decoding: bytes, as: UTF8.self)
}
