import Gate
import Preferences
import Synchronization

/// Who was erased, and through when, under a keyed hash: what was on its way then is not kept when it
/// comes. The same in memory, since every record is asked about.
final class ErasedUsers: Sendable {
  private let hash: SipHash
  private let throughMs: Mutex<[UserHash: Int64]>

  /// What the database remembers; its key is drawn where there is none.
  init(_ connection: any SQLConnection) throws(SQLError) {
    let key = try Self.key(connection)
    hash = SipHash(
      key: key.withUnsafeBytes {
        ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      })
    var known: [UserHash: Int64] = [:]
    try connection.query("SELECT user_hash, through_ms FROM erased_users", []) { row in
      known[Self.unpack(row.bytes(0))] = row.integer(1)
    }
    throughMs = Mutex(known)
  }

  private static func key(_ connection: any SQLConnection) throws(SQLError) -> [UInt8] {
    if let key = try connection.first(
      "SELECT value FROM secrets WHERE name = 'erased_users'", [], { $0.bytes(0) })
    {
      return key
    }
    let key = Secrets.random()
    try connection.run(
      "INSERT INTO secrets (name, value) VALUES ('erased_users', $1)", [.bytes(key)])
    return key
  }

  private func hash(of user: String) -> UserHash {
    var user = user
    return user.withUTF8 { hash.hash(UnsafeRawBufferPointer($0)) }
  }

  private static func pack(_ hash: UserHash) -> [UInt8] {
    [hash.first, hash.second].flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
    }
  }

  private static func unpack(_ bytes: [UInt8]) -> UserHash {
    func word(_ at: Int) -> UInt64 {
      (0..<8).reduce(0) { $0 | UInt64(bytes[at + $1]) << UInt64(8 * $1) }
    }
    return UserHash(first: word(0), second: word(8))
  }

  /// Whether something of that user, dated then, is not kept.
  func covers(_ user: String, atMs: Int64) -> Bool {
    throughMs.withLock { known in
      guard !known.isEmpty, let through = known[hash(of: user)] else { return false }
      return atMs <= through
    }
  }

  /// From now on; it is on disk with the batch that it came in.
  func note(_ user: String, throughMs ms: Int64) {
    let hash = hash(of: user)
    throughMs.withLock { $0[hash] = max(ms, $0[hash] ?? ms) }
  }

  func remember(
    _ user: String, throughMs ms: Int64, nowMs: Int64, _ connection: any SQLConnection
  ) throws(SQLError) {
    try connection.run(
      """
      INSERT INTO erased_users (user_hash, through_ms, recorded_at_ms) VALUES ($1, $2, $3)
      ON CONFLICT (user_hash) DO UPDATE SET recorded_at_ms = excluded.recorded_at_ms,
        through_ms = CASE WHEN excluded.through_ms > erased_users.through_ms
          THEN excluded.through_ms ELSE erased_users.through_ms END
      """, [.bytes(Self.pack(hash(of: user))), .integer(ms), .integer(nowMs)])
  }

  func forget(recordedBeforeMs ms: Int64, _ connection: any SQLConnection) throws(SQLError) {
    var gone: [UserHash] = []
    try connection.query(
      "SELECT user_hash FROM erased_users WHERE recorded_at_ms < $1", [.integer(ms)]
    ) { gone.append(Self.unpack($0.bytes(0))) }
    try connection.run("DELETE FROM erased_users WHERE recorded_at_ms < $1", [.integer(ms)])
    throughMs.withLock { known in for hash in gone { known[hash] = nil } }
  }
}
