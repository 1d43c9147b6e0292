import CCrypto

/// A key of HMAC-SHA-256 (RFC 2104), hashed in advance as far as it can be. The secret itself is not
/// kept; what is kept is as secret.
struct HMACKey: Sendable {
  static let tagBytes = 32

  private var pads = cc_hmac_key()

  init(secret: Bytes) { cc_hmac_init(&pads, secret.baseAddress, secret.count) }

  /// Writes the tag of `bytes`; no allocation.
  @inline(__always)
  func sign(_ bytes: Bytes, into tag: UnsafeMutablePointer<UInt8>) {
    withUnsafePointer(to: pads) { cc_hmac($0, bytes.baseAddress, bytes.count, tag) }
  }

  /// In a time that does not tell how much of the tag is right.
  func signs(_ bytes: Bytes, tag: Bytes) -> Bool {
    guard tag.count == Self.tagBytes else { return false }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.tagBytes) { own in
      sign(bytes, into: own.baseAddress!)
      return cc_is_equal(own.baseAddress!, tag.baseAddress!, Self.tagBytes) == 1
    }
  }
}
