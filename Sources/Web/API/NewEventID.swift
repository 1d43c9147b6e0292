import CCrypto
import Gate

/// Ids for events whose sender named none.
public enum NewEventID {
  /// One that nobody else makes.
  /// - Parameter origin: what stands in front of it, for people.
  public static func make(_ origin: String) -> String {
    var bytes = [UInt8](repeating: 0, count: 16)
    guard cc_random(&bytes, bytes.count) == 0 else {
      preconditionFailure("the system gives no random bytes")
    }
    return "\(origin)-\(Hex.text(bytes))"
  }
}
