import Glibc

/// Users that nobody is: the self-test drives them through the running topics like anybody else, and
/// what is approved for them goes to a topic of its own, so that no dispatcher ever sees one
/// (docs/selftest.md).
public enum SelfTestUser {
  /// What their ids begin with, and those of their devices. Reserved: a real user of such an id would
  /// be sent nothing.
  public static let prefix: StaticString = "sendgate-selftest."

  /// Asked of approvals alone, so that nothing else pays for it. Allocates nothing.
  /// - Parameter userID: nil is nobody's.
  public static func isReserved(_ userID: UnsafeRawBufferPointer?) -> Bool {
    guard let userID, let start = userID.baseAddress, userID.count >= prefix.utf8CodeUnitCount
    else { return false }
    return memcmp(start, prefix.utf8Start, prefix.utf8CodeUnitCount) == 0
  }

  public static func isReserved(_ userID: String) -> Bool {
    userID.utf8.starts(
      with: UnsafeBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount))
  }
}
