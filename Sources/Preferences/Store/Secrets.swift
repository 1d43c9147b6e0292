import CCrypto

/// Keys that are drawn here and kept in the database alone.
package enum Secrets {
  static let byteCount = 32

  /// From the operating system; a machine that has no randomness must not keep consent.
  package static func random() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
      let code = cc_random(buffer.baseAddress!, byteCount)
      precondition(code == 0, "the operating system gives no random bytes")
      count = byteCount
    }
  }

  /// HMAC-SHA-256 (RFC 2104).
  static func authenticate(_ message: some Sequence<UInt8>, key: [UInt8]) -> [UInt8] {
    precondition(key.count <= 64, "a longer key would have to be hashed first")
    func pad(_ byte: UInt8) -> [UInt8] {
      key.map { $0 ^ byte } + [UInt8](repeating: byte, count: 64 - key.count)
    }
    return digest(pad(0x5C) + digest(pad(0x36) + message))
  }

  private static func digest(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
      bytes.withUnsafeBytes { cc_sha256($0.baseAddress, $0.count, buffer.baseAddress) }
      count = 32
    }
  }

  /// The database's own key for the hashes of erased users; drawn where there is none.
  static func erasureKey(_ connection: any SQLConnection) throws(SQLError) -> [UInt8] {
    if let key = try connection.first(
      "SELECT value FROM secrets WHERE name = 'erased_users'", [], { $0.bytes(0) })
    {
      return key
    }
    let key = random()
    try connection.run(
      "INSERT INTO secrets (name, value) VALUES ('erased_users', $1)", [.bytes(key)])
    return key
  }
}
