import CCrypto

/// Tokens: 32 bytes from the system's generator. That many cannot be guessed, whatever the hash they
/// are kept under costs, so one round of SHA-256 is right where it would be wrong for a password.
public enum AccessToken {
  /// So that a scanner for leaked secrets can know one.
  static let prefix = "sgt_"
  static let bytes = 32

  public static func make() -> String {
    var secret = [UInt8](repeating: 0, count: bytes)
    guard cc_random(&secret, secret.count) == 0 else {
      preconditionFailure("the system gives no random bytes")
    }
    return prefix + base64URL(secret)
  }

  /// What is kept of it.
  public static func digest(_ token: String) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    let text = Array(token.utf8)
    cc_sha256(text, text.count, &digest)
    return digest
  }

  private static func base64URL(_ bytes: [UInt8]) -> String {
    String(unsafeUninitializedCapacity: (4 * bytes.count + 2) / 3) {
      cc_base64url(bytes, bytes.count, $0.baseAddress)
    }
  }
}
