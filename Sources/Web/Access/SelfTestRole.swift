import Gate
import Preferences

/// Which roles an operation takes, where its user may be one of the self-test's: those are nobody, so
/// the role selftest may do with them whatever anybody may with a user, and of the others only admin
/// changes them. An app whose users could have such ids would lose their notifications without a word.
enum SelfTestRole {
  static func check(
    _ role: Role, of roles: [Role], _ method: String, _ path: PathValues
  ) throws(Problem) {
    let isReserved = path.value(of: "user_id").map { SelfTestUser.isReserved($0) } ?? false
    if isReserved, role == .selftest { return }
    guard roles.contains(role) else {
      throw .forbidden(
        "this takes a token of role \(roles.map(\.rawValue).joined(separator: " or "))")
    }
    let isReading = method == "GET" || method == "HEAD"
    guard !isReserved || isReading || role == .admin else {
      throw .forbidden("the self-test's users are changed by the roles selftest and admin alone")
    }
  }
}
